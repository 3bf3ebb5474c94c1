"""A Kafka topic of OpenLineage documents, bridged to the events topic.

bridge   the loop: poll, send, wait for Kafka, dead-letter, commit
metrics  its metrics
"""
