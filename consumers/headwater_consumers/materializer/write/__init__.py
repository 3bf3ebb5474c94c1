"""write: a GraphDelta becomes one Neo4j transaction."""

from headwater_consumers.graph.schema import GraphVersionMismatch
from headwater_consumers.materializer.write.parts import PartsWriter
from headwater_consumers.materializer.write.transaction import WriteCounters
from headwater_consumers.materializer.write.writer import GraphWriter, PreparedDelta, prepare_delta

__all__ = ["GraphVersionMismatch", "GraphWriter", "PartsWriter", "PreparedDelta", "WriteCounters", "prepare_delta"]
