"""A made-up company's lineage graph, of any size, the same for the same sizes and seed.

sizes       how much of everything
lines       streaming pipelines, five queries deep: who reads and writes which topic
feeds       what feeds what among all datasets: power-law degrees, cycles, domains
names       what things are called, and their keys
columns     columns, and which derives from which
batches     offsets that micro-batches read and wrote
sheets      CSV files as `neo4j-admin database import` takes them
times       when things happened
write_…     datasets, columns and jobs as sheets
micro_batches  the micro-batches, written to the imported graph as the consumer writes them
starts      where questions begin, drawn by seed
store       the store of all this, which is kept
"""
