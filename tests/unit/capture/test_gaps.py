from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from headwater_producers.spark.common.metrics import CaptureMetrics, EarlierEmission
from headwater_producers.spark.streaming.gaps import Gap, Gaps, gaps_facet, spans

if TYPE_CHECKING:
    import pytest

AT = datetime(2013, 1, 1, tzinfo=UTC)


def test_spans(subtests: pytest.Subtests) -> None:
    for batches, found in (((), []), ([4], [(4, 4)]), ([9, 3, 4, 4], [(3, 4), (9, 9)]), (range(5), [(0, 4)])):
        with subtests.test(batches=batches):
            assert spans(batches) == found


def test_a_gap_is_counted_by_its_micro_batches_logged_and_remembered(caplog: pytest.LogCaptureFixture) -> None:
    registry = CollectorRegistry()
    gaps = Gaps(CaptureMetrics(registry))
    lost = Gap("id", "copy", 7, 9, EarlierEmission.NEVER, AT)
    unknown = Gap("id", None, 0, 0, EarlierEmission.UNKNOWN, AT)
    gaps.add(lost)
    gaps.add(unknown)
    assert gaps.found == (lost, unknown)
    name = "headwater_capture_gap_batches_total"
    assert registry.get_sample_value(name, {"emitted": "never"}) == 3
    assert registry.get_sample_value(name, {"emitted": "unknown"}) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "query copy: lineage gap: micro-batches 7..10 never emitted" in caplog.text
    assert "query id: possible lineage gap: micro-batch 0 purged from the checkpoint" in caplog.text
    assert json.loads(gaps_facet(gaps.found, "urn:x")) == {
        "_producer": "urn:x",
        "gaps": [{"first": 7, "last": 9, "emitted": "never"}, {"first": 0, "last": 0, "emitted": "unknown"}],
    }
