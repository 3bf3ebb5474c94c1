"""Questions to the graph: lineage, runs, traces, impact, differences, search. Reads only.

reader      one read transaction with a time limit, errors translated
errors      exceptions of questions, and their messages
assets      datasets, columns and jobs as answers show them
resolve     a name as a person types it ⇒ the node
walk        breadth-first search, one statement a level, no node twice
runs        runs, their inputs, outputs and micro-batches; versions; the first bad version
diff        differences between two times, runs or code versions
search      search by name, owner, tag and column
"""
