"""write: a GraphDelta becomes one Neo4j transaction."""

from headwater_consumers.materializer.write.ready import Ready, ready
from headwater_consumers.materializer.write.writer import GraphVersionMismatch, GraphWriter, WriteCounters

__all__ = ["GraphVersionMismatch", "GraphWriter", "Ready", "WriteCounters", "ready"]
