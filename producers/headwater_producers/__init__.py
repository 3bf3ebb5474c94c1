"""Producers of lineage events: capture in Spark, and the Kafka publisher. Depends only on `headwater_schemas`."""
