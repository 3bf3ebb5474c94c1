"""The graph: connection, keys, constraints, derived facts, dumps and oracle. `docs/graph.md` is for its readers.

keys         keys of nodes and relationships, and the properties that follow from them
derive       derivation from base facts, for the writer and the oracle
schema       constraints, indexes, the version of the model; emptying the graph
connection   where the graph is, and a driver to it
dump         the graph as lines, and comparing two dumps
oracle       the same lines, from events without a database
chains       whether the intervals of a query fit together
words        words and marks that names, texts and paths are found by
statements   the graph's Cypher, by name
"""
