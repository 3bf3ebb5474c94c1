"""Declaring: reviewed files with what people know of datasets, jobs and consumers, as declaration sets.

marks     YAML as values, with the line of each
model     what a file of Headwater's own may have; its JSON Schema
names     a name without a namespace → its dataset in the graph
problems  what is wrong with a file: line, field and message
sets      a declaration set, and its events
reading   the text of a file of our own → its declaration set
contract  a declaration set → an ODCS data contract
files     a file of any format → its declaration set
difference what a revision changes against the graph
revising  the next revision of a set: its events, and whether the graph has it
"""
