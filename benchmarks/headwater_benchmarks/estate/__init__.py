"""A made-up company's lineage graph, of any size, the same for the same sizes and seed.

sizes       how much of everything
lines       streaming pipelines, five queries deep: who reads and writes which topic
feeds       what feeds what among all datasets: power-law degrees, cycles, domains
names       what things are called, and their keys
columns     columns, and which derives from which
batches     micro-batches and the offsets that they read and wrote
sheets      CSV files as `neo4j-admin database import` takes them
times       when things happened
segments    segments of a query made in columns, as the writer makes them one by one
write       all of it, written: write_datasets, write_columns, write_jobs, write_segments
starts      where questions begin, drawn by seed
store       the sheets imported into a store, which is kept and copied
"""
