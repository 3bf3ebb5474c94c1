"""`bench intervals`: a query that runs for years.

one_query    its micro-batches, event by event, through the consumer's loop
source       where the consumer gets these events from
traces       from a record to its micro-batch
run          options, the measuring, and the report
show         the report as tables
"""
