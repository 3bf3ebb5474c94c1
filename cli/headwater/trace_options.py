"""What `trace`, `blast` and `impact` take: ranges, times and durations, as people write them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated

import typer

from headwater.console import shortened
from headwater.times import parse_time
from headwater_consumers.analysis.trace import Offsets, Times
from headwater_schemas.ranges import MOST_OFFSET, Range, RangeError, parse_range

HorizonOption = Annotated[
    str | None,
    typer.Option(
        "--horizon",
        help="How long behind its watermark a query keeps a record: the watermark's delay and the length of a window "
        "together, 90s, 10m, 3h, 2d. Default: for ever.",
        show_default=False,
    ),
]
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_MOST_SECONDS = 365_250 * 86_400


def parse_duration(text: str | None) -> timedelta | None:
    """`90s`, `10m`, `3h`, `2d`.

    Raises:
        typer.BadParameter: it is none.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)", text.strip())
    if found is None:
        raise typer.BadParameter(f"{shortened(text)!r} is no duration; write 90s, 10m, 3h or 2d.")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > _MOST_SECONDS:
        # A time that long ago may have no date.
        raise typer.BadParameter(f"{shortened(text)!r} is longer than a thousand years.")
    return timedelta(seconds=seconds)


RANGES_HELP = "A range goes up to its end and without it: 120..130 is 120 to 129."
"""Ranges in `--help`; `headwater_schemas.ranges` has the notation."""


def range_option(text: str, *, of_partition: bool = False, hint: str | None = None) -> Range:
    """`120`, `120..130`, `120..`; with `of_partition` `0:120..130` too.

    Raises:
        typer.BadParameter: it is none of these; with how to write it.
    """
    try:
        return parse_range(text, of_partition=of_partition)
    except RangeError as error:
        raise typer.BadParameter(shortened(str(error), 300), param_hint=hint) from error


def parse_offsets(topic: str, partition: str, records: str | None, topic_id: str | None) -> Offsets:
    """Records of a topic, by `0` and `120..130`, or by both in one as answers show them: `0:120..130`.

    Raises:
        typer.BadParameter: they are neither.
    """
    if records is None:
        found = range_option(partition, of_partition=True)
        if found.partition is None:
            raise typer.BadParameter("Name a topic's records by PARTITION and OFFSETS: 0 120..130, or 0:120..130.")
        number = found.partition
    else:
        if not re.fullmatch(r"\d{1,9}", partition, re.ASCII):
            raise typer.BadParameter(f"{shortened(partition)!r} is no partition; write its number.")
        found, number = range_option(records), int(partition)
    return Offsets(topic, number, found.start, MOST_OFFSET if found.end is None else found.end, topic_id)


def parse_records(topic: str, partition: str, records: str | None, topic_id: str | None) -> Offsets | Times:
    """What TOPIC PARTITION OFFSETS name.

    Raises:
        typer.BadParameter: a partition that is no number, or neither offsets nor a time.
    """
    if records is None:
        return parse_offsets(topic, partition, records, topic_id)
    everywhere = partition == "all"
    if not everywhere and not re.fullmatch(r"\d{1,9}", partition):
        raise typer.BadParameter(f"{shortened(partition)!r} is no partition; write its number (all, with a time).")
    first, dots, last = records.partition("..")
    if not re.match(r"\d{4}-\d\d", first):
        if everywhere:
            raise typer.BadParameter("Offsets are of one partition; all goes with a time.")
        return parse_offsets(topic, partition, records, topic_id)
    begin: datetime = parse_time(first)
    return Times(topic, None if everywhere else int(partition), begin, parse_time(last) if dots else begin)
