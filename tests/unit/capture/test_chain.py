"""Changes of a micro-batch against the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater_producers.spark.streaming.interval_events import EmittedChain, version_text
from headwater_schemas.events import EmissionReason, EngineRef, IntervalEntry, QualityResult, Versions

if TYPE_CHECKING:
    import pytest

BEFORE = Versions(code="v1", config="c1", engine=EngineRef("spark", "4.0.0"), capture="1")
ENTRY = IntervalEntry(batch_id=0, plan_digest="p1", quality=(QualityResult(assertion="has_id", passed=True),))
VERSION, QUALITY = EmissionReason.VERSION_CHANGE, EmissionReason.QUALITY_CHANGE


CHANGED: list[tuple[dict[str, object], EmissionReason | None]] = [
    ({}, None),
    ({"code": "v2"}, VERSION),
    ({"config": "c2"}, VERSION),
    ({"config": None}, VERSION),
    ({"engine": EngineRef("spark", "4.0.1")}, VERSION),
    # Ours, not the job's.
    ({"capture": "2"}, None),
]


def test_code_configuration_and_engine_by_themselves(subtests: pytest.Subtests) -> None:
    for changed, reason in CHANGED:
        with subtests.test(changed=changed):
            chain = EmittedChain()
            assert chain.change(ENTRY, version_text(BEFORE)) is None, "the first one changes nothing"
            after = version_text(msgspec.structs.replace(BEFORE, **changed))
            assert chain.change(ENTRY, after) is reason
            assert chain.change(ENTRY, after) is None, "once"


LINEAGE_OR_QUALITY: list[tuple[IntervalEntry, EmissionReason | None]] = [
    (msgspec.structs.replace(ENTRY, plan_digest="p2"), VERSION),
    (msgspec.structs.replace(ENTRY, plan_digest=None), None),
    (msgspec.structs.replace(ENTRY, quality=(QualityResult(assertion="has_id", passed=False),)), QUALITY),
    (msgspec.structs.replace(ENTRY, quality=()), QUALITY),
]


def test_lineage_and_quality(subtests: pytest.Subtests) -> None:
    for entry, reason in LINEAGE_OR_QUALITY:
        with subtests.test(entry=entry):
            chain = EmittedChain()
            chain.change(ENTRY, version_text(BEFORE))
            assert chain.change(entry, version_text(BEFORE)) is reason


SET_BACK: list[tuple[int, int | None, int | None, int | None]] = [
    (7, 5, 7, 7),  # in the middle of what this process has emitted
    (5, 5, 5, 5),  # at its first micro-batch
    (3, None, None, 3),  # before it: another process emitted those
    (0, None, None, 0),  # behind the very first micro-batch
    (-1, None, None, None),  # to the very beginning
]


def test_a_checkpoint_that_was_set_back(subtests: pytest.Subtests) -> None:
    for committed, first, last, noted in SET_BACK:
        with subtests.test(committed=committed, first=first):
            chain = EmittedChain(first=5, last=9, noted=9)
            chain.set_back(committed)
            assert (chain.first, chain.last, chain.noted) == (first, last, noted)
