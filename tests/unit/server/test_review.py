"""POST /review of bodies that are no question: each is answered with the field at fault."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from support.api import client_of, fake_graph

if TYPE_CHECKING:
    import pytest

COLUMNS = {"columns": [{"name": "a", "type": "int"}]}


def refused(body: str) -> tuple[int, list[dict[str, Any]]]:
    with client_of(fake_graph()) as client:
        answer = client.post("/api/v1/review", content=body, headers={"Content-Type": "application/json"})
    return answer.status_code, answer.json().get("errors", [])


def test_a_schema_that_is_nested_too_deep(subtests: pytest.Subtests) -> None:
    for name, depth in itertools.product(["old", "new"], [250, 900]):
        with subtests.test(name=name, depth=depth):
            nested = '{"a":' * depth + "1" + "}" * depth
            body = json.dumps({"dataset": "d", "old": COLUMNS, "new": COLUMNS} | {name: 0})
            status, errors = refused(body.replace(f'"{name}": 0', f'"{name}": {nested}'))
            assert status == 400
            assert errors[0]["field"] == name
            assert "ested" in errors[0]["message"]


def test_a_contract_that_is_nested_too_deep() -> None:
    text = "kind: DataContract\nschema: " + "[" * 5_000 + "]" * 5_000
    status, errors = refused(json.dumps({"dataset": "d", "new": text}))
    assert status == 400
    assert errors[0]["field"] == "new"


def test_half_of_a_surrogate_pair_is_refused_under_the_name_of_its_field(subtests: pytest.Subtests) -> None:
    cases = [
        ("dataset", "\ud800"),
        ("new", {"columns": [{"name": "\ud800", "type": "int"}]}),
        ("new", "\ud800 int"),
        ("old", "a int comment '\ud800'"),
        ("renames", {"\ud800": "b"}),
        ("at", "\ud800"),
        ("table", "\ud800"),
    ]
    for name, given in cases:
        with subtests.test(name=name, given=given):
            status, errors = refused(json.dumps({"dataset": "d", "new": COLUMNS, name: given}))
            assert (status, [error["field"] for error in errors]) == (400, [name])
