"""Audit: records of who asked and who changed what, as a chain of lines in which a gap or a change shows.

record      what is recorded of a request or a command
chain       records as lines, each with the hash of the line before
signing     Ed25519 signatures of heads
writer      one thread that commits the records of many requests together
file        lines in a file that several processes may append to
topic       lines on the topic `lineage.audit`
verifying   findings in lines that were read
searching   records that match
"""
