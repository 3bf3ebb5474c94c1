"""Kafka, for every part of Headwater that connects to it: settings, client helpers, errors, the acknowledged producer.

`settings` needs no Kafka client installed or imported; the others import `confluent_kafka`.
"""
