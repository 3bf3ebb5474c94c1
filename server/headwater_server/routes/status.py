"""Route for the status of the graph and its consumers."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from headwater_analysis.graph_status import GraphStatus, graph_status
from headwater_server.asking import Ask, Graph, area
from headwater_server.identity import Scope

router = area("status", needs=Scope.READ)


@router.get("/status", response_model=GraphStatus, operation_id="status")
def status(ask: Ask, request: Request) -> Response:
    """State of Neo4j, Kafka and the consumers, and the size of the graph; 200 even if some of them are unavailable."""
    graph: Graph = request.app.state.graph
    return ask(lambda reader: graph_status(reader, kafka_reachable=graph.kafka_reachable()))
