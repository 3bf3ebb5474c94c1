"""Options of `trace`, `blast` and `impact`: parsing of ranges, times and durations."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from headwater.console import shortened
from headwater.errors import InputError
from headwater.settings import connected_settings
from headwater.times import parse_time
from headwater_analysis.trace import ArrivedRecords, Offsets, Path, Starts, Times, VersionOf, parse_offsets
from headwater_schemas.events import DatasetRef
from headwater_schemas.ranges import MOST_OFFSET, Range, RangeError, parse_range

HorizonOption = Annotated[
    str | None,
    typer.Option(
        "--horizon",
        help="Longest time that a query keeps a record behind its watermark: the sum of the watermark's delay and the "
        "length of a window. Written as 90s, 10m, 3h or 2d. Default: as the query reported; for ever without a report.",
    ),
]
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_MOST_SECONDS = 365_250 * 86_400


def parse_duration(text: str | None) -> timedelta | None:
    """Parse a duration: `90s`, `10m`, `3h`, `2d`.

    Raises:
        typer.BadParameter: the text isn't a duration.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)", text.strip())
    if found is None:
        raise typer.BadParameter(f"{shortened(text)!r} is no duration; write 90s, 10m, 3h or 2d.")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > _MOST_SECONDS:
        # A time so long ago may be outside the range of dates.
        raise typer.BadParameter(f"{shortened(text)!r} is longer than a thousand years.")
    return timedelta(seconds=seconds)


RANGES_HELP = "A range doesn't include its end: 120..130 is 120 to 129."
"""Text on ranges for `--help`; `headwater_schemas.ranges` defines the notation."""


def arrived(
    names: Sequence[DatasetRef], cluster_ids: Collection[str], start: datetime, end: datetime
) -> ArrivedRecords:
    """Look up arrivals at the configured Kafka; see `Arrivals`."""
    from headwater.kafka_arrivals import KafkaArrivals  # imports Kafka's client, which few questions need

    kafka = connected_settings({}, kafka=True, silently=True).kafka
    return KafkaArrivals(kafka, follows_names=True)(names, cluster_ids, start, end)


def range_option(text: str, *, of_partition: bool = False, hint: str | None = None) -> Range:
    """Parse a range: `120`, `120..130`, `120..`; with `of_partition` also `0:120..130`.

    Raises:
        typer.BadParameter: the text isn't a range. The message has the notation.
    """
    try:
        return parse_range(text, of_partition=of_partition)
    except RangeError as error:
        raise typer.BadParameter(shortened(str(error), 300), param_hint=hint) from error


RecordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PARTITION OFFSETS",
        help=f"Records: 0 120, or 0 120..130. {RANGES_HELP} Several at once: 0:120..130 1:88; all is every partition. "
        "Instead of offsets: the time when the records arrived, 2025-01-31T12:00, or two times with .. between.",
    ),
]
ReadTimeOption = Annotated[
    bool,
    typer.Option(
        "--read-time",
        help="The given times are times when micro-batches and runs read the records (with --back: wrote the records), "
        "not times when the records arrived in Kafka.",
    ),
]
_HOW = "Name a topic's records by PARTITION and OFFSETS: 0 120..130, or 0:120..130; all is every partition."
_OF_PARTITION = re.compile(r"(?:\d{1,9}|all):", re.ASCII)


def complete_path(path: str) -> str:
    """Make an existing relative path absolute; any other text may be a part of a path, such as `dt=2025-01-31`."""
    exists = "://" not in path and os.path.exists(path)  # noqa: PTH110 - pathlib raises for a name that is too long
    return os.path.abspath(path) if exists else path  # noqa: PTH100 - resolve() follows links, and Spark doesn't


def parse_records(
    topic: str, words: Sequence[str], topic_id: str | None, *, read_time: bool = False
) -> tuple[Offsets | Times, ...]:
    """Parse the words after a topic: `0 120..130`, `0:120..130 1:88`, `all`, `all 120..`, `all 2025-01-31T12:00`.

    Raises:
        typer.BadParameter: a partition isn't a number, or the text has neither offsets nor a time.
    """
    first, *others = words or [""]
    named = [word == "all" or _OF_PARTITION.match(word) is not None for word in words]
    if re.fullmatch(r"\d{1,9}|all", first, re.ASCII) and others and not any(named[1:]):
        words = [f"{first}:{word}" for word in others]
    elif not words or not all(named):
        raise typer.BadParameter(_HOW)
    return tuple(_records(topic, word, topic_id, read_time=read_time) for word in words)


def _records(topic: str, word: str, topic_id: str | None, *, read_time: bool) -> Offsets | Times:
    partition, _, rest = word.partition(":")
    if not re.match(r"\d{4}-\d\d", rest):
        try:
            return parse_offsets(topic, word, topic_id)
        except RangeError as error:
            raise typer.BadParameter(shortened(str(error), 300)) from error
    if topic_id is not None:
        raise typer.BadParameter("--topic-id goes with offsets only: for a time, the current topic in Kafka is asked.")
    first, dots, last = rest.partition("..")
    begin: datetime = parse_time(first)
    number = None if partition == "all" else int(partition)
    return Times(topic, number, begin, parse_time(last) if dots else begin, read=read_time)


def records_parameters(start: Starts) -> dict[str, Any]:
    """Parameters of a request for the start of a trace, or for bad records.

    Raises:
        InputError: a request can't express the start.
    """
    match start:
        case Path():
            return {"path": start.path}
        case VersionOf():
            return {"dataset": start.dataset, "version": start.version, "format": start.format}
        case (Times() as time) | (Times() as time,):
            named = {"topic": time.topic, "partition": time.partition, "time": time.start, "until": time.end}
            return {**named, "read_time": time.read or None}
    records = (start,) if isinstance(start, Offsets) else start
    offsets = [each for each in records if isinstance(each, Offsets)]
    if len(offsets) < len(records):
        raise InputError("A server accepts only one span of time, and no offsets together with it.")
    ranges = [_range_text(each) for each in offsets]
    return {"topic": offsets[0].topic, "range": ranges, "topic_id": offsets[0].topic_id}


def _range_text(records: Offsets) -> str:
    partition = "all" if records.partition is None else str(records.partition)
    return f"{partition}:{records.start}..{'' if records.end == MOST_OFFSET else records.end}"
