"""Figures of the contestants, and goals; the report as tables."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Group

from headwater_benchmarks.capture.sent import SentEvents
from headwater_benchmarks.report import Goal, goals_table, percentile, ratio, shown, spread, table

WITHOUT, HEADWATER, ONE_BY_ONE, OPENLINEAGE = "without", "headwater", "headwater, one by one", "openlineage"


@dataclass(slots=True)
class DriverMeasurements:
    """The measurements of one contestant's driver.

    Attributes:
        triggers: for each round, the duration of each micro-batch's trigger in ms.
        writes: for each round, the seconds of each batch write.
        processor_seconds: processor time of both processes of the driver, for all counted micro-batches.
        write_processor_seconds: processor time of both processes for all counted writes, including capture.
        micro_batches: micro-batches of the query, including those before the first round.
        sent: events and bytes that the query sent, from its start to its end.
        plan_seconds: time from the end of the write with the large plan until its lineage was delivered.
        memory: peak RSS in MB, by process (`jvm`, `python`); None if unknown.
    """

    triggers: list[list[int]] = field(default_factory=list)
    writes: list[list[float]] = field(default_factory=list)
    processor_seconds: float = 0.0
    write_processor_seconds: float = 0.0
    micro_batches: int = 0
    sent: SentEvents = field(default_factory=SentEvents)
    plan_seconds: float | None = None
    memory: dict[str, float | None] = field(default_factory=dict)


def measurement(name: str, ours: DriverMeasurements, base: DriverMeasurements) -> dict[str, Any]:
    """Figures of a contestant over the rounds; ratios are relative to `base`, by round."""
    counted, writes = sum(map(len, ours.triggers)), sum(map(len, ours.writes))
    return {
        "name": name,
        "micro_batches": counted,
        "trigger_p50_ms": spread([percentile(each, 0.5) for each in ours.triggers], 1),
        **ratio("trigger_p50_ratio", trigger_ratios(ours.triggers, base.triggers)),
        "processor_ms_per_micro_batch": round(ours.processor_seconds * 1_000 / counted, 1),
        "events": asdict(ours.sent),
        "events_per_micro_batch": round(ours.sent.events / ours.micro_batches, 3),
        "bytes_per_micro_batch": round(ours.sent.bytes / ours.micro_batches),
        "write_seconds": spread([percentile(each, 0.5) for each in ours.writes]),
        **ratio("write_ratio", [sum(a) / sum(b) for a, b in zip(ours.writes, base.writes, strict=True)]),
        "processor_seconds_per_write": round(ours.write_processor_seconds / writes, 3),
        # OpenLineage's agent doesn't report when it has delivered its events.
        "large_plan_seconds": round(ours.plan_seconds, 2)
        if name in {HEADWATER, ONE_BY_ONE} and ours.plan_seconds is not None
        else None,
        "peak_rss_mb": {who: None if peak is None else round(peak) for who, peak in ours.memory.items()},
        "samples": {"trigger_ms": ours.triggers, "write_seconds": ours.writes},
    }


def trigger_ratios(ours: Sequence[Sequence[float]], base: Sequence[Sequence[float]]) -> list[float]:
    """For each round: median trigger of `ours` divided by the median of `base`, measured within seconds of each other.

    Durations are whole milliseconds, so the median is interpolated among equal values.
    """
    medians = [[statistics.median_grouped(each, interval=1) for each in rounds] for rounds in (ours, base)]
    return [one / other for one, other in zip(*medians, strict=True)]


def goals(measurements: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """Goals of capture."""
    by_name = {each["name"]: each for each in measurements}
    ours, one_by_one = by_name[HEADWATER], by_name[ONE_BY_ONE]
    single = one_by_one["events_per_micro_batch"]
    return [
        # The goal is about the upper end of the interval: in a small run, the median mostly reflects the machine.
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


_ROWS = (
    ("trigger p50, ms", "trigger_p50_ms", 0),
    ("× without", "trigger_p50_ratio", 3),
    ("95 % interval", "trigger_p50_ratio_interval", 3),
    ("CPU ms per micro-batch", "processor_ms_per_micro_batch", 1),
    ("events per micro-batch", "events_per_micro_batch", 3),
    ("bytes per micro-batch", "bytes_per_micro_batch", 0),
    ("batch write, s", "write_seconds", 2),
    ("× without", "write_ratio", 3),
    ("95 % interval", "write_ratio_interval", 3),
    ("CPU s per write", "processor_seconds_per_write", 2),
    ("large plan, s", "large_plan_seconds", 2),
)


def capture_tables(document: Mapping[str, Any]) -> Group:
    """Table with a column for each contestant (medians, smallest and greatest values); below it, the goals."""
    measurements = document["measurements"]
    found = table("", *(each["name"] for each in measurements))
    for label, key, digits in _ROWS:
        found.add_row(label, *(shown(each[key], digits) for each in measurements))
    for process in ("jvm", "python"):
        peaks = (shown(each["peak_rss_mb"][process], 0) for each in measurements)
        found.add_row(f"peak RSS of {process}, MB", *peaks)
    return Group(found, "", goals_table(document))
