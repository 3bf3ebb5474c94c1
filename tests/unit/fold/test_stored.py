"""All that the graph stores of one event of each kind, the properties that begin with `_` included, line by line.

Keys and these properties decide where later events are merged, and what they replace: a graph that exists has them.
`stored/<event>.jsonl` has a line for each node and relationship, as `headwater graph dump --internal` prints it.
UPDATE_GOLDENS=1 rewrites them: a difference there is a new version of the graph, with a migration.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_schemas.events import (
    DatasetUse,
    FileSet,
    JobEvent,
    LineageEvent,
    Owner,
    Position,
    QualityResult,
    RetentionEvent,
    RetentionMode,
    RunEvent,
    RunEventType,
    TableSnapshot,
    Tag,
    build,
)
from support.events import DEPARTED, ENRICHED, FULL_EVENTS, JOB, PRODUCER, RUN, TIME
from support.run_rules import rewrite, updating

if TYPE_CHECKING:
    import pytest

FOLDER = Path(__file__).parent / "stored"


def start() -> LineageEvent:
    """Start of a run that reports as little as it can; it lists one dataset three times, once without a digest."""
    again = DatasetUse(dataset=DEPARTED, possible=True, inputs=(ENRICHED,))
    unknown = DatasetUse(dataset=DEPARTED, position=Position())
    files = DatasetUse(dataset=DEPARTED, position=Position(files=FileSet(count=1)))
    table = DatasetUse(
        dataset=ENRICHED, position=Position(table_snapshot=TableSnapshot(format="delta", snapshot_id="1"))
    )
    passed = QualityResult(assertion="recent", passed=True)
    body = RunEvent(
        type=RunEventType.START, inputs=(again, unknown, files), outputs=(table, table), quality=(passed, passed)
    )
    return build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)


def several() -> LineageEvent:
    """Lists that aren't in order, with one thing twice."""
    body = JobEvent(
        owners=(Owner("zoe", "STEWARD"), Owner("amy"), Owner("zoe", "STEWARD")),
        tags=(
            Tag(key="z", field="b"),
            Tag(key="a", value="2", source="s"),
            Tag(key="a", value="1"),
            Tag(key="z", field="b"),
        ),
        inputs=(ENRICHED, DEPARTED, ENRICHED),
        outputs=(),
    )
    return build.lineage_event(body, job=JOB, producer=PRODUCER, event_time=TIME)


def policy(namespace: str | None) -> LineageEvent:
    """Retention of a namespace's jobs, or of all."""
    body = RetentionEvent(before=TIME, mode=RetentionMode.SUMMARIZE, namespace=namespace)
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


EVENTS: dict[str, Callable[[], LineageEvent]] = {
    **FULL_EVENTS,
    "start": start,
    "several": several,
    "retention_of_a_namespace": lambda: policy("flights"),
    "retention_of_all": lambda: policy(None),
}


def test_what_is_stored_is_what_was_stored(subtests: pytest.Subtests) -> None:
    for name, event in EVENTS.items():
        with subtests.test(name):
            stored = "".join(f"{line}\n" for line in oracle(fold([event()]), internal=True))
            path = FOLDER / f"{name}.jsonl"
            if updating():
                rewrite(path, stored)
            else:
                assert stored == path.read_text(encoding="utf-8")


def test_there_is_no_other() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(EVENTS)
