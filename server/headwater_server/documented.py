"""OpenAPI document of the server.

It consists of FastAPI's document of the routes, and of

- descriptions of fields, from the `Attributes:` of the answers' dataclasses;
- a real request and answer per operation (`examples/`), recorded from the demo;
- the problems that operations may answer.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, get_args, get_type_hints

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from headwater_analysis.freshness import GraphState
from headwater_analysis.incidents.answers import IncidentMarks
from headwater_server.identity import Scope
from headwater_server.problems import MEDIA_TYPE, ProblemDetails, ProblemType
from headwater_server.scoped import Access, needs_of

_SECTION = re.compile(r"^Attributes:\n((?: {4}.*\n?|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)
_NONE = re.compile(r"\bNone\b")


def describe(schemas: dict[str, Any], models: Iterable[Any]) -> None:
    """Describe each schema and its properties from the dataclass of the same name.

    Args:
        schemas: schemas of an OpenAPI document's components; changed in place.
        models: types of answers and bodies; nested dataclasses are found.
    """
    for kind in dict.fromkeys(each for model in models for each in _dataclasses(model, set())):
        # If two models have one name, their schemas have the module as a prefix.
        schema, text = schemas.get(kind.__name__) or schemas.get(_qualified(kind)), kind.__doc__
        if schema is None or text is None:
            continue
        described: dict[str, str] = {}
        for base in reversed(kind.__mro__):
            described |= attributes(base.__doc__ or "")
        schema["description"] = inspect.cleandoc(text).partition("\n\nAttributes:")[0]
        for name, field in schema.get("properties", {}).items():
            if name in described:
                field["description"] = described[name]


def attributes(docstring: str) -> dict[str, str]:
    """Map the fields in a docstring's `Attributes:` to their descriptions; None becomes null."""
    section = _SECTION.search(inspect.cleandoc(docstring) + "\n")
    return {
        name: _NONE.sub("null", " ".join(text.split()))
        for names, text in (_ENTRY.findall(section[1]) if section else ())
        for name in names.split(", ")
    }


def _dataclasses(kind: Any, seen: set[Any]) -> Iterator[type]:
    for part in get_args(kind):
        yield from _dataclasses(part, seen)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind in seen:
        return
    seen.add(kind)
    yield kind
    for hint in get_type_hints(kind).values():
        yield from _dataclasses(hint, seen)


_ABOUT = """Lineage of Spark jobs: the sources of data, data derived from it, the runs and micro-batches that wrote it,
and the effects of a change. Operations only read, except `intake`, `declarations` and actions on `incidents`, which are
off unless configured.

Assets are named by key or by name; times are ISO 8601, UTC if they have no zone; lists come in pages (`next_cursor`
requests the next page); errors are RFC 9457 problem details."""


