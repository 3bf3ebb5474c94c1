"""Reports of a micro-batch (run, time and offsets), the input of summaries.

Registers keep only the winning value. A summary of a day is built from every report, so the result is the same if a
report arrives before or after the micro-batch is summarized. Nearly always all reports of a micro-batch are equal: the
registers then hold the report. Otherwise the register `REPORTS` has all reports.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headwater_graph.facts.model import UseKey
from headwater_graph.facts.registers import Registers
from headwater_schemas.identity import micros

REPORTS = "_reports"
"""Register of a micro-batch whose reports differ: all reports as JSON, in order."""

_DAY = 86_400_000_000


class Used(NamedTuple):
    """Dataset that a report states as used, with the offsets.

    Attributes:
        type: CONSUMED or PRODUCED.
        dataset: key of the dataset.
        ordinal: index among several uses of the same dataset.
        offsets: partition, start and end of each range, in one flat tuple; empty if the position isn't of a Kafka
            topic.
    """

    type: str
    dataset: str
    ordinal: int
    offsets: tuple[int, ...]

    @property
    def pieces(self) -> Iterable[tuple[int, int, int]]:
        """Partition, start and end of each range."""
        return zip(*[iter(self.offsets)] * 3, strict=True)


class Report(NamedTuple):
    """Run, time and offsets that one report states.

    Attributes:
        run_id: id of the micro-batch's run; empty if none is stated.
        run: key of that run.
        time: the processing time in microseconds since the epoch; None if it isn't stated.
        uses: datasets, in order.
    """

    run_id: str
    run: str
    time: int | None
    uses: tuple[Used, ...]

    @property
    def day(self) -> int | None:
        """Days from the epoch to the day of the processing time, in UTC."""
        return None if self.time is None else self.time // _DAY


def day_of(time: datetime) -> int:
    """Days from the epoch to the day of a time, in UTC."""
    return micros(time) // _DAY


def same_report(
    one: Registers,
    one_uses: Mapping[UseKey, Registers],
    other: Registers,
    other_uses: Mapping[UseKey, Registers],
) -> bool:
    """Return True if two reports have equal results of `shown`, without building them: it is faster."""
    return (
        REPORTS not in one
        and REPORTS not in other
        and _value(one, "processing_time") == _value(other, "processing_time")
        and _value(one, "run") == _value(other, "run")
        and one_uses.keys() == other_uses.keys()
        and all(_value(one_uses[use], "position") == _value(other_uses[use], "position") for use in one_uses)
    )


def shown(registers: Registers, uses: Mapping[UseKey, Registers]) -> Report:
    """Build the report that the registers of a micro-batch show."""
    run: Any = _value(registers, "run") or {"run_id": "", "_run": ""}
    time = _value(registers, "processing_time")
    used = [Used(use.type.value, use.dataset, use.ordinal, _offsets(of)) for use, of in uses.items()]
    return Report(run["run_id"], run["_run"], None if time is None else micros(time), tuple(sorted(used)))


def reports(registers: Registers, uses: Mapping[UseKey, Registers]) -> set[Report]:
    """Every report of a micro-batch with one set of source end positions."""
    texts: Any = _value(registers, REPORTS)
    return {shown(registers, uses)} if texts is None else set(map(_report, texts))


def days(registers: Registers) -> set[int | None]:
    """Days from the epoch of all reports of a micro-batch with one set of source end positions; None: not stated."""
    texts: Any = _value(registers, REPORTS)
    if texts is not None:
        return {_report(text).day for text in texts}
    time = _value(registers, "processing_time")
    return {None if time is None else day_of(time)}


def keep_reports(registers: Registers, uses: Mapping[UseKey, Registers], found: set[Report]) -> None:
    """Keep reports in the registers, unless there is only one and the registers show it."""
    if found != {shown(registers, uses)}:
        stamp, _ = registers["provenance"]
        registers[REPORTS] = (stamp, sorted(json.dumps(report, separators=(",", ":")) for report in found))


def _report(text: str) -> Report:
    run_id, run, time, uses = json.loads(text)
    used = (Used(type_, dataset, ordinal, tuple(offsets)) for type_, dataset, ordinal, offsets in uses)
    return Report(run_id, run, time, tuple(used))


def _offsets(registers: Registers) -> tuple[int, ...]:
    position: Any = _value(registers, "position") or {}
    if position.get("position") != "kafka":
        return ()
    pieces = zip(position["partitions"], position["from"], position["to_exclusive"], strict=True)
    return tuple(number for piece in pieces for number in piece)


def _value(registers: Registers, name: str) -> Any:
    cell = registers.get(name)
    return None if cell is None else cell[1]
