"""`bench capture`, tiny: four real drivers that take turns, and what each has sent."""

from __future__ import annotations

import json
import os

import pytest

from headwater.console import console
from headwater_benchmarks.capture.contestants import HEADWATER, ONE_BY_ONE, OPENLINEAGE, WITHOUT
from headwater_benchmarks.capture.run import Options, run
from headwater_benchmarks.capture.show import view
from support.running import QUICK_JVM

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

TINY = Options(
    rounds=1,
    micro_batches=3,
    records=20,
    rows=10,
    columns=8,
    writes=1,
    plan_columns=8,
    warm_up=0,
    seed=1,
    heap_mb=512,
)


@pytest.mark.timeout(600)
def test_everybody_does_the_same_and_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    # The drivers inherit nothing of Spark's own variables, and how fast they are counts nothing here.
    monkeypatch.setenv("JDK_JAVA_OPTIONS", os.environ.get("SPARK_SUBMIT_OPTS", QUICK_JVM))
    document = run(TINY)
    by_name = {measurement["name"]: measurement for measurement in document["measurements"]}
    assert list(by_name) == [WITHOUT, HEADWATER, ONE_BY_ONE, OPENLINEAGE]
    for measurement in by_name.values():
        assert measurement["micro_batches"] >= TINY.micro_batches
        assert measurement["trigger_p50_ms"]["median"] > 0
        assert measurement["write_seconds"]["median"] > 0
        assert measurement["peak_rss_mb"]["jvm"] > 100
    assert by_name[WITHOUT]["events"]["events"] == 0
    for name in (HEADWATER, ONE_BY_ONE):
        assert by_name[name]["events"]["kinds"]["INTERVAL"] >= 1
        assert by_name[name]["large_plan_seconds"] > 0
    # An interval for each micro-batch, and fewer where several share one.
    single = by_name[ONE_BY_ONE]["events"]["kinds"]["INTERVAL"]
    assert single >= TINY.micro_batches
    assert by_name[HEADWATER]["events"]["kinds"]["INTERVAL"] <= single, "as many where triggers take a second"
    assert by_name[OPENLINEAGE]["events"]["kinds"]["START"] >= TINY.micro_batches
    assert len(document["goals"]) == 6
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "× without" in captured.get()
