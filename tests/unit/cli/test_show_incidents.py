"""Incidents for people: an answer that is incomplete says so in the line of its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from headwater.incident import views
from headwater.incident.details import MOST_ROWS
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.incidents.answers import IncidentPage, IncidentReach, ReachChange, RecordedReach
from headwater_analysis.incidents.gate import GateAnswer, Hold
from headwater_analysis.incidents.recording import is_changed
from headwater_analysis.incidents.unknown import with_unknown
from headwater_analysis.trace import Part, PartKind
from headwater_analysis.trace.traced_parts import Hop, RunBrief, Step, StepKind
from headwater_graph.incidents import IncidentStatus
from headwater_schemas.events import Certainty, IncidentSeverity
from support.incidents import AT, BRIEF, RECORDS, a_spreading, an_incident, offsets, reach, some

RECORDED = RecordedReach(as_of=AT, complete=True, datasets=1, cleared=0, changes=())


def printed(view: RenderableType, width: int = 250) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def test_the_parts_are_in_the_order_of_the_work() -> None:
    spreading = (a_spreading("enrich"),)
    found = reach(bad=2, clean=1, unknown_extent=1, is_unknown=True, truncated=True, spreading=spreading)
    text = printed(views.incident_view(an_incident(found)))
    headings = (
        "INC-1a2b3c4d5e  Negative delays",
        "Scope",
        "Consumers that read bad data: 0",
        "Datasets with bad data: 3",
        "Replaced, dropped or repaired: parts of 1 dataset, 1 clean again",
        "May still spread",
        "Not known to be reached",
        "Can't be known",
        "The reach isn't recorded yet",
        "History",
    )
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "0:120..130: Declared repaired by ann: Ran again." in text
    assert "enrich may write output" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"is_unknown": True}, "not known: 1 part of the scope"),
        ({"unknown_extent": 2}, "not known: the extent in 2 datasets"),
        ({"truncated": True}, "not known: what is beyond a limit that was reached"),
        (
            {"is_unknown": True, "unknown_extent": 1, "truncated": True},
            "not known: 1 part of the scope, the extent in 1 dataset, what is beyond a limit that was reached",
        ),
    ],
)
def test_every_count_has_what_is_not_known_in_its_line(options: dict[str, bool | int], words: str) -> None:
    found = an_incident(reach(**options))  # type: ignore[arg-type]
    assert found.reach is not None
    assert views.unknown_words(found.reach) == words
    counts = [line for line in printed(views.incident_view(found)).splitlines() if "bad data:" in line]
    assert len(counts) == 2
    assert [line.rstrip().endswith(f"; {words}") for line in counts] == [bool(words)] * 2
    assert views.reach_summary(found).endswith(
        f"; {words}." if words else "1 dataset with bad data, 0 clean again, 0 consumers to notify."
    )


def headings(found: IncidentReach) -> dict[str, list[str]]:
    """Lines below each heading of unknown facts."""
    lines = [each.rstrip() for each in printed(views.incident_view(an_incident(found))).splitlines()]
    names = [name for name in ("Not known to be reached", "Can't be known") if name in lines]
    begins = {name: lines.index(name) + 1 for name in names}
    return {name: lines[begin : lines.index("", begin)] for name, begin in begins.items()}


NO_DATASET = f"{RECORDS}: The graph doesn't have this dataset."
UNREAD = "No known job read the bad data in n/d0. Jobs that aren't captured may have read it."
LIMIT = "A limit was reached, so there may be more: raise --limit."


def test_what_no_link_leads_to_and_what_is_recorded_too_little_are_apart() -> None:
    unknown = reach(unknown_extent=1, is_unknown=True, truncated=True)
    assert headings(unknown) == {
        "Not known to be reached": [NO_DATASET, LIMIT],
        "Can't be known": ["n/u0: the extent of the bad data there isn't known."],
    }
    assert headings(reach()) == {"Not known to be reached": [UNREAD]}
    assert headings(reach(bad=0, clean=1)) == {}


def test_a_part_of_the_scope_with_data_of_unknown_extent_is_recorded_too_little() -> None:
    found = reach(bad=0, is_unknown=True)
    vague = replace(found.scope[0], parts=(some("raw"),), why="Unknown which part it wrote.")
    sure = replace(found.scope[0], parts=(offsets("raw"),), why="No known job reads or writes this dataset.")
    assert headings(with_unknown(replace(found, scope=(vague, sure)))) == {
        "Not known to be reached": [f"{RECORDS}: No known job reads or writes this dataset."],
        "Can't be known": [f"{RECORDS}: Unknown which part it wrote."],
    }


def test_a_dataset_that_a_known_step_read_is_no_end_of_the_lineage() -> None:
    step = Step(kind=StepKind.RUN, job=None, runs=())
    hop = Hop(
        number=1,
        depth=1,
        after=(),
        step=step,
        inputs=(offsets("d0"),),
        outputs=(offsets("d1"),),
        certainty=Certainty.EXACT,
        overall=Certainty.EXACT,
        why="",
    )
    found = reach(bad=2)
    [line] = with_unknown(replace(found, blast=replace(found.blast, hops=(hop,)))).not_known_to_be_reached
    assert line == UNREAD.replace("d0", "d1")


def test_consumers_that_nobody_declared_repaired_are_in_the_summary() -> None:
    summary = views.reach_summary(an_incident(reach(bad=0, undeclared=("board", "mails"))))
    assert summary == (
        "0 datasets with bad data, 0 clean again, 0 consumers to notify; 2 consumers of the scope (board, mails) "
        "aren't declared repaired."
    )


def test_a_limit_that_only_the_scope_met_is_named() -> None:
    found = replace(reach(), complete=False)
    assert views.unknown_words(found) == "not known: what is beyond a limit that was reached"


def test_what_changed_since_the_record() -> None:
    changes = tuple(
        ReachChange(dataset=f"n/d{number}", change=change)
        for number, change in enumerate(("REACHED", "REACHED", "CLEARED", "CHANGED", "NOT_REACHED", "REACHED"))
    )
    recorded = replace(RECORDED, changes=changes, complete=False)
    assert views.recorded_words(recorded) == (
        "Since the record of 2025-01-31 12:00:00Z, which wasn't complete: reached 3 more, 1 cleared, other parts in 1, "
        "1 not reached any more (n/d0, n/d1, n/d2, n/d3, n/d4 and 1 more)."
    )
    assert views.recorded_words(RECORDED).endswith(": nothing changed.")
    assert views.recorded_words(RECORDED, asked=False) == (
        "Recorded as of 2025-01-31 12:00:00Z: 1 dataset with bad data, 0 clean again."
    )


def test_parts_that_are_new_or_gone_since_the_record() -> None:
    def files(*names: str) -> tuple[Part, ...]:
        of = Asset(AssetKind.DATASET, "d", "n", "d")
        return (Part(dataset=of, kind=PartKind.FILES, certainty=Certainty.EXACT, files=names, file_count=len(names)),)

    job = Asset(AssetKind.JOB, "j", "n", "enrich")
    run = Step(kind=StepKind.RUN, job=job, runs=(RunBrief(run_id="r"),))
    batches = Step(kind=StepKind.MICRO_BATCHES, job=job, runs=(), first_batch=7, last_batch=8)
    by: dict[str, Any] = {"by": (batches, run), "by_total": 2}
    changes = (
        ReachChange(dataset="n/a", change="CHANGED", new=files("p/2", "p/3"), gone=files("p/1"), **by),
        ReachChange(dataset="n/b", change="CHANGED", new=files("p/2"), exact=False),
        ReachChange(dataset="n/c", change="CHANGED", exact=False),
        ReachChange(dataset="n/d", change="CHANGED"),
        ReachChange(dataset="n/e", change="REACHED"),
        ReachChange(dataset="n/f", change="REACHED", by=(run,), by_total=1),
        ReachChange(dataset="n/g", change="CLEARED", by=(run,), by_total=1),
    )
    assert views.changed_lines(replace(RECORDED, changes=changes)) == [
        "  n/a: new: 2, 3, by enrich batches 7..9, enrich (run r); gone: 1",
        "  n/b: new: 2; not exact: some parts aren't listed in full",
        "  n/c: not exact: some parts aren't listed in full",
        "  n/d: only the certainty of some parts changed",
        "  n/f: reached by enrich (run r)",
        "  n/g: reached by enrich (run r); clean again",
    ]
    many = tuple(ReachChange(dataset=f"n/{number}", change="CHANGED") for number in range(MOST_ROWS + 2))
    assert views.changed_lines(replace(RECORDED, changes=many))[MOST_ROWS:] == [
        "  … and 2 more datasets; --json lists all"
    ]


def test_without_its_reach_the_scope_and_the_record_are_shown() -> None:
    found = replace(an_incident(None), recorded=RECORDED)
    text = printed(views.incident_view(found))
    assert BRIEF.scope[0] in text
    assert "Recorded as of" in text
    assert "Datasets with bad data" not in text
    assert views.reach_summary(found) == ""


def test_the_list_tells_an_incident_that_nobody_asked_about() -> None:
    asked = replace(BRIEF, incident="INC-2", reached_datasets=1, reached_as_of=AT)
    arriving = replace(BRIEF, incident="INC-3", status=None, severity=None, title=None)
    _, first, second, third = printed(
        views.incidents_table(IncidentPage((BRIEF, asked, arriving), 3, None))
    ).splitlines()
    assert "not recorded yet" in first
    assert "1 dataset as of 2025-01-31 12:00:00Z" in second
    assert "not opened" in third


@pytest.mark.parametrize(
    ("status", "words"),
    [(IncidentStatus.ACK, "Ack"), (None, "without its opening, which isn't in the graph")],
)
def test_a_state(status: IncidentStatus | None, words: str) -> None:
    assert views.status_words(replace(BRIEF, status=status)) == words


def test_a_record_is_due_without_one_and_where_it_differs() -> None:
    found = an_incident(reach())
    assert is_changed(found)
    assert not is_changed(replace(found, recorded=RECORDED))
    changes = (ReachChange(dataset="n/d0", change="CHANGED"),)
    assert is_changed(replace(found, recorded=replace(RECORDED, changes=changes)))
    assert is_changed(replace(found, recorded=replace(RECORDED, complete=False)))


def test_the_gate() -> None:
    free = GateAnswer(
        dataset=Asset(AssetKind.DATASET, "d", "n", "d"),
        partition="day=1",
        holds=(),
        is_free=True,
        checked=2,
        truncated=False,
    )
    assert "n/d  day=1 is free: none of 2 open incidents covers it." in printed(views.gate_view(free))
    hold = Hold(
        incident="INC-1", title="T", severity=IncidentSeverity.SEV1, certainty=Certainty.UNKNOWN, why="Not fully known."
    )
    held = printed(views.gate_view(replace(free, is_free=False, holds=(hold,))))
    assert "is held." in held
    assert "Not fully known." in held
    assert "More incidents are open" in printed(views.gate_view(replace(free, is_free=False, truncated=True)))
