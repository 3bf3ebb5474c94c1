"""Access to Spark's JVM through py4j: Scala's values, plan nodes, sessions, files."""
