"""docs/graph.md names every label, relationship type and property that the graph has."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from headwater_consumers.facts.model import Label, RelType
from headwater_consumers.facts.properties import GROUPS
from headwater_consumers.graph.oracle import oracle
from headwater_consumers.materializer.fold import fold
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
NAMED = set(re.findall(r"`([a-z_]+)`", PAGE))


def test_labels_and_types() -> None:
    assert [label for label in Label if not re.search(rf"\b{label}\b", PAGE)] == []
    assert [type_ for type_ in RelType if not re.search(rf"\b{type_}\b", PAGE)] == []


def test_properties() -> None:
    events = colliding_events(random.Random(1), 400)
    events += [full_run_event(), full_interval_event(), full_plan_event(), full_dataset_event(), full_job_event()]
    events += [event for case in load_cases() for event in case.events]
    found = {name for line in oracle(fold(events)) for name in json.loads(line)["properties"]}
    families = {name for name in found if name.startswith(("gap_", "overlap_"))}
    found |= {part for parts in GROUPS.values() for part in parts if not part.startswith("_")}
    assert sorted(found - families - NAMED) == []
