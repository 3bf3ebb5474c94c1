"""Events as real clients emitted them, and their graph as a golden.

- `dbt.jsonl`: `dbt-ol run` and `dbt-ol test` of openlineage-dbt 1.54.0, with dbt-duckdb 1.10.
- `spark.jsonl`: openlineage-spark 1.53.0 on Spark 4.0: a partitioned write, and a table made by SQL. Without the facets
  that describe the machine.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from headwater_openlineage.outgoing import documents_of
from support.openlineage_sequences import Json
from support.openlineage_spec import canonical, check_official, graph_of, received
from support.run_rules import rewrite, updating

FOLDER = Path(__file__).parent / "clients"
CLIENTS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
SHOWN = {"CHILD_OF", "DERIVES", "FEEDS", "INFLUENCES", "KNOWN_AS", "READS", "WRITES"}


def documents(client: str) -> list[Json]:
    return [json.loads(line) for line in (FOLDER / f"{client}.jsonl").read_text(encoding="utf-8").splitlines()]


def edges(lines: list[str]) -> list[str]:
    """What a graph connects, by names: a run is shown by its job."""
    parsed = [json.loads(line) for line in lines]
    names = {
        each["key"]: each["properties"].get("job_name") or each["properties"]["name"]
        for each in parsed
        if "labels" in each
    }
    owners = {each["end"]: names[each["start"]] for each in parsed if each.get("type") == "HAS_COLUMN"}

    def title(key: str) -> str:
        return f"{owners[key]}: {names[key]}" if key in owners else names[key]

    return sorted(
        {
            f"{title(each['start'])} -{each['type']}-> {title(each['end'])}"
            + (f" {each['properties']['kind']}" if "kind" in each["properties"] else "")
            for each in parsed
            if each.get("type") in SHOWN
        }
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_the_graph_is_as_written(client: str) -> None:
    golden = FOLDER / f"{client}.graph.txt"
    text = "\n".join(edges(graph_of(received(*documents(client))))) + "\n"
    if updating():
        rewrite(golden, text)
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS)
def test_every_event_comes_back(client: str) -> None:
    for document in documents(client):
        check_official(document)
        out = [each for event in received(document) for each in documents_of(event, lambda _: None)]
        assert [canonical(each) for each in out] == [canonical(document)]


@pytest.mark.parametrize("client", CLIENTS)
def test_order_and_repeats_change_nothing(client: str) -> None:
    given = documents(client)
    once = graph_of(received(*given))
    assert graph_of(received(*reversed(given))) == once
    for cut in (1, len(given) // 2):
        assert graph_of(received(*itertools.chain(given[cut:], given, given[:cut]))) == once
