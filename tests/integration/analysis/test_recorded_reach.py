"""Recorded reach of incidents, and the differences to the reach as the graph is now."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.incidents.answers import RecordedReach
from headwater_analysis.incidents.questions import incident
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Part
from headwater_schemas.events import DatasetRef, IncidentAction, IncidentScope
from support.analysis.chains import Stream, files_use, in_tens, ran, replacing, topic, write
from support.analysis.incident_events import INCIDENT, LATER, act, offsets, opened, recorded

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

IN, MID, REPORT = topic("in"), topic("mid"), DatasetRef("file", "/lake/report")
FIRST, SECOND = in_tens("first", "in", "mid"), in_tens("second", "mid", "/lake/files")
"""Batch n of `first` reads and writes offsets 10n..10n+10, that of `second` writes part-n of them."""
REPORTED = ran("report", [files_use("/lake/files", ["part-2", "part-3"])], [replacing(REPORT)], 200)


def latest(reader: Reader) -> RecordedReach:
    found = incident(reader, INCIDENT).recorded
    assert found is not None
    return found


def changes(reader: Reader) -> list[tuple[str, str]]:
    return [(each.dataset.rpartition("/")[2], each.change) for each in latest(reader).changes]


def units(parts: tuple[Part, ...]) -> list[str]:
    found = []
    for part in parts:
        spans = [f"{span.start}..{span.end}" for span in part.offsets]
        found += spans or [path.rpartition("/")[2] for path in part.files] or [part.kind.value]
    return found


def changed(reader: Reader) -> dict[str, tuple[list[str], list[str], bool]]:
    """New and gone parts of datasets with other bad parts, and whether these are exact."""
    return {
        each.dataset.rpartition("/")[2]: (units(each.new), units(each.gone), each.exact)
        for each in latest(reader).changes
        if each.change == "CHANGED"
    }


def writers(reader: Reader) -> dict[str, list[str]]:
    """Jobs that wrote what is new, with the first and last micro-batch."""
    return {
        each.dataset.rpartition("/")[2]: [
            f"{step.job and step.job.name} {step.first_batch}-{step.last_batch}" for step in each.by
        ]
        for each in latest(reader).changes
        if each.by
    }


def record(driver: Driver, reader: Reader, hours: int) -> None:
    """Record the reach as the graph is now, and check that it then differs in nothing."""
    write(driver, events=[recorded(incident(reader, INCIDENT).asked_reach, hours)])
    assert latest(reader).changes == ()


def test_what_was_recorded_and_what_has_changed_since(clean_database: Driver, reader: Reader) -> None:
    """Reached, then another part of the scope, then a repair and a rerun, then a smaller scope."""
    write(clean_database, FIRST, SECOND, events=[REPORTED, opened(offsets(IN, 15, 16))])
    assert incident(reader, INCIDENT).recorded is None
    record(clean_database, reader, 1)
    found = latest(reader)
    assert (found.datasets, found.cleared, found.complete) == (3, 0, True)

    # With offset 25, 20..30 of `mid` and part-2 are bad too, and of part-2 was made the report.
    more = act(IncidentAction.SCOPE_CHANGED, offsets(IN, 25, 26), at=LATER + timedelta(hours=2))
    write(clean_database, events=[more])
    assert changes(reader) == [("files", "CHANGED"), ("report", "REACHED"), ("in", "CHANGED"), ("mid", "CHANGED")]
    assert changed(reader) == {
        "files": (["part-2"], [], True),
        "in": (["25..26"], [], True),
        "mid": (["20..30"], [], True),
    }
    assert writers(reader) == {"files": ["second 1-2"], "mid": ["first 1-2"], "report": ["report None-None"]}
    record(clean_database, reader, 3)

    good = ran("report", [files_use("/lake/files", ["part-9"])], [replacing(REPORT)], 400)
    fixed = act(IncidentAction.REPAIRED, IncidentScope(dataset=MID), at=LATER + timedelta(hours=4))
    write(clean_database, events=[good, fixed])
    assert changes(reader) == [("report", "CLEARED"), ("mid", "CLEARED")]
    record(clean_database, reader, 5)
    assert (latest(reader).datasets, latest(reader).cleared) == (2, 2)

    smaller = act(IncidentAction.SCOPE_CHANGED, removed=(offsets(IN, 25, 26),), at=LATER + timedelta(hours=6))
    write(clean_database, events=[smaller])
    assert changes(reader) == [("files", "CHANGED"), ("report", "NOT_REACHED"), ("in", "CHANGED")], "mid is cleared"
    assert changed(reader) == {"files": ([], ["part-2"], True), "in": ([], ["25..26"], True)}


def split(stream: Stream, *later: int) -> tuple[Stream, Stream]:
    """The micro-batches of a query that are known at once, and those that are known later."""
    early, late = replace(stream, entries=[]), replace(stream, entries=[])
    for entry in stream.entries:
        (late if entry.batch in later else early).entries.append(entry)
    return early, late


def test_a_late_micro_batch_that_read_the_bad_records(clean_database: Driver, reader: Reader) -> None:
    """Batches 2 and 3 read them. Until the event of batch 3 arrives, some part of the files may be bad."""
    early, late = split(SECOND, 3)
    write(clean_database, FIRST, early, events=[opened(offsets(IN, 25, 36))])
    record(clean_database, reader, 1)
    write(clean_database, late)
    assert changes(reader) == [("files", "CHANGED")]
    assert changed(reader) == {"files": (["part-3"], ["UNKNOWN"], False)}
    assert writers(reader) == {"files": ["second 2-3"]}
    record(clean_database, reader, 2)


def test_a_micro_batch_after_the_last_one_that_was_recorded(clean_database: Driver, reader: Reader) -> None:
    early, late = split(SECOND, 9)
    write(clean_database, FIRST, early, events=[opened(offsets(IN, 85, 96))])
    record(clean_database, reader, 1)
    write(clean_database, late)
    assert changes(reader) == [("files", "CHANGED")]
    assert changed(reader) == {"files": (["part-9"], [], True)}
    assert writers(reader) == {"files": ["second 8-9"]}


def test_micro_batches_that_were_recovered_from_a_checkpoint(clean_database: Driver, reader: Reader) -> None:
    """No event of batches 2 and 3 arrived. The checkpoint shows the offsets that they read, and their files."""
    early, lost = split(SECOND, 2, 3)
    write(clean_database, FIRST, early, events=[opened(offsets(IN, 15, 36))])
    record(clean_database, reader, 1)
    recovered = replace(lost, entries=[replace(entry, reconciled=True) for entry in lost.entries])
    write(clean_database, recovered)
    assert changes(reader) == [("files", "CHANGED")]
    assert changed(reader) == {"files": (["part-2", "part-3"], ["UNKNOWN"], False)}
    assert writers(reader) == {"files": ["second 2-3"]}
    record(clean_database, reader, 2)
