"""Goldens of the fold: YAML files that say in words what a rule means, then events, then the graph that they make.

Events are written as the schema has them, without `event_id` (it follows), with the time of day for times, and with
`tenant`, `producer` and `kind` only where they matter. UPDATE_GOLDENS=1 writes the graphs anew: look at every
difference before you commit it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from headwater_schemas import identity
from headwater_schemas.events import ColumnLineage, LineageEvent
from support.run_rules import rewrite

FOLDER = Path(__file__).parents[2] / "unit" / "fold" / "cases"
BY_HAND = FOLDER.with_name("by_hand")
_TIME = re.compile(r"\d\d:\d\d:\d\d")
_BODIES = {
    "run_event": "RUN",
    "interval_event": "INTERVAL",
    "plan_event": "PLAN",
    "dataset_event": "DATASET",
    "job_event": "JOB",
    "retention_event": "RETENTION",
    "declaration_event": "DECLARATION",
    "declaration_set_event": "DECLARATION_SET",
    "incident_event": "INCIDENT",
}


EACH_KIND = frozenset(
    {
        "dataset_columns_renamed_and_dropped",
        "dataset_known_as",
        "dataset_renamed",
        "dataset_schema_changes",
        "declaration_holds_while_listed",
        "declaration_of_a_consumer",
        "declaration_of_a_job",
        "incident_reached",
        "incident_scope_changes",
        "interval_conflict",
        "interval_of_foreach_batch",
        "job_declares",
        "outputs_possibly_made_from_inputs",
        "plan_in_other_words",
        "plan_spans",
        "retention_of_repeated_reports",
        "run_below_a_parent",
        "run_reads_a_dataset_twice",
    }
)
"""Cases that together have every kind of event, node and relationship, and need every statement that any case needs."""


@dataclass(frozen=True)
class Case:
    """One golden file."""

    path: Path
    says: str
    events: tuple[LineageEvent, ...]
    graph: tuple[str, ...]


def load_cases() -> list[Case]:
    """All cases, by name."""
    return [load_case(path) for path in sorted(FOLDER.glob("*.yaml"))]


def load_case(path: Path) -> Case:
    """One case. Every scalar is read as text and converted by the field it is for."""
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    events = tuple(_event(item) for item in document["events"])
    return Case(path, document["says"], events, tuple(document["graph"].splitlines()))


@dataclass(frozen=True)
class HandDerived:
    """Events, and what must hold of their graph by the words of docs/graph.md alone. No command writes these files.

    Attributes:
        facts: title of a node or relationship, as a picture has it ⇒ property ⇒ its value, None: it isn't there.
    """

    path: Path
    says: str
    events: tuple[LineageEvent, ...]
    facts: dict[str, dict[str, str | None]]


def load_hand_derived() -> list[HandDerived]:
    """All of them, by name."""
    found = []
    for path in sorted(BY_HAND.glob("*.yaml")):
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        facts = {
            title: {name: None if value == "null" else value for name, value in properties.items()}
            for title, properties in document["facts"].items()
        }
        found.append(HandDerived(path, document["says"], tuple(map(_event, document["events"])), facts))
    return found


def _event(item: dict[str, Any]) -> LineageEvent:
    item = {"event_id": "none yet", "tenant": "default", "producer": "p", **_times(item)}
    item.setdefault("kind", next(kind for body, kind in _BODIES.items() if body in item))
    if "plan_event" in item:
        lineage = msgspec.convert(item["plan_event"]["lineage"], ColumnLineage, strict=False)
        item["plan_event"]["digest"] = identity.plan_digest(lineage)
    event = msgspec.convert(item, LineageEvent, strict=False)
    return msgspec.structs.replace(event, event_id=identity.event_id(event))


def _times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _times(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_times(item) for item in value]
    if isinstance(value, str) and _TIME.fullmatch(value):
        return f"2013-01-01T{value}Z"
    return value


def write_graph(case: Case, graph: Sequence[str]) -> None:
    """Write the graph of a case anew; what comes before it stays as it is."""
    text = case.path.read_text(encoding="utf-8")
    head = text[: text.index("\ngraph: |") + len("\ngraph: |")]
    lines = "\n".join(f"  {line}" for line in graph)
    rewrite(case.path, f"{head}\n{lines}\n")
