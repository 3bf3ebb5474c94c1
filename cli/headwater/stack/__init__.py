"""The embedded stack: a real Kafka and a real Neo4j as child processes, from a verified cache of jars.

`EmbeddedStack` for one that ends with this process; `java_runtime` and `ensure_jars("spark")` for whoever starts Spark.
"""

from headwater.stack.embedded import EmbeddedStack, Memory
from headwater.stack.info import StackInfo
from headwater.stack.jars import ensure_jars
from headwater.stack.java import JavaRuntime, java_runtime

__all__ = ["EmbeddedStack", "JavaRuntime", "Memory", "StackInfo", "ensure_jars", "java_runtime"]
