"""Audit: records of questions and changes with their askers, as a chain of lines that shows gaps and changes.

record      content of the record of a request or a command
chain       records as lines, each with the hash of the line before
signing     Ed25519 signatures of heads (lines that cover all lines before)
writer      one thread that commits the records of many requests together
file        lines in a file that several processes may append to
topic       lines on the topic `lineage.audit`
verifying   findings: gaps, and changed lines
searching   records that match a filter
"""
