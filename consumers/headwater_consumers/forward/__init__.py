"""Forwarding of Headwater's events to other systems, as OpenLineage documents.

forwarder   the loop: poll, map, deliver, commit
collectors  destinations of documents: a URL, a file, a Kafka topic; and of refused documents
http        collector at a URL
parallel    concurrent delivery to one URL
exporting   one-time export of events: all, of a span of time, or around datasets
documents   documents of an event, encoded
plans       cache of the column lineages that events cite
spacing     joining of micro-batches over some minutes
settings    settings of forwarding
metrics     metrics of the forwarder
"""
