"""Kafka for consumers: records and offsets, the source of a group member, a reader of a whole topic, lag."""
