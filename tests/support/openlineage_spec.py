"""OpenLineage in tests: the official schemas where they are beside the checkout, and documents."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

from headwater_graph.fold.fold import fold
from headwater_graph.oracle import oracle
from headwater_openlineage.decoding import decode
from headwater_openlineage.incoming import events_of
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import event_id

ROOT = Path(__file__).parents[2]
SPECIFICATIONS = next(
    (found for parent in ROOT.parents if (found := parent / "shared" / "specs" / "openlineage" / "spec").is_dir()), None
)
OURS = ROOT / "schemas" / "headwater_schemas" / "openlineage" / "HeadwaterFacet.json"
CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
TENANT = "acme"


@cache
def official_schemas() -> dict[str, dict[str, Any]]:
    """All schemas of the specification, and ours, by their `$id`. Skips the test where they aren't there."""
    if SPECIFICATIONS is None:
        pytest.skip("OpenLineage's schemas aren't in shared/specs/openlineage beside the checkout")
    files = [OURS, *SPECIFICATIONS.rglob("OpenLineage.json"), *SPECIFICATIONS.rglob("*Facet.json")]
    return {schema["$id"]: schema for schema in (json.loads(file.read_text()) for file in files)}


@cache
def _registry() -> Registry[Any]:
    resources = [(id_, Resource.from_contents(schema)) for id_, schema in official_schemas().items()]
    return Registry().with_resources(resources)


# Not those of URIs: Spark's agent has a dataSource whose uri is "file".
_FORMATS = FormatChecker(formats=("uuid",))


@_FORMATS.checks("date-time", raises=ValueError)
def _is_a_time(text: object) -> bool:
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


@cache
def _validator(reference: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": reference}, registry=_registry(), format_checker=_FORMATS)


def check_official(document: Any) -> None:
    """Fail unless the official schemas accept the document and each of its standard facets."""
    problems = [error.message for error in _validator(CORE).iter_errors(document)]
    for name, facet in _facets(document):
        if (url := str(facet.get("_schemaURL"))).partition("#")[0] in official_schemas():
            # Of a definition that has the facet by its name, the facet alone.
            problems += [f"{name}: {error.message}" for error in _validator(url).iter_errors(facet)]
    assert not problems, problems


def _facets(document: Any) -> list[tuple[str, dict[str, Any]]]:
    owners = [document.get(name) for name in ("run", "job", "dataset")]
    owners += [*(document.get("inputs") or ()), *(document.get("outputs") or ())]
    return [
        pair
        for owner in owners
        if owner
        for kind in ("facets", "inputFacets", "outputFacets")
        for pair in (owner.get(kind) or {}).items()
    ]


def received(*documents: dict[str, Any]) -> list[LineageEvent]:
    """The events of documents that come as bytes."""
    return [event for one in documents for event in events_of(decode(json.dumps(one).encode()), tenant=TENANT)]


def graph_of(events: list[LineageEvent]) -> list[str]:
    """The dump of the graph that events make."""
    return list(oracle(fold(events)))


def alone(event: LineageEvent) -> list[LineageEvent]:
    """An event of micro-batches as one for each of them."""
    if event.interval_event is None:
        return [event]
    found = []
    for entry in event.interval_event.entries:
        one = msgspec.structs.replace(
            event, interval_event=msgspec.structs.replace(event.interval_event, entries=(entry,))
        )
        found.append(msgspec.structs.replace(one, event_id=event_id(one)))
    return found


def canonical(document: Any) -> str:
    """JSON that is equal for equal documents, whatever order their members are in."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False)
