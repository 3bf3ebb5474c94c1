"""Facts that a demo finds when all is well; tests make them worse in one way each."""

from __future__ import annotations

from headwater.demo.facts import DeadLetterSummary, Facts, consumed
from headwater_graph.chains import Chain


def chain(
    name: str, intervals: int, *, gaps: int = 0, missing: int = 0, overlaps: int = 0, conflicts: int = 0
) -> Chain:
    return Chain(
        key=name,
        tenant="default",
        query_id=name,
        name=name,
        intervals=intervals,
        retired=0,
        first_batch=0,
        last_batch=intervals + missing - 1,
        missing_batches=missing,
        offset_gaps=gaps,
        overlaps=overlaps,
        conflicts=conflicts,
    )


LETTERS = tuple(
    DeadLetterSummary(reason, f"lineage.events[0]@{offset}", 10)
    for offset, reason in enumerate(("NOT_AN_EVENT", "UNKNOWN_SCHEMA", "INVALID_EVENT"))
)

GOOD = Facts(
    acknowledged=103,
    applied=100,
    dead_lettered=3,
    dead_letters=LETTERS,
    chains={"enrich": chain("enrich", 2), "delays": chain("delays", 3)},
    committed_batches={"enrich": 2, "delays": 3},
    departed_ends={0: 10, 1: 0, 2: 7},
    consumed=consumed(
        [
            {"partitions": [0, 1, 2], "starts": [0, 0, 0], "ends": [4, 0, 7]},
            {"partitions": [0, 1, 2], "starts": [4, 0, 7], "ends": [10, 0, 7]},
        ]
    ),
    runs={"flights.enrich 1": "COMPLETE"},
    report_columns=("day", "flights"),
    untraceable_columns=(),
    nodes={"Dataset": 5},
    relationships={"FEEDS": 5},
)
