"""docs/graph.md names every label, relationship type and property that the graph has."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from headwater_graph.facts.model import SEGMENT, Label, RelType
from headwater_graph.facts.properties import GROUPS
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.segments.lists import TAIL
from headwater_graph.segments.segment import Place
from headwater_graph.segments.summary import Summary, summarize
from support.events import (
    full_dataset_event,
    full_interval_event,
    full_job_event,
    full_plan_event,
    full_run_event,
)
from support.graph.cases import load_cases
from support.graph.colliding import colliding_events

PAGE = (Path(__file__).parents[3] / "docs" / "graph.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([a-z_]+(?:_PART)?)`", PAGE))


def test_labels_and_types() -> None:
    assert [label for label in (*Label, SEGMENT) if not re.search(rf"\b(Hw)?{label}\b", PAGE)] == []
    assert [type_ for type_ in RelType if not re.search(rf"\b{type_}\b", PAGE)] == []


def test_properties() -> None:
    events = colliding_events(random.Random(1), 400)
    events += [full_run_event(), full_interval_event(), full_plan_event(), full_dataset_event(), full_job_event()]
    events += [event for case in load_cases() for event in case.events]
    found = {name for line in oracle(fold(events)) for name in json.loads(line)["properties"]}
    families = {name for name in found if name.startswith(("gap_", "overlap_"))}
    found |= {part for parts in GROUPS.values() for part in parts if not part.startswith("_")}
    assert sorted(found - families - NAMED) == []


def test_properties_of_segments() -> None:
    delta = fold([event for case in load_cases() for event in case.events])
    summary, _ = summarize("default", dict(enumerate(delta.intervals.values())), None)
    place = Place("default", "q", "k", 0)
    stored = place.identity().keys() | Summary().properties("k").keys() | summary.properties("k").keys()
    for range_ in summary.ranges.values():
        stored |= range_.properties().keys()
    assert f"from_{TAIL}" in stored
    lists = re.compile(r"_(\d|tail)$")
    assert sorted({lists.sub("_PART", name) for name in stored if not name.startswith("_")} - NAMED) == []
