"""The embedded stack: a real Kafka and a real Neo4j as child processes, from a verified cache of jars.

- `EmbeddedStack` ends with this process; `find_running_stack` finds the stack that `headwater up` started;
- `java_runtime` and `ensure_jars("spark")` are for starting Spark.
"""

from headwater.stack.embedded import EmbeddedStack, Memory
from headwater.stack.info import StackInfo
from headwater.stack.jars import ensure_jars
from headwater.stack.java import JavaRuntime, java_runtime
from headwater.stack.state import find_running_stack

__all__ = ["EmbeddedStack", "JavaRuntime", "Memory", "StackInfo", "ensure_jars", "find_running_stack", "java_runtime"]
