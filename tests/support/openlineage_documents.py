"""Hypothesis strategies for OpenLineage's documents, made from the official schemas, with any of their facets."""

from __future__ import annotations

import string
from functools import cache
from typing import Any

from hypothesis import strategies as st

from support.openlineage_spec import CORE, official_schemas

_OWNERS = {
    # the definition that a facet extends: where it is
    "RunFacet": ("run", "facets"),
    "JobFacet": ("job", "facets"),
    "DatasetFacet": ("dataset", "facets"),
    "InputDatasetFacet": ("input", "inputFacets"),
    "OutputDatasetFacet": ("output", "outputFacets"),
}
_WORDS = st.text(string.ascii_letters + "é.🛫/_ `", min_size=1, max_size=8)
_URIS = st.sampled_from(["https://example.com/producer", "urn:x", "https://github.com/OpenLineage/OpenLineage"])
_TIMES = st.sampled_from(
    [
        "2025-01-31T23:59:59Z",
        "2025-01-31T23:59:59.123456789Z",
        "2025-02-01T05:29:59.5+05:30",
        "1999-12-31T16:00:00.000-08:00",
    ]
)
_FORMATS = {"date-time": _TIMES, "uri": _URIS, "uuid": st.uuids().map(str)}
# What the specification describes in words where its schema has a bare string or a number.
_DESCRIBED = {
    "type": st.sampled_from(["DIRECT", "INDIRECT"]),
    "snapshotId": st.integers(0, 2**63 - 1),
    "processingType": st.sampled_from(["BATCH", "STREAMING", "SERVICE"]),
}
_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)


def standard_facets() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """By owner and member: name and schema of each standard facet that may be there."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {place: [] for place in _OWNERS.values()}
    for id_, schema in official_schemas().items():
        if id_ == CORE or "HeadwaterFacet" in id_:
            continue
        for name, reference in schema["properties"].items():
            for definition in _definitions(reference):
                for base in _bases(f"{id_}{definition}"):
                    found[_OWNERS[base]].append((name, f"{id_}{definition}"))
    return found


def _definitions(schema: dict[str, Any]) -> list[str]:
    if "anyOf" in schema:
        return [each["$ref"] for each in schema["anyOf"]]
    if schema["$ref"].endswith("/BaseSubsetDatasetFacet"):
        return ["#/$defs/InputSubsetInputDatasetFacet", "#/$defs/OutputSubsetOutputDatasetFacet"]
    return [schema["$ref"]]


def _bases(reference: str) -> list[str]:
    schema = _resolve(reference)
    return [each["$ref"].rpartition("/")[2] for each in schema["allOf"] if "$ref" in each]


def _resolve(reference: str) -> Any:
    id_, _, path = reference.partition("#/")
    schema: Any = official_schemas()[id_]
    for step in path.split("/"):
        schema = schema[step]
    return schema


@cache
def of_schema(reference: str) -> st.SearchStrategy[Any]:
    """Values that a schema of the specification accepts."""
    return _values(_resolve(reference), reference.partition("#")[0], "")


def _values(schema: dict[str, Any], id_: str, name: str) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        reference = schema["$ref"]
        return st.deferred(lambda: of_schema(id_ + reference if reference.startswith("#") else reference))
    if "allOf" in schema:
        return st.tuples(*(_values(each, id_, name) for each in schema["allOf"])).map(
            lambda parts: {key: value for part in parts for key, value in part.items()}
        )
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return st.one_of([_values(each, id_, name) for each in schema[choice]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    return _plain(schema, id_, name)


def _plain(schema: dict[str, Any], id_: str, name: str) -> st.SearchStrategy[Any]:
    if name in _DESCRIBED and "properties" not in schema:
        return _DESCRIBED[name]
    if schema.get("type") == "array":
        return st.lists(_values(schema.get("items", {}), id_, name), max_size=2)
    if schema.get("type") == "object" or "properties" in schema:
        return _objects(schema, id_)
    if schema.get("type") == "string" or "format" in schema or "documentation" in schema:
        return _FORMATS.get(schema.get("format", ""), _WORDS)
    if schema.get("type") in {"integer", "number"}:
        return st.integers(schema.get("minimum", 0), 2**53)
    return st.booleans() if schema.get("type") == "boolean" else _ANYTHING


def _objects(schema: dict[str, Any], id_: str) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    for one, others in schema.get("dependentRequired", {}).items():
        # Both or neither: both.
        required |= {one, *others}
    known = {key: _values(value, id_, key) for key, value in schema.get("properties", {}).items()}
    always = {key: value for key, value in known.items() if key in required}
    maybe = {key: value for key, value in known.items() if key not in required and key != "_deleted"}
    objects = st.fixed_dictionaries(always, optional=maybe)
    more = schema.get("additionalProperties")
    if not more:
        return objects
    values = _ANYTHING if more is True else _values(more, id_, "")
    return st.tuples(st.dictionaries(_WORDS.map("x_{}".format), values, max_size=2), objects).map(
        lambda pair: {**pair[0], **pair[1]}
    )


def _facet(name: str, reference: str) -> st.SearchStrategy[tuple[str, Any]]:
    url = {"_schemaURL": reference, "_producer": "https://example.com/producer"}
    return st.tuples(st.just(name), of_schema(reference).map(lambda facet: {**facet, **url}))


def _custom() -> st.SearchStrategy[tuple[str, Any]]:
    base = {"_schemaURL": "https://example.com/custom.json", "_producer": "urn:custom"}
    deleted = st.sampled_from([{}, {"_deleted": True}])
    bodies = st.dictionaries(_WORDS, _ANYTHING, max_size=3)
    facets = st.tuples(bodies, deleted).map(lambda pair: {**pair[0], **pair[1], **base})
    return st.tuples(st.sampled_from(["custom", "other.facet", "a/b~c"]), facets)


def facets_at(owner: str, member: str) -> st.SearchStrategy[dict[str, Any]]:
    """Facets of an owner: any of the standard ones, and custom ones."""
    known = [_facet(name, reference) for name, reference in standard_facets()[owner, member]]
    return st.lists(st.one_of(*known, _custom()), max_size=4).map(dict)


def _datasets(role: str) -> st.SearchStrategy[dict[str, Any]]:
    places = {"dataset": {"facets": facets_at("dataset", "facets")}}
    if role != "dataset":
        member = f"{role}Facets"
        places[role] = {**places["dataset"], member: facets_at(role, member)}
    names = {
        "namespace": st.sampled_from(["kafka://b:9092,a:9092", "postgres://db:5432", "s3://lake"]),
        "name": st.sampled_from(["shop.public.orders", "t", "a/b"]),
    }
    return st.fixed_dictionaries(names, optional={**places[role], "unknown": _ANYTHING})


def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Events of every kind."""
    base = {"eventTime": _TIMES, "producer": _URIS}
    run = st.fixed_dictionaries({"runId": st.uuids().map(str)}, optional={"facets": facets_at("run", "facets")})
    job = st.fixed_dictionaries(
        {"namespace": _WORDS, "name": _WORDS}, optional={"facets": facets_at("job", "facets"), "unknown": _ANYTHING}
    )
    uses = {
        "inputs": st.lists(_datasets("input"), max_size=2),
        "outputs": st.lists(_datasets("output"), max_size=2),
        "unknown": _ANYTHING,
    }
    types = st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"])
    urls = [f"{CORE}#/$defs/", "https://openlineage.io/spec/1-0-5/OpenLineage.json#/definitions/"]
    kinds: dict[str, st.SearchStrategy[dict[str, Any]]] = {
        "RunEvent": st.fixed_dictionaries({**base, "run": run, "job": job}, optional={**uses, "eventType": types}),
        "JobEvent": st.fixed_dictionaries({**base, "job": job}, optional=uses),
        "DatasetEvent": st.fixed_dictionaries({**base, "dataset": _datasets("dataset")}),
    }
    return st.one_of([_with_url(strategy, [url + kind for url in urls]) for kind, strategy in kinds.items()])


