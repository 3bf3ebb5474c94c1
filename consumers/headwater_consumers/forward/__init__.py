"""Forwarding of Headwater's events to other systems, as OpenLineage documents.

forwarder   the loop: poll, map, deliver, commit
collectors  destinations of documents: a URL, a file, a Kafka topic; and of refused documents
http        collector at a URL
parallel    concurrent delivery to one URL
exporting   one-time export: all events, those of a time span, or those related to some datasets
documents   OpenLineage documents of an event, as bytes
plans       cache of the column lineages that events cite
spacing     joining of micro-batches over some minutes
settings    settings of forwarding
metrics     metrics of the forwarder
"""
