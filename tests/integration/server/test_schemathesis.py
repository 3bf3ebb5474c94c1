"""The API as schemathesis tries it, from its OpenAPI document: a bounded number of cases, always the same.

All its checks: no 5xx, documented statuses and media types, answers and headers that fit their schemas, wrong data
refused, right data taken, methods that aren't there refused with `Allow`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.app import openapi_document
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support import api_examples
from support.api import client_of
from support.demo_graph import declare_demo, load_demo
from support.gate import in_gate
from support.graph.emptying import delete_nodes
from support.openlineage import FakeSink
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver
    from schemathesis import Case


CHECKS = {
    # Well-formed parameters can make no sense together, and any text may be a cursor of another question: 400.
    "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "404", "409", "504"]},
    # A `timeout` of a second is well-formed too.
    "not_a_server_error": {"expected-statuses": ["2xx", "4xx", "504"]},
}
CONFIG = {"seed": 7, "checks": CHECKS, "request-timeout": patience(30)}
schema = schemathesis.openapi.from_dict(openapi_document(), config=schemathesis.Config.from_dict(CONFIG))


@schemathesis.serializer("application/x-ndjson")
def _as_lines(_context: object, value: object) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def url(stack: StackUnderTest, neo4j_driver: Driver) -> Iterator[str]:
    """A server on the demo's graph, a part of it declared. Nothing that is asked changes it, so one does for all."""
    delete_nodes(neo4j_driver)
    load_demo(neo4j_driver)
    declare_demo(neo4j_driver)
    target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
    serve = ServeSettings(port=0, intake=True, declare=True, timeout_max_seconds=4)
    graph = Graph(reading_driver(target), target, AnalysisSettings(), serve, sink=FakeSink())
    with client_of(graph) as client:
        yield str(client.base_url)


if in_gate():
    # Cases are made when they are collected, which takes ten seconds for all operations.
    @pytest.mark.nightly
    def test_cases_are_made_in_the_nightly_run() -> None:
        pytest.fail("Run the cases of schemathesis with --hypothesis-profile=nightly.")

else:

    @pytest.mark.nightly
    @schema.parametrize()
    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def test_the_api_is_as_it_is_described(url: str, case: Case[Any]) -> None:
        case.call_and_validate(base_url=url, timeout=patience(60))


PAGED = sorted(
    name
    for name, (method, path) in api_examples.operations(openapi_document()).items()
    if "cursor" in {each["name"] for each in openapi_document()["paths"][path][method.lower()].get("parameters", ())}
)
NO_CURSORS = (
    b"\x91" * 20_000,
    b"\x81" * 20_000,
    b"\x93\x01\xc4\x08" + b"\x91" * 20_000,
    b"\xdd\xff\xff\xff\xff",
    b"\xc1",
    b"\xcf" + b"\xff" * 8,
)


@pytest.mark.nightly
def test_a_cursor_that_no_answer_gave_is_the_parameter_at_fault(subtests: pytest.Subtests, url: str) -> None:
    operations = api_examples.operations(openapi_document())
    with httpx.Client(base_url=url, trust_env=False, timeout=patience(60)) as client:
        for operation in PAGED:
            with subtests.test(operation):
                method, path = operations[operation]
                recorded = api_examples.read(operation)
                for content in NO_CURSORS:
                    cursor = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
                    asked = {**recorded, "query": {**recorded["query"], "cursor": cursor}}
                    answer = api_examples.ask(client, method, path, asked)
                    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor"), answer.text


def test_most_lists_are_paged() -> None:
    assert {"assets", "jobs", "runs", "gaps", "search", "impact", "impact_analyze", "asset_runs"} <= set(PAGED)