def document(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """Build the OpenAPI document of these routes."""
    whole: dict[str, Any] = get_openapi(
        title="Headwater",
        version=version("headwater"),
        summary="Questions to the lineage graph",
        description=_ABOUT,
        routes=routes,
    )
    schemas = whole.setdefault("components", {}).setdefault("schemas", {})
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    schemas.update(_problem_schemas())
    schemas["GraphState"] = TypeAdapter(GraphState).json_schema()
    marks = TypeAdapter(IncidentMarks).json_schema(ref_template="#/components/schemas/{model}")
    schemas |= {**marks.pop("$defs"), "IncidentMarks": marks}
    operations = [route for route in routes if isinstance(route, APIRoute)]
    _secure(whole, operations)
    bodies = [route.body_field.field_info.annotation for route in operations if route.body_field is not None]
    for route in operations:
        if _WITHOUT_GRAPH.isdisjoint(route.tags) and dataclasses.is_dataclass(route.response_model):
            _schema_of(schemas, route.response_model)["properties"] |= {
                "graph": _STATE,
                "filtered": _FILTERED,
                "incidents": _INCIDENTS,
            }
    describe(
        schemas, [ProblemDetails, GraphState, IncidentMarks, *(route.response_model for route in operations), *bodies]
    )
    for path in whole["paths"].values():
        for operation in path.values():
            _exemplify(operation)
    return _with_short_names(whole)


_BEARER = "bearer"
_ABOUT_BEARER = (
    "An API token (`headwater token create`), or an access token of a provider that the server trusts. The roles are "
    "the scopes that the token needs. A server to which only its own machine can connect may require no token."
)
_WITHOUT_GRAPH = frozenset({"intake", "declarations", "identity", "service"})
"""Areas whose answers don't come from the graph."""
_STATE = {
    "$ref": "#/components/schemas/GraphState",
    "description": "Lag of the graph behind the events topic; absent if no consumer has ever reported.",
}
_FILTERED = {
    "const": True,
    "description": "The asker may not see everything: the answer leaves out the rest. Absent if the asker may see all.",
}
_INCIDENTS = {
    "$ref": "#/components/schemas/IncidentMarks",
    "description": "Datasets of the answer that hold bad data of open incidents; absent if there are none.",
}


def _secure(whole: dict[str, Any], routes: Iterable[APIRoute]) -> None:
    """Add the credential that each operation needs. A scope appears as a role of the credential."""
    scheme = {"type": "http", "scheme": "bearer", "description": _ABOUT_BEARER}
    whole["components"]["securitySchemes"] = {_BEARER: scheme}
    for route in routes:
        needs = needs_of(route)
        if needs is Access.OPEN or not route.include_in_schema:
            continue
        for method in route.methods or ():
            # No credential is needed if no way to log in is configured.
            roles = [needs.value] if isinstance(needs, Scope) else []
            whole["paths"][route.path_format][method.lower()]["security"] = [{}, {_BEARER: roles}]


def _schema_of(schemas: Mapping[str, Any], model: Any) -> dict[str, Any]:
    found: dict[str, Any] = schemas.get(model.__name__) or schemas[_qualified(model)]
    return found


def _qualified(model: Any) -> str:
    """Name of a schema whose model has the same name as another."""
    return f"{model.__module__}.{model.__qualname__}".replace(".", "__")


def problem_responses(*kinds: ProblemType) -> dict[int | str, dict[str, Any]]:
    """Build `responses` of a route that may answer these problems."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    named: dict[int, list[str]] = {}
    for kind in kinds:
        named.setdefault(int(kind.status), []).append(f"`{kind.value}`")
    return {status: {"description": ", ".join(names), "content": content} for status, names in named.items()}


def example(operation: str) -> Mapping[str, Any] | None:
    """Recorded example of an operation: `path`, `query`, `body`, `answer`; None without a recording."""
    file = files("headwater_server").joinpath("examples", f"{operation}.json")
    if not file.is_file():
        return None
    recorded: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return recorded


@cache
def _problem_schemas() -> dict[str, Any]:
    schema = TypeAdapter(ProblemDetails).json_schema(ref_template="#/components/schemas/{model}")
    parts: dict[str, Any] = schema.pop("$defs")
    # Empty members are left out, never null.
    for field in schema["properties"].values():
        field.pop("default", None)
        branches = field.pop("anyOf", ())
        field.update(next((branch for branch in branches if branch.get("type") != "null"), {}))
    return {**parts, "ProblemDetails": schema}


def _with_short_names(whole: dict[str, Any]) -> dict[str, Any]:
    """Shorten the names of schemas.

    A module prefix becomes one word: `headwater_analysis__schemas__SchemaChange` ⇒ `SchemasSchemaChange`. The suffix
    `-Input` is removed.
    """
    text = json.dumps(whole).replace('-Input"', '"')
    for name in sorted(whole["components"]["schemas"], key=len, reverse=True):
        *modules, own = name.split("__")
        if modules:
            text = text.replace(f'{name}"', f'{modules[-1].capitalize()}{own}"')
    short: dict[str, Any] = json.loads(text)
    return short


def _exemplify(operation: dict[str, Any]) -> None:
    recorded = example(operation["operationId"])
    if recorded is None:
        return
    given = {"path": recorded.get("path", {}), "query": recorded.get("query", {})}
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in given.get(parameter["in"], {}):
            parameter["example"] = given[parameter["in"]][parameter["name"]]
    if recorded.get("body") is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = recorded["body"]
    success_of(operation)["content"]["application/json"]["example"] = recorded["answer"]


def success_of(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operation's response for success: 201 if it has one (it publishes events), else 200."""
    responses: Mapping[str, dict[str, Any]] = operation["responses"]
    return responses["201"] if "201" in responses else responses["200"]
