"""The floor: what the database takes at best. The same driver writes the same final graph, made beforehand in memory.

No Kafka, no decoding, no merging, no reading, nothing written twice: `CREATE` of everything, in an order in which every
end is there. Constraints, indexes and properties are the consumer's.

graph        the final graph as rows: with a node for each micro-batch, and with segments
statements   the texts
shapes       three ways to put the rows into transactions
dump         the graph with a node for each micro-batch, to be compared
write        commits them; which shape is fastest, and at which batch size
"""
