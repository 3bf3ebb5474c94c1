"""`bench intervals`: queries that run for years.

options      sizes
stream       the micro-batches of a query, as columns and as events
encoded      events as bytes, thousands at once
year         one query's year, event by event, through the consumer
source       where the consumer gets these events from
scaled       many queries, imported in bulk
disk         how large a store is
traces       from a record to its micro-batch
run          the measuring, and the report
show         the report as tables
"""
