"""Declaration sets: reviewed files in which people describe datasets, jobs and consumers.

yaml_lines  YAML as values, with the line of each
model       fields of Headwater's own file format; its JSON Schema
names       a name without a namespace → its dataset in the graph
problems    a mistake in a file: line, field and message
sets        a declaration set, and its events
reading     the text of Headwater's own format → its declaration set
contract    a declaration set → an ODCS data contract
files       a file of any format → its declaration set
difference  changes that a revision makes to the graph
revising    the next revision of a set: its events, and their progress into the graph
"""
