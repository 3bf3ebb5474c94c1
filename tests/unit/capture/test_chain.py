"""What of a micro-batch is a change against the one before it."""

from __future__ import annotations

import msgspec
import pytest

from headwater_producers.spark.streaming.chain import Chain, version_text
from headwater_schemas.events import EmissionReason, EngineRef, IntervalEntry, QualityResult, Versions

BEFORE = Versions(code="v1", config="c1", engine=EngineRef("spark", "4.0.0"), capture="1")
ENTRY = IntervalEntry(batch_id=0, plan_digest="p1", quality=(QualityResult(assertion="has_id", passed=True),))
VERSION, QUALITY = EmissionReason.VERSION_CHANGE, EmissionReason.QUALITY_CHANGE


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"code": "v2"}, VERSION),
        ({"config": "c2"}, VERSION),
        ({"config": None}, VERSION),
        ({"engine": EngineRef("spark", "4.0.1")}, VERSION),
        # Ours, not the job's.
        ({"capture": "2"}, None),
    ],
)
def test_code_configuration_and_engine_by_themselves(changed: dict[str, object], reason: EmissionReason | None) -> None:
    chain = Chain()
    assert chain.change(ENTRY, version_text(BEFORE)) is None, "the first one changes nothing"
    after = version_text(msgspec.structs.replace(BEFORE, **changed))
    assert chain.change(ENTRY, after) is reason
    assert chain.change(ENTRY, after) is None, "once"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (msgspec.structs.replace(ENTRY, plan_digest="p2"), VERSION),
        (msgspec.structs.replace(ENTRY, plan_digest=None), None),
        (msgspec.structs.replace(ENTRY, quality=(QualityResult(assertion="has_id", passed=False),)), QUALITY),
        (msgspec.structs.replace(ENTRY, quality=()), QUALITY),
    ],
)
def test_lineage_and_quality(entry: IntervalEntry, reason: EmissionReason | None) -> None:
    chain = Chain()
    chain.change(ENTRY, version_text(BEFORE))
    assert chain.change(entry, version_text(BEFORE)) is reason
