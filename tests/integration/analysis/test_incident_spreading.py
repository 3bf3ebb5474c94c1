"""Queries that may still write bad records: until when, by their own state, and by that of the queries before them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.planning.plan import plan
from headwater_analysis.incidents.unknown import left_words
from headwater_analysis.reader import Reader
from headwater_schemas.events import Certainty, LineageEvent
from integration.analysis.test_incidents import IN, MID, reach, starts, windows
from support.analysis.chains import BEGIN, Entry, Stream, files_use, in_tens, kafka_use, ran, write
from support.analysis.incident_events import INCIDENT, offsets, opened

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

BAD = opened(offsets(IN, 35, 36))


def test_a_query_that_may_still_write_of_bad_records(clean_database: Driver, reader: Reader) -> None:
    """After batch 3 the watermark is 00:45: with a horizon of 90 minutes, it may write of offset 35 until 02:15.

    Batch 7 leaves it at 01:45, and batch 10 at 02:30.
    """
    stream = windows(8)
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(offsets(IN, 35, 36))])
    [spreading] = reach(reader).spreading
    assert (spreading.query_name, spreading.until) == ("windows", BEGIN + timedelta(minutes=135))
    assert (spreading.watermark, spreading.is_over) == (BEGIN + timedelta(minutes=105), False)
    assert spreading.text == (
        "windows may still write output of these records until its watermark passes 2025-01-01 02:15:00 (now "
        "2025-01-01 01:45:00)."
    )
    write(clean_database, windows(11))
    [spreading] = reach(reader).spreading
    assert (spreading.watermark, spreading.is_over) == (BEGIN + timedelta(minutes=150), True)
    assert spreading.text == "windows writes no more output of these records: its state has dropped them."


def test_a_query_without_a_known_horizon_may_write_of_them_for_ever(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, windows(8), events=[opened(offsets(IN, 35, 36))])
    [spreading] = reach(reader).spreading
    assert (spreading.until, spreading.is_over) == (None, False)
    assert spreading.text == (
        "windows may write output of these records at any time: how long its state keeps a record isn't known."
    )


def test_a_query_whose_last_batch_shows_no_state_may_still_write(clean_database: Driver, reader: Reader) -> None:
    """The last one is known by the checkpoint alone."""
    stream = windows(8)
    stream.entries[7] = replace(
        stream.entries[7], reconciled=True, state_rows=None, watermark_before=None, watermark_after=None
    )
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(offsets(IN, 35, 36))])
    [spreading] = reach(reader).spreading
    assert (spreading.until, spreading.is_over) == (BEGIN + timedelta(minutes=135), False)


def texts(found: IncidentReach) -> dict[str, str]:
    return {each.query_name or "": each.text for each in found.spreading}


def after_q1(name: str) -> str:
    return (
        f"{name} may still write output of these records after q1: later output of q1 may contain more of them. Until "
        "when isn't known."
    )


def two_of_windows(first: int, second: int, *, reads: int) -> tuple[list[Stream], list[LineageEvent]]:
    """Stream in → q1 (windows, horizon of 90 minutes) → mid → q2 (windows, 30 minutes) → late.

    Args:
        first, second: number of micro-batches of q1 and q2; the watermark after batch n is 15 n minutes.
        reads: number of micro-batches of q2 that read mid; the others read another topic.
    """
    q1 = windows(first, name="q1", sink="mid")
    q2 = windows(second, name="q2", source="mid", sink="late", reads=reads)
    return [q1, q2], [*starts(q1, minutes=90), *starts(q2, minutes=30), BAD]


def test_a_query_behind_one_that_may_still_write_is_not_over(clean_database: Driver, reader: Reader) -> None:
    """Batch 3 of q1 reads offset 35 at 00:45, so q1 may write of it until 02:15; batch 7 leaves it at 01:45.

    Its batches 3 to 7 wrote mid 30..80. Batch 7 of q2 read the last of these at 01:45, so its own state drops them at
    02:15, and its batch 13 is at 03:15. But q1 may write more. So it is for queries without state that read mid (copy),
    what q2 wrote (tail), or what a batch run made of mid (last).
    """
    streams, events = two_of_windows(8, 14, reads=8)
    last = Stream("last", [Entry(10, (files_use("/lake/loaded", ["a"]),), (files_use("/lake/last", ["a"]),))])
    streams += [in_tens("copy", "mid", "/lake/copy", 8), in_tens("tail", "late", "/lake/tail", 8), last]
    loaded = ran("load", [kafka_use("mid", {0: (30, 40)}, Certainty.EXACT)], [files_use("/lake/loaded", ["a"])], 60)
    write(clean_database, *streams, events=[*events, loaded])
    found = reach(reader)
    assert texts(found) == {
        **{name: after_q1(name) for name in ("copy", "last", "q2", "tail")},
        "q1": "q1 may still write output of these records until its watermark passes 2025-01-01 02:15:00 (now "
        "2025-01-01 01:45:00).",
    }
    assert {(each.until, each.is_over) for each in found.spreading if each.query_name != "q1"} == {(None, False)}
    marks = {each.query_name or "": each.watermark for each in found.spreading}
    assert (marks["q2"], marks["copy"]) == (BEGIN + timedelta(minutes=195), None)
    assert left_words(found).endswith("; 5 queries (copy, last, q1, q2, tail) may still spread.")
    planned = plan(reader, INCIDENT)
    assert (planned.spreading, planned.nothing_left) == (tuple(texts(found)[name] for name in sorted(marks)), False)


@pytest.mark.parametrize(
    ("batches", "is_over", "text"),
    [
        (
            12,
            False,
            (
                "q2 may still write output of these records until its watermark passes 2025-01-01 03:00:00 (now "
                "2025-01-01 02:45:00)."
            ),
        ),
        (14, True, "q2 writes no more output of these records: its state has dropped them."),
    ],
)
def test_a_query_behind_one_that_is_over_has_its_own_time(
    clean_database: Driver, reader: Reader, batches: int, is_over: bool, text: str
) -> None:
    """Batch 10 of q1 leaves its watermark at 02:30, after 02:15: q1 wrote its last bad records, mid 30..110.

    Batch 10 of q2 read the last of these and left its watermark at 02:30: until 03:00. Its batch 11 leaves it at 02:45,
    and batch 13 at 03:15. The query without state has no line.
    """
    streams, events = two_of_windows(11, batches, reads=11)
    write(clean_database, *streams, in_tens("copy", "mid", "/lake/copy", 11), events=events)
    found = reach(reader)
    assert texts(found) == {
        "q1": "q1 writes no more output of these records: its state has dropped them.",
        "q2": text,
    }
    q2 = found.spreading[1]
    assert (q2.until, q2.is_over) == (BEGIN + timedelta(minutes=180), is_over)
    assert [each.query_name for each in found.may_spread] == ([] if is_over else ["q2"])


def test_a_part_that_both_an_open_query_and_the_scope_name(clean_database: Driver, reader: Reader) -> None:
    """Mid 30..80 is bad by itself, too, so the trace reaches q2 without q1."""
    streams, events = two_of_windows(8, 14, reads=8)
    both = opened(offsets(IN, 35, 36), offsets(MID, 30, 80))
    write(clean_database, *streams, events=[*events[:-1], both])
    assert texts(reach(reader))["q2"] == after_q1("q2")


def test_a_query_that_reads_its_own_output_again(clean_database: Driver, reader: Reader) -> None:
    """Output of q1 in mid comes back to q1 by q2, which keeps no state."""
    q1 = windows(8, name="q1", sink="mid")
    for entry in q1.entries[1:]:
        back = kafka_use("back", {0: (entry.batch * 10 - 10, entry.batch * 10)}, Certainty.EXACT)
        entry.inputs = (*entry.inputs, back)
    write(clean_database, q1, in_tens("q2", "mid", "back", 8), events=[*starts(q1, minutes=90), BAD])
    found = reach(reader)
    assert texts(found) == {
        "q1": "q1 may still write output of these records, and reads its own output again: until when isn't known.",
        "q2": after_q1("q2"),
    }
    assert {(each.until, each.is_over) for each in found.spreading} == {(None, False)}
