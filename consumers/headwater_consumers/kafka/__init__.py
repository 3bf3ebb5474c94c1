"""Kafka for consumers: records and offsets, the source of a group member, a topic read from end to end, lag."""
