"""Questions to the graph: lineage, runs, traces, impact, differences, search. Reads only.

reader      one read transaction with a time limit, errors translated
errors      what ends a question, and its message
assets      datasets, columns and jobs as answers show them
resolve     what a person calls an asset ⇒ the node
walk        breadth-first search, one statement a level, no node twice
runs        runs, their inputs, outputs and micro-batches; versions; where good turned to bad
diff        what changed between two times, runs or code versions
search      by name, owner, tag and column
"""
