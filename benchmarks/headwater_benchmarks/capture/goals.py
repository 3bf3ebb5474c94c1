"""Each contestant's figures, and the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from headwater_benchmarks.capture.contestants import HEADWATER, ONE_BY_ONE, WITHOUT
from headwater_benchmarks.capture.measure import Measured, ratios
from headwater_benchmarks.figures import Spread, percentile, ratio, spread
from headwater_benchmarks.report import Goal


def measurement(name: str, ours: Measured, base: Measured) -> dict[str, Any]:
    """One contestant's figures, each over rounds; ratios are to `base`, round by round."""
    counted = sum(map(len, ours.triggers))
    writes = sum(map(len, ours.writes))
    sent = ours.sent
    return {
        "name": name,
        "micro_batches": counted,
        "trigger_p50_ms": _told([percentile(each, 0.5) for each in ours.triggers], 1),
        "trigger_p90_ms": _told([percentile(each, 0.9) for each in ours.triggers], 1),
        **_ratio("trigger_p50_ratio", ratios(ours.triggers, base.triggers, 0.5)),
        **_ratio("trigger_p90_ratio", ratios(ours.triggers, base.triggers, 0.9)),
        "processor_ms_per_micro_batch": round((ours.python_seconds + ours.jvm_seconds) * 1_000 / counted, 1),
        "python_us_per_micro_batch": round(ours.python_seconds * 1_000_000 / counted),
        "jvm_us_per_micro_batch": round(ours.jvm_seconds * 1_000_000 / counted),
        "events": asdict(sent) if sent is not None else None,
        "events_per_micro_batch": round(sent.events / ours.micro_batches, 3) if sent is not None else None,
        "bytes_per_micro_batch": round(sent.bytes / ours.micro_batches) if sent is not None else None,
        "write_seconds": _told([percentile(each, 0.5) for each in ours.writes], 3),
        **_ratio("write_ratio", [sum(a) / sum(b) for a, b in zip(ours.writes, base.writes, strict=True)]),
        "processor_seconds_per_write": round(ours.write_processor_seconds / writes, 3),
        "large_plan_seconds": round(ours.plan_seconds, 2) if name in _CAPTURING and ours.plan_seconds else None,
        "peak_rss_mb": {who: None if peak is None else round(peak) for who, peak in ours.memory.items()},
        "samples": {"trigger_ms": ours.triggers, "write_seconds": ours.writes},
    }


def _ratio(name: str, values: Sequence[float]) -> dict[str, Any]:
    found = ratio(values)
    return {name: found["ratio"], f"{name}_interval": found["interval"]}


_CAPTURING = (HEADWATER, ONE_BY_ONE)


def goals(measurements: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """Goals of capture."""
    by_name = {each["name"]: each for each in measurements}
    ours, one_by_one = by_name[HEADWATER], by_name[ONE_BY_ONE]
    single = one_by_one["events_per_micro_batch"]
    return [
        # The end of the interval: what the bare median of a small run shows is mostly the machine.
        Goal(
            f"median trigger, {HEADWATER} / {WITHOUT}, upper end of the 95 % interval",
            ours["trigger_p50_ratio_interval"]["high"],
            1.02,
        ),
        Goal("events per micro-batch, one by one", single, 1.1),
        Goal("bytes per micro-batch, one by one", one_by_one["bytes_per_micro_batch"], 1_024),
        Goal("events per micro-batch", ours["events_per_micro_batch"], single),
        Goal(f"batch job of many columns, {HEADWATER} / {WITHOUT}", ours["write_ratio"]["median"], 1.03),
        Goal("large plan captured, seconds", ours["large_plan_seconds"], 3.0),
    ]


def _told(values: Sequence[float], digits: int) -> dict[str, float]:
    found: Spread = spread(values)
    return {name: round(value, digits) for name, value in asdict(found).items()}
