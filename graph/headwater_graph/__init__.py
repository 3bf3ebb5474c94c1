"""Neo4j graph: connection, keys, constraints, derived facts, dumps and oracle. `docs/graph.md` explains its model.

keys         keys of nodes and relationships, and the properties that follow from them
derive       derivation from base facts, for the writer and the oracle
schema       constraints, indexes, the version of the model; emptying the graph
connection   address of the graph, and a driver to it
dump         the graph as lines, and comparing two dumps
oracle       the same lines, from events without a database
chains       check for gaps and overlaps between the intervals of a query
words        words and marks for finding names, texts and paths
statements   the graph's Cypher, by name
"""
