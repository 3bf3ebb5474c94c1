"""Tools take parameters of the API's operations, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from headwater_server.app import openapi_document
from headwater_server.mcp.tools import DEFAULT_LIMIT, TOOLS, ArgumentsError, Asked, Tool, bound_tools
from headwater_server.settings import ServeSettings

BOUND = bound_tools(openapi_document())
PARAMETERS = {
    operation["operationId"]: {(each["in"], each["name"]): each for each in operation.get("parameters", ())}
    for path in openapi_document()["paths"].values()
    for method, operation in path.items()
    if method == "get"
}
LIMIT = ("limit", str(DEFAULT_LIMIT))


def test_the_tools() -> None:
    names = "search show upstream downstream impact trace blast incidents gate runs diff check privacy"
    assert list(BOUND) == names.split()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_parameter_is_one_of_the_api(tool: Tool) -> None:
    for target in tool.targets:
        in_path = {name for where, name in PARAMETERS[target.operation] if where == "path"}
        assert set(target.path) == in_path, target.operation
        required = {
            name
            for (where, name), each in PARAMETERS[target.operation].items()
            if where == "query" and each["required"]
        }
        assert required <= set(tool.parameters), target.operation
    for name in tool.parameters:
        having = [target for target in tool.targets if ("query", name) in PARAMETERS[target.operation]]
        assert having, f"no operation of {tool.name} has {name}"
        for target in having:
            assert "description" in PARAMETERS[target.operation]["query", name], name
    schema: Any = BOUND[tool.name].input_schema
    Draft202012Validator.check_schema(schema)
    assert "$ref" not in str(schema)
    arguments = {argument for target in tool.targets for argument in (*target.path.values(), *target.when)}
    assert set(schema["properties"]) == {*tool.parameters, *arguments}
    assert "UNKNOWN" in tool.about or tool.name == "search"
    assert len(BOUND[tool.name].description) < 700


def test_the_page_lists_the_tools_and_what_they_ask() -> None:
    page = (Path(__file__).parents[3] / "docs" / "analysis" / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", page, re.MULTILINE))
    assert list(rows) == [tool.name for tool in TOOLS]
    for name, bound in BOUND.items():
        paths = {operation.path.removeprefix("/api/v1") for operation in bound.operations.values()}
        assert set(re.findall(r"`(.*?)`", rows[name])) == paths, name
    assert f"**{DEFAULT_LIMIT} items**" in page
    assert f"**{ServeSettings().mcp_answer_max_bytes:,} bytes**" in page


def test_what_of_a_schema_an_assistant_reads() -> None:
    properties: dict[str, Any] = dict(BOUND["upstream"].input_schema["properties"])
    assert "escape" not in str(properties).lower()
    assert properties["influence"] == {
        "type": "string",
        "enum": ["DIRECT", "INDIRECT"],
        "description": "DIRECT: follow only direct edges; INDIRECT: list only what needs an indirect edge. "
        "Default: both. Only with `column`.",
    }
    assert properties["limit"]["default"] == DEFAULT_LIMIT
    assert BOUND["upstream"].input_schema["required"] == ["dataset"]
    assert BOUND["runs"].input_schema["required"] == []
    assert BOUND["runs"].input_schema["properties"]["role"]["description"].endswith("Only with `dataset`.")
    assert "Only with" not in BOUND["runs"].input_schema["properties"]["state"]["description"]
    assert BOUND["show"].input_schema["properties"]["kind"]["enum"] == ["DATASET", "COLUMN", "JOB", "RUN", "CONSUMER"]


@pytest.mark.parametrize(
    ("tool", "arguments", "path", "query"),
    [
        ("search", {}, "search", [LIMIT]),
        ("search", {"kind": ["DATASET", "JOB"], "fuzzy": True, "limit": 5.0}, "search", None),
        ("show", {"name": "a/b"}, "assets/a%2Fb", []),
        ("show", {"name": "a#b.c", "kind": "column"}, "columns/a%23b.c", []),
        ("show", {"name": "../../metrics", "kind": "RUN"}, "runs/..%2F..%2Fmetrics", []),
        ("upstream", {"dataset": "a%2Fb?c"}, "assets/a%252Fb%3Fc/upstream", [LIMIT]),
        ("upstream", {"dataset": "{column}", "column": "{id}"}, "columns/%7Bcolumn%7D/%7Bid%7D/upstream", [LIMIT]),
        (
            "downstream",
            {"dataset": "ä\n", "depth": "all", "limit": 1, "cursor": None},
            "assets/%C3%A4%0A/downstream",
            None,
        ),
        ("runs", {}, "runs", [LIMIT]),
        ("runs", {"job": "j", "state": "FAIL"}, "jobs/j/runs", [("state", "FAIL"), LIMIT]),
        ("runs", {"dataset": "d", "role": "READ"}, "assets/d/runs", [("role", "READ"), LIMIT]),
        ("blast", {"query": "q", "first_batch": 3}, "blast", [("query", "q"), ("first_batch", "3"), LIMIT]),
    ],
)
def test_a_call_is_a_question(tool: str, arguments: dict[str, Any], path: str, query: Any) -> None:
    asked = BOUND[tool].asked(arguments)
    assert asked.path == f"/api/v1/{path}"
    if query is not None:
        assert list(asked.parameters) == query


def test_values_of_a_query() -> None:
    asked = BOUND["search"].asked({"kind": ["DATASET", "JOB"], "fuzzy": True, "limit": 5.0})
    assert asked == Asked("/api/v1/search", (("kind", "DATASET"), ("kind", "JOB"), ("fuzzy", "true"), ("limit", "5")))


@pytest.mark.parametrize(
    ("tool", "arguments", "fields", "hint"),
    [
        ("upstream", {}, ["dataset"], "has to be given"),
        ("upstream", {"datset": "a"}, ["datset", "dataset"], "`dataset`"),
        ("upstream", {"dataset": "a", "timeout": 1}, ["timeout"], "no such parameter"),
        ("upstream", {"dataset": "a", "influence": "DIRECT"}, ["influence"], "question with `dataset`"),
        ("upstream", {"dataset": ["a"]}, ["dataset"], "single value"),
        ("upstream", {"dataset": {"name": "a"}}, ["dataset"], "single value"),
        ("upstream", {"dataset": "a", "tag": [["b"]]}, ["tag"], "single value"),
        ("upstream", {"dataset": "a\ud800"}, ["dataset"], "half a character"),
        ("upstream", {"dataset": "a", "b\ud800": 1}, ["b\\ud800"], "no such parameter"),
        ("show", {"name": "a", "kind": "TABLE"}, ["kind"], "DATASET, COLUMN, JOB, RUN, CONSUMER"),
        ("runs", {"job": "a", "dataset": "b"}, ["dataset"], "question with `job`"),
        ("impact", {"column": "a"}, ["dataset"], "has to be given"),
    ],
)
def test_wrong_arguments(tool: str, arguments: dict[str, Any], fields: list[str], hint: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        BOUND[tool].asked(arguments)
    assert [each.field for each in caught.value.errors] == fields
    assert hint in str(caught.value)


def test_thousands_of_unknown_arguments_are_few_faults() -> None:
    with pytest.raises(ArgumentsError) as caught:
        BOUND["search"].asked({f"{number}" * 200: 1 for number in range(10_000)})
    assert len(caught.value.errors) == 20
    assert len(str(caught.value)) < 5_000
