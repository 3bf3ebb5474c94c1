"""Producers of lineage events: capture in Spark, and the Kafka publisher. Depends on `headwater_schemas` alone."""
