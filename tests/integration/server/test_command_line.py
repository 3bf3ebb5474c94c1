"""Question commands that ask a server print what they print of the database, and end with the same exit status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.cli import main
from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support.api import client_of
from support.gate import in_gate

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

# What differs from question to question.
_VARYING = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?")

QUESTIONS = {
    "search": ("search", "fli dep"),
    "search, narrowed": ("search", "--kind", "job", "--kind", "dataset", "--limit", "2"),
    "search for a column": ("search", "flights", "--column", "dep delay"),
    "search, nothing": ("search", "nothing-is-called-so"),
    "upstream": ("upstream", "delays", "--depth", "all", "--columns"),
    "upstream of a column": ("upstream", "delays", "--column", "delay", "--depth", "all", "--format", "table"),
    "upstream, influence": ("upstream", "delays#delay", "--influence", "indirect"),
    "downstream": ("downstream", "flights.departed", "--as-of", "2030-01-01", "--type", "topic"),
    "downstream as a drawing": ("downstream", "flights.departed", "--format", "mermaid"),
    "downstream of what isn't there": ("downstream", "flights.departd"),
    "show a dataset": ("show", "flights.departed"),
    "show a column": ("show", "flights.departed#value.tailnum"),
    "show nothing": ("show", "nothing-is-called-so"),
    "runs": ("runs", "list"),
    "runs, narrowed": ("runs", "list", "delays", "--state", "complete", "--since", "2013-01-01", "--limit", "1"),
    "runs that read": ("runs", "list", "flights.departed", "--read"),
    "runs without an end": ("runs", "list", "--open", "--older-than", "1h"),
    "versions": ("runs", "versions", "delays"),
    "last good": ("runs", "last-good", "delays"),
    "trace": ("trace", "flights.departed", "0", "0..5", "--depth", "all"),
    "trace of several": ("trace", "flights.departed", "0:0..5", "1:2", "all:3.."),
    "trace back": ("trace", "--back", "--path", "/no/such/file"),
    "trace without records": ("trace", "flights.departed"),
    "blast": ("blast", "flights.departed", "all", "0..5", "--depth", "2", "--horizon", "10m"),
    "blast of no run": ("blast", "--run", "00000000"),
    "impact": ("impact", "flights.departed", "--column", "value.dep_delay", "--change", "removed", "--why"),
    "impact of data": ("impact", "flights.departed", "--offsets", "0:1..3", "--format", "markdown"),
    "impact that makes no sense": ("impact", "flights.departed", "--change", "retyped"),
    "diff": ("diff", "--before", "2013-01-01", "--limit", "5"),
    "diff of one side twice": ("diff", "--before", "2013-01-01", "--before-run", "x"),
    "privacy": ("privacy", "flights.departed", "--column", "value.tailnum", "--as", "pii", "--why"),
    "privacy, threshold": ("privacy", "--all", "--lower"),
    "review": ("review", "--dataset", "flights.departed", "{ddl}", "--fail-on", "breaking"),
    "review of two": ("review", "--dataset", "flights.departed", "{ddl}", "{ddl}", "--at", ""),
    "review of no column": ("review", "--dataset", "flights.departed", "{ddl}", "--at", "nothing"),
    "check": ("check",),
    "check one rule": ("check", "--rule", "nothing"),
    "may-delete": ("may-delete", "flights.departed", "--within", "3650d", "--hold", "gold"),
    "incident list": ("incident", "list", "--all", "--dataset", "flights.departed"),
    "incident show nothing": ("incident", "show", "INC-0"),
    "incident plan of nothing": ("incident", "plan", "INC-0"),
    "campaigns": ("campaign",),
    "campaign of nothing": ("campaign", "none"),
    "gate": ("gate", "flights.departed", "--max-severity", "sev2"),
    "may-delete what isn't there": ("may-delete", "nothing-is-called-so"),
}
FOR_PEOPLE = frozenset({"search", "upstream", "show nothing", "trace", "check", "impact that makes no sense"})


@pytest.fixture
def url(read_demo: Driver, target: Neo4jTarget) -> Iterator[str]:
    """Address of a server of the demo's graph."""
    graph = Graph(reading_driver(target), target, AnalysisSettings(), ServeSettings(port=0))
    with client_of(graph) as client:
        yield str(client.base_url)


def test_a_server_is_asked_as_the_database_is(
    url: str,
    target: Neo4jTarget,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
    tmp_path: Path,
) -> None:
    ddl = tmp_path / "new.ddl"
    ddl.write_text("flight INT, tailnum STRING", encoding="utf-8")

    def printed(*arguments: str) -> tuple[int, str, str]:
        status = main([each.format(ddl=ddl) for each in arguments])
        captured = capsys.readouterr()
        # The first line of stderr names what is asked.
        said = [line for line in captured.err.splitlines() if not line.startswith(("Neo4j ", "Server "))]
        return status, _VARYING.sub("…", captured.out), "\n".join(said)

    monkeypatch.setenv("COLUMNS", "200")
    statuses = set()
    # In the gate, half of the questions.
    for name, arguments in islice(QUESTIONS.items(), 0, None, 2 if in_gate() else 1):
        # What people see is made of the same answer: one example of each kind of text is enough.
        for form in ((), ("--json",)) if name in FOR_PEOPLE else (("--json",),):
            with subtests.test(name=name, form=form):
                with monkeypatch.context() as patch:
                    patch.setenv("HEADWATER_NEO4J_URI", target.uri)
                    patch.setenv("HEADWATER_NEO4J_USER", target.user)
                    patch.setenv("HEADWATER_NEO4J_PASSWORD", target.password)
                    of_database = printed(*arguments, *form)
                with monkeypatch.context() as patch:
                    patch.setenv("HEADWATER_URL", url)
                    of_server = printed(*arguments, *form)
                assert of_server == of_database
                statuses.add(of_server[0])
    assert statuses == {0, 2, 3, 5}
