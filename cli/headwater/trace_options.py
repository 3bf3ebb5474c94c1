"""What `trace` and `blast` take: offsets, times, durations and depths, as people write them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated

import typer

from headwater.asking import parse_time
from headwater.console import shortened
from headwater_consumers.analysis.trace import Offsets, Times

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
    return timedelta(seconds=float(found[1]) * _UNITS[found[2]])


def parse_range(text: str) -> tuple[int, int]:
    """`120`, or `120..130` from the first to before the last.

    Raises:
        typer.BadParameter: it is neither.
    """
    found = re.fullmatch(r"(\d{1,19})(?:\.\.(\d{1,19}))?", text)
    if found is None:
        raise typer.BadParameter(f"{shortened(text)!r} is no offset; write 120, or 120..130 for 120 up to 129.")
    start = int(found[1])
    return start, int(found[2]) if found[2] is not None else start + 1


def parse_records(topic: str, partition: str, records: str, topic_id: str | None) -> Offsets | Times:
    """What TOPIC PARTITION OFFSET name.

    Raises:
        typer.BadParameter: a partition that is no number, or neither an offset nor a time.
    """
    everywhere = partition == "all"
    if not everywhere and not re.fullmatch(r"\d{1,9}", partition):
        raise typer.BadParameter(f"{shortened(partition)!r} is no partition; write its number (all, with a time).")
    if re.fullmatch(r"[\d.]+", records):
        if everywhere:
            raise typer.BadParameter("Offsets are of one partition; all goes with a time.")
        start, end = parse_range(records)
        return Offsets(topic, int(partition), start, end, topic_id)
    first, dots, last = records.partition("..")
    begin: datetime = parse_time(first)
    return Times(topic, None if everywhere else int(partition), begin, parse_time(last) if dots else begin)