def _with_url(events: st.SearchStrategy[dict[str, Any]], urls: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(events, st.sampled_from(urls)).map(lambda pair: {**pair[0], "schemaURL": pair[1]})


def example(reference: str) -> Any:
    """A value of a schema of the specification, with every member, and the specification's own examples in it."""
    return _example(_resolve(reference), reference.partition("#")[0], ())


def _example(schema: dict[str, Any], id_: str, above: tuple[str, ...]) -> Any:
    if "$ref" in schema:
        reference = schema["$ref"] if not schema["$ref"].startswith("#") else id_ + schema["$ref"]
        # A definition that refers to itself has an end: the simplest that it may be.
        return (
            None
            if above.count(reference) > 1
            else _example(_resolve(reference), reference.partition("#")[0], (*above, reference))
        )
    if "allOf" in schema:
        return {key: value for each in schema["allOf"] for key, value in _example(each, id_, above).items()}
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return next(value for each in reversed(schema[choice]) if (value := _example(each, id_, above)) is not None)
    if "const" in schema or "enum" in schema:
        return (schema.get("enum") or [schema["const"]])[0]
    if schema.get("type") == "array":
        item = _example(schema.get("items", {}), id_, above)
        return [] if item is None else [item]
    if schema.get("type") == "object" or "properties" in schema:
        members = {
            key: _example(each, id_, above) for key, each in schema.get("properties", {}).items() if key != "_deleted"
        }
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            members["some_name"] = _example(more, id_, above)
        return {key: value for key, value in members.items() if value is not None}
    return _plain_example(schema)


def _plain_example(schema: dict[str, Any]) -> Any:
    kind = str(schema.get("type"))
    if "example" in schema:
        return str(schema["example"]).split("|")[0] if kind == "string" else schema["example"]
    formats = {
        "date-time": "2013-01-01T05:00:00Z",
        "uri": "https://example.com/x",
        "uuid": "0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f",
    }
    if schema.get("format") in formats:
        return formats[schema["format"]]
    return {"integer": 7, "number": 7, "boolean": True}.get(kind, "some text")
