"""Bridge from a Kafka topic of OpenLineage documents to the events topic.

bridge   the loop: poll, send, wait for Kafka, dead-letter, commit
metrics  metrics of the bridge
"""
