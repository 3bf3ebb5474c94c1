"""Intake: OpenLineage documents from outside, as Headwater's events on their way to the events topic.

splitting    the documents of an array or of JSON Lines, one at a time, as slices of the bytes
receiving    one document's bytes → its events, or the reason of its refusal
sink         where events go, and how the outcome of each is reported
request      the documents of one request, until each is settled
bridge       a Kafka topic of OpenLineage documents → the events topic
"""
