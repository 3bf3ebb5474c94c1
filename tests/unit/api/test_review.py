"""POST /review of bodies that are no question: each is answered with the field at fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.api import client_of, fake_graph

COLUMNS = {"columns": [{"name": "a", "type": "int"}]}


def refused(body: str) -> tuple[int, list[dict[str, Any]]]:
    with client_of(fake_graph()) as client:
        answer = client.post("/api/v1/review", content=body, headers={"Content-Type": "application/json"})
    return answer.status_code, answer.json().get("errors", [])


@pytest.mark.parametrize("depth", [250, 500, 800, 950])
@pytest.mark.parametrize("name", ["old", "new"])
def test_a_schema_that_is_nested_too_deep(name: str, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    other = json.dumps({"old": COLUMNS, "new": COLUMNS} | {name: 0})[1:-1].replace(
        f'"{name}": 0', f'"{name}": {nested}'
    )
    status, errors = refused(f'{{"dataset": "d", {other}}}')
    assert status == 400
    assert errors[0]["field"] == name
    assert "ested" in errors[0]["message"]


def test_a_contract_that_is_nested_too_deep() -> None:
    text = "kind: DataContract\nschema: " + "[" * 5_000 + "]" * 5_000
    status, errors = refused(json.dumps({"dataset": "d", "new": text}))
    assert status == 400
    assert errors[0]["field"] == "new"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("dataset", "\ud800"),
        ("new", {"columns": [{"name": "\ud800", "type": "int"}]}),
        ("new", "\ud800 int"),
        ("old", "a int comment '\ud800'"),
        ("renames", {"\ud800": "b"}),
        ("at", "\ud800"),
        ("table", "\ud800"),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_under_the_name_of_its_field(name: str, given: object) -> None:
    status, errors = refused(json.dumps({"dataset": "d", "new": COLUMNS, name: given}))
    assert (status, [error["field"] for error in errors]) == (400, [name])
