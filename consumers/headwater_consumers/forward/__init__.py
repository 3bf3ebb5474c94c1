"""Headwater's events, forwarded to others as OpenLineage documents.

forwarder   the loop: poll, map, deliver, commit
collectors  where documents go: a URL, a file, a Kafka topic
http        a collector behind a URL
exporting   events → documents, once: all, of a span of time, or around datasets
plans       the column lineages that events cite, within bounds
refused     documents that a collector refuses for good, kept in a file
settings    of all that
metrics     its metrics
"""
