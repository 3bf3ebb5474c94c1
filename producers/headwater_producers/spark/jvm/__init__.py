"""What is generic about the JVM that Spark runs in, through py4j: Scala's values, plan nodes, sessions, files."""
