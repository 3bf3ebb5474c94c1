"""Questions to the graph, and declarations for it. Questions only read.

reader         one read transaction with a time limit, errors translated
errors         exceptions of questions, and their messages
assets         datasets, columns and jobs as answers show them
resolve        typed name of an asset ⇒ its node
identity       several names of one dataset or column ⇒ the shown one
amounts        numbers of things, and lists of names, in sentences
paging         pages of an answer, and their cursors
walk           breadth-first search: one statement for each level, no node or visit twice
micro_batches  micro-batches, read from the segments that hold them

lineage        upstream and downstream of a dataset or column
impact         assets that a change hits, how badly, and what to do
trace          micro-batches and runs that a record went through
blast          everything derived from bad data
privacy        spread of sensitive columns
runs           runs, their inputs, outputs and micro-batches; versions; the first bad run
timeline       micro-batches and runs of a job or dataset, with the gaps between them
known          details of one dataset, column, job or consumer; lists of all of them
search         search by name, owner, tag and column
diff           differences between two times, runs or code versions
deletion       safe deletion of a dataset or version
drawing        graph around a dataset, for drawing
checks         rules that a graph has to fulfil to be trusted
declared       declarations in the graph
declaring      files of declarations ⇒ events
"""
