"""Capture's looks into the JVM, through py4j, on the worker's thread only."""
