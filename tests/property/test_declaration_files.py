"""Files of declarations that are wrong in any way: a mistake by line and field, or events that the topic takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.declaring.yaml_lines import parse_yaml
from headwater_graph.fold import reject
from headwater_schemas.codec import Decoder, encode
from support.events import TIME

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "declare"
Steps: TypeAlias = "tuple[str | int, ...]"

MANIFEST: dict[str, Any] = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "p"},
    "nodes": {
        "model.p.a": {
            "resource_type": "model",
            "name": "a",
            "schema": "s",
            "description": "A",
            "group": "g",
            "tags": ["t"],
            "meta": {"owner": ["o"]},
            "config": {"materialized": "table"},
            "columns": {"c": {"description": "C", "tags": ["t"]}},
            "depends_on": {"nodes": ["source.p.b"]},
        },
        "test.p.t": {"resource_type": "test", "attached_node": "model.p.a", "test_metadata": {"name": "unique"}},
    },
    "sources": {
        "source.p.b": {
            "resource_type": "source",
            "name": "b",
            "freshness": {"error_after": {"count": 1, "period": "day"}},
        }
    },
    "metrics": {"metric.p.m": {"name": "m", "depends_on": {"nodes": ["model.p.a"]}}},
    "exposures": {
        "exposure.p.e": {
            "name": "e",
            "type": "dashboard",
            "maturity": "high",
            "tags": ["t"],
            "owner": {"name": "o", "email": "e"},
            "depends_on": {"nodes": ["metric.p.m"]},
        }
    },
    "groups": {"group.p.g": {"name": "g", "owner": {"name": "o"}}},
}
DOCUMENTS: dict[str, Any] = {
    **{
        name: parse_yaml(name, (EXAMPLES / name).read_text(encoding="utf-8")).value
        for name in ("flights.yaml", "marks.yaml", "privacy.yaml", "delays.odcs.yaml")
    },
    "manifest.json": MANIFEST,
}
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [None, True, 0, -1, 1.5, 10**30, 1e308, [], {}, [[]], [None], [1], ["x", "x"], {"": ""}, {"x": {}}]
    ),
    st.sampled_from(["", "x", "\0", "\u202e", "\ud800", "9" * 30 + "w", "1e400", "nan", "2027-13-45", "s3://", "://"]),
)


def steps(value: Any, here: Steps = ()) -> Iterator[Steps]:
    """Paths of all values of a document."""
    yield here
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield from steps(inner, (*here, step))


def put(document: Any, path: Steps, value: Any) -> Any:
    """The document with another value at a path."""
    if not path:
        return value
    head, *rest = path
    if isinstance(document, dict):
        return {key: put(inner, tuple(rest), value) if key == head else inner for key, inner in document.items()}
    return [put(inner, tuple(rest), value) if index == head else inner for index, inner in enumerate(document)]


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
def test_it_is_a_mistake_that_is_named_or_events_that_are_taken(name: str, data: st.DataObject) -> None:
    document = DOCUMENTS[name]
    for _ in range(data.draw(st.integers(0, 3))):
        path = data.draw(st.sampled_from(list(steps(document))))
        document = put(document, path, data.draw(VALUES))
    try:
        declared = read_file(name, json.dumps(document), namespace="postgres://db:5432")
    except DeclarationError as error:
        problems = error.problems
    else:
        problems = ()
        events = list(declared.events(1, tenant="default", event_time=TIME))
        assert [reject(event) for event in events] == [None] * len(events)
        assert [Decoder().decode(encode(event)) for event in events] == events
    assert all(problem.line >= 1 and problem.message for problem in problems)
