"""Events as real clients emitted them, and their graph as a golden.

- `airflow.jsonl`: a DAG run of Airflow 3.3.2 with its OpenLineage provider 2.20.3. Made by
  tests/integration/openlineage/test_airflow.py.
- `dbt.jsonl`: `dbt-ol build` of openlineage-dbt 1.54.0 with dbt-duckdb 1.11.1. Made by test_dbt.py beside it.
- `flink.jsonl`: a streaming job of PyFlink 2.3.0 with openlineage-flink 1.53.0. Made by test_flink.py there.
- `spark.jsonl`: openlineage-spark 1.53.0 on Spark 4.0: a partitioned write, and a table made by SQL. Without the facets
  that describe the machine.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from headwater_openlineage.outgoing import documents_of
from support.openlineage_graphs import words
from support.openlineage_sequences import Json
from support.openlineage_spec import canonical, check_official, graph_of, received
from support.run_rules import rewrite, updating

FOLDER = Path(__file__).parent / "clients"
CLIENTS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def documents(client: str) -> list[Json]:
    return [json.loads(line) for line in (FOLDER / f"{client}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_graph_is_as_written(client: str) -> None:
    golden = FOLDER / f"{client}.graph.txt"
    text = words(graph_of(received(*documents(client))))
    if updating():
        rewrite(golden, text)
    assert text == golden.read_text(encoding="utf-8")


def test_every_event_comes_back(subtests: pytest.Subtests) -> None:
    for client in CLIENTS:
        with subtests.test(client):
            for document in documents(client):
                check_official(document)
                out = [each for event in received(document) for each in documents_of(event, lambda _: None)]
                assert [canonical(each) for each in out] == [canonical(document)]


def test_order_and_repeats_change_nothing(subtests: pytest.Subtests) -> None:
    for client in CLIENTS:
        with subtests.test(client):
            given = documents(client)
            once = graph_of(received(*given))
            assert graph_of(received(*reversed(given))) == once
            for cut in (1, len(given) // 2):
                assert graph_of(received(*itertools.chain(given[cut:], given, given[:cut]))) == once
