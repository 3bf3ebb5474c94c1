"""Writer of a GraphDelta in one Neo4j transaction."""

from headwater_graph.schema import GraphVersionMismatch
from headwater_graph.write.parts import PartsWriter
from headwater_graph.write.transaction import WriteCounters
from headwater_graph.write.writer import GraphWriter, PreparedDelta, prepare_delta

__all__ = ["GraphVersionMismatch", "GraphWriter", "PartsWriter", "PreparedDelta", "WriteCounters", "prepare_delta"]
