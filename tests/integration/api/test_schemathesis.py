"""The API as schemathesis tries it, from its OpenAPI document, in process: a bounded number of cases, always the same.

All its checks: no 5xx, documented statuses and media types, answers and headers that fit their schemas, wrong data
refused, right data taken, methods that aren't there refused with `Allow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from headwater_consumers.api.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neo4j import Driver
    from schemathesis import BaseSchema, Case

    from headwater_consumers.api.asking import Graph

EXAMPLES = 25


@pytest.fixture
def api_schema(demo_graph: Driver, graph: Graph) -> Iterator[BaseSchema]:
    app = create_app(graph)
    with graph.driver:
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_api_is_as_it_is_described(case: Case[Any]) -> None:
    case.call_and_validate()
