"""Verdicts of safety that would be false: one graph, and by hand what each question has to say of it.

A verdict of safety (NONE, 0, nothing, holds) is only given where nothing on the way is unknown and nobody known is
affected. Where that isn't so, the answer has the words in its first lines.
"""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from headwater.cli import main
from headwater_analysis.declaring.reading import read_set
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from support.analysis.written import plan, table
from support.gate import named_in_gate
from support.graph.colliding import PRODUCER, START
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_stack")]


LATER = START + timedelta(days=1)
BEFORE, BETWEEN = (f"{START + timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}" for hours in (1, 48))


def ran(
    job: str,
    reads: str,
    writes: str,
    *,
    possible: bool = False,
    at: datetime = START,
    type_: RunEventType = RunEventType.COMPLETE,
    number: int = 0,
) -> LineageEvent:
    """The run of this number; `possible`: each input is only possibly a source."""
    body = RunEvent(
        type=type_,
        inputs=tuple(DatasetUse(dataset=DatasetRef("w", name)) for name in reads.split()),
        outputs=tuple(DatasetUse(dataset=DatasetRef("w", name), possible=possible) for name in writes.split()),
    )
    run = RunRef(f"0197c1de-0000-7bd1-9d55-{zlib.crc32(job.encode()) + number:012}")
    return build.lineage_event(body, job=JobRef("j", job), run=run, producer=PRODUCER, event_time=at)


EVENTS: list[LineageEvent] = [
    # Read by a dashboard itself, and by a job that leaves `gone` out.
    table("sales", ["id", "gone", "other"]),
    plan("sums", "sales.id > totals.id COPY"),
    table("stock", ["id", "gone"]),
    plan("count", "stock.id > counts.id COPY"),
    # createDataFrame(customers.toPandas()): what reached the program is a possible input, and no edge has a source.
    table("customers", ["name", "email"]),
    plan("newsletter", "letters.* > letters.email UNKNOWN", complete=False),
    ran("newsletter", "customers", "letters", possible=True),
    # A run without column lineage, a plan with a hole, a UDF over all of a dataset.
    table("people", ["name", "email"]),
    ran("legacy", "people", "dump"),
    table("clients", ["name", "email"]),
    plan("partly", "clients.name > part.name COPY", complete=False),
    table("patients", ["name", "email"]),
    plan("closed", "patients.* > box.x EXTERNAL"),
    # A payload that is copied whole, twice, and read field by field after that; and one that is made whole.
    table("in", ["value", "value.email", "value.id"], type="TOPIC"),
    plan("mirror", "in.value > mid.value COPY"),
    table("mid", ["value", "value.email", "value.id"], type="TOPIC"),
    plan("parse", "mid.value.email > found.email CAST", "mid.value.id > found.id CAST"),
    # Field by field all the way: what the other field goes into isn't made of this one.
    table("apart", ["at struct<city:string,zip:string>", "at.city", "at.zip"]),
    plan(
        "split", "apart.at > copied.at COPY", "apart.at.city > copied.at.city COPY", "apart.at.zip > copied.at.zip COPY"
    ),
    table("copied", ["at struct<city:string,zip:string>", "at.city", "at.zip"]),
    plan("zips", "copied.at.zip > zips.zip COPY"),
    # Read by a run that reports no output, of a job without any and of one that has some of something else.
    table("watched", ["id", "gone"]),
    ran("watcher", "watched", ""),
    table("peeked", ["id", "gone"]),
    ran("peeker", "peeked", ""),
    plan("peeker", "leaf.id > peeks.id COPY"),
    table("ticks", ["value"], type="TOPIC"),
    ran("ticker", "ticks", ""),
    # The latest run reports no column lineage, after one that did; of another job it goes on.
    table("noted", ["id", "unused"]),
    plan("forgetful", "noted.id > notes.id COPY"),
    ran("forgetful", "noted", "notes", at=LATER),
    table("begun", ["id", "unused"]),
    plan("working", "begun.id > works.id COPY"),
    ran("working", "begun", "works", at=LATER, type_=RunEventType.START),
    # Asked of a day between two such runs.
    table("lapsed", ["id", "unused"]),
    plan("lapse", "lapsed.id > lapses.id COPY"),
    ran("lapse", "lapsed", "lapses", at=LATER),
    ran("lapse", "lapsed", "lapses", at=LATER + timedelta(days=2), number=1),
    # Two hops on, or up, a job reports no column lineage, and one no output.
    table("spring", ["id"]),
    plan("first", "spring.id > brook.id COPY"),
    ran("muddy", "brook", "pond"),
    ran("gauge", "brook", ""),
    ran("rain", "cloud", "spring"),
    # Nothing reports who uses it.
    table("alone", ["id"]),
    # What is known, and all of it.
    table("leaf", ["id", "unused"]),
    plan("leaves", "leaf.id > end.id COPY"),
    # A column that a later schema is without; and hops to look beyond.
    table("changed", ["id", "was"]),
    table("changed", ["id"], at=START + timedelta(days=1)),
    table("far", ["id", "gone"]),
    plan("near", "far.id > here.id COPY", "here.id > there.id COPY"),
    # One column, by Spark and by Trino; and two, of a store that is case-sensitive.
    plan("load", "first.a > mixed.MyColumn COPY"),
    table("mixed", ["MyColumn"]),
    table("mixed", ["mycolumn"], at=START + timedelta(days=1)),
    plan("report", "mixed.mycolumn > last.v COPY"),
    table("two", ["A", "a"]),
    plan("upper", "two.A > uppers.v COPY"),
    plan("lower", "two.a > lowers.v COPY"),
]
DECLARED = """
set: s
namespace: w
datasets:
- {name: in, columns: {value.email: {sensitivity: PII}}}
- {name: customers, columns: {email: {sensitivity: PII}}}
consumers:
- {name: board, type: DASHBOARD, criticality: tier-1, reads: [{dataset: sales, columns: [gone]}]}
- {name: sheet, type: REPORT, reads: [stock]}
- {name: mails, type: API, reads: [{dataset: in, columns: [value]}]}
"""


class Case(NamedTuple):
    """A question, and words that its answer has and hasn't."""

    name: str
    command: str
    has: tuple[str, ...]
    hasnt: tuple[str, ...] = ()


UNSAFE = ("NONE", "nothing", "Nothing")
CASES = [
    Case("a dashboard names the column", "impact sales -c gone --change removed", ("BREAKING", "1 declared"), UNSAFE),
    Case("its name changes", "impact sales -c gone --change renamed --to went", ("BREAKING",), UNSAFE),
    Case("its unit changes", "impact sales -c gone --change unit", ("BREAKING", "1 BREAKING"), UNSAFE),
    Case("its values are wrong", "impact sales -c gone --type data_incorrect", ("CRITICAL",), ("INFO", *UNSAFE)),
    Case("the dataset goes", "impact sales --type asset_deprecated", ("BLOCKING", "consumer"), UNSAFE),
    Case("a dashboard names another column", "impact sales -c other --change removed", ("NONE", "Nothing")),
    Case("a report reads all of it", "impact stock -c gone --change removed", ("DEGRADED", "1 declared"), UNSAFE),
    Case("a report reads all of it, late", "impact stock --type freshness_breach", ("BLOCKING",), UNSAFE),
    Case("through pandas", "impact customers -c email --change removed", ("UNKNOWN", "newsletter"), UNSAFE),
    Case("through pandas, wrong", "impact customers --type data_incorrect", ("UNKNOWN", "newsletter"), UNSAFE),
    Case("through pandas, privacy", "privacy customers -c email", ("UNKNOWN", "newsletter"), UNSAFE),
    Case("through pandas, lineage", "downstream customers -c email", ("UNKNOWN", "newsletter"), UNSAFE),
    Case("through pandas, deletion", "may-delete customers", ("is incomplete", "newsletter"), ("may be deleted",)),
    Case("a silent job", "impact people -c email --change removed", ("DEGRADED", "not known", "legacy"), UNSAFE),
    Case("a silent job, privacy", "privacy people -c email --as pii", ("UNKNOWN", "legacy"), UNSAFE),
    Case("a silent job, lineage", "downstream people -c email", ("UNKNOWN", "legacy"), UNSAFE),
    Case("a plan with a hole", "impact clients -c email --change removed", ("DEGRADED", "not known", "partly"), UNSAFE),
    Case("a plan with a hole, privacy", "privacy clients -c email --as pii", ("UNKNOWN", "partly"), UNSAFE),
    Case("a plan with a hole, lineage", "downstream clients -c email", ("UNKNOWN", "partly"), UNSAFE),
    Case("a closed UDF", "impact patients -c email --change removed", ("DEGRADED", "closed"), UNSAFE),
    Case("a closed UDF, privacy", "privacy patients -c email --as pii", ("1 column",), ("0 columns",)),
    Case("a whole payload", "downstream in -c value.email --depth all", ("mid", "found"), ("0 downstream",)),
    Case("a whole payload, impact", "impact in -c value.email --change removed", ("mirror", "mails"), UNSAFE),
    Case("a whole payload, privacy", "privacy in -c value.email", ("mid", "found"), ("0 columns",)),
    Case("a whole payload, check", "check --rule sensitive-downstream", ("mid", "value"), ("hold",)),
    Case(
        "columns that aren't known, check",
        "check --rule sensitive-downstream",
        ("UNKNOWN: the use of sensitive columns by newsletter",),
        ("hold",),
    ),
    Case("a field of what was made whole", "upstream found -c email --depth all", ("mid", "in"), ("0 upstream",)),
    Case("its other field", "downstream mid -c value.email", ("found#email",), ("found#id",)),
    Case("fields that a plan keeps apart", "downstream apart -c at.city --depth all", ("copied",), ("zips",)),
    Case("fields kept apart, impact", "impact apart -c at.city --type data_incorrect", ("copied",), ("zips",)),
    Case("read without an output", "impact watched -c gone --change removed", ("UNKNOWN", "watcher"), UNSAFE),
    Case("read without an output, wrong", "impact watched --type data_incorrect", ("UNKNOWN", "watcher"), UNSAFE),
    Case("read without an output, lineage", "downstream watched -c gone", ("UNKNOWN", "watcher")),
    Case("read without an output, datasets", "downstream watched", ("UNKNOWN", "watcher")),
    Case("read without an output, privacy", "privacy watched -c gone --as pii", ("watcher reads sensitive values",)),
    Case("read without an output of it", "impact peeked -c gone --change removed", ("UNKNOWN", "peeker"), UNSAFE),
    Case(
        "read without an output of it, privacy", "privacy peeked -c gone --as pii", ("peeker reads sensitive values",)
    ),
    Case("read without an output, blast", "blast ticks 0 0..10", ("UNKNOWN: ticker reads bad data",)),
    Case("reviewed, read without an output", "review --dataset watched id.sql", ("UNKNOWN", "watcher")),
    Case("unknown, two hops on", "downstream spring -c id --depth all", ("may be more", "muddy", "gauge")),
    Case("unknown, two hops on, datasets", "downstream spring --depth all", ("pond", "may be more", "gauge")),
    Case("unknown, two hops on, impact", "impact spring -c id --change removed", ("BREAKING", "gauge")),
    Case("unknown, beyond the depth", "downstream spring -c id --depth 1", ("1 downstream",), ("muddy",)),
    Case("unknown, two hops up", "upstream brook -c id --depth all", ("may be more", "rain")),
    Case("columns of an earlier run", "impact noted -c unused --change removed", ("not known", "forgetful"), UNSAFE),
    Case("columns of an earlier run, privacy", "privacy noted -c unused --as pii", ("UNKNOWN", "forgetful")),
    Case("columns of an earlier run, lineage", "downstream noted -c unused", ("UNKNOWN", "forgetful"), UNSAFE),
    Case("a later run goes on", "impact begun -c unused --change removed", ("NONE", "Nothing"), ("UNKNOWN",)),
    Case(
        "columns of an earlier run, then",
        f"downstream lapsed -c unused --as-of {BETWEEN}",
        ("UNKNOWN", "lapse"),
        UNSAFE,
    ),
    Case(
        "columns of a run, then",
        f"downstream lapsed -c id --as-of {BEFORE}",
        ("lapses#id",),
        ("UNKNOWN", "may be more"),
    ),
    Case("nobody reports its use", "impact alone -c id --change removed", ("UNKNOWN", "no event"), UNSAFE),
    Case("nobody reports its use, deletion", "may-delete alone", ("is incomplete", "No event"), ("may be deleted",)),
    Case("a column that is gone", "upstream changed -c was", ("changed#was (gone)",)),
    Case("a column that is gone, downstream", "downstream changed -c was", ("changed#was (gone)",)),
    Case("a column that isn't gone", "upstream changed -c id", ("changed#id",), ("(gone)",)),
    Case("another spelling", "downstream first -c a --depth all", ("mixed#mycolumn", "last#v"), ("MyColumn", "gone")),
    Case("another spelling, upstream", "upstream last -c v --depth all", ("mixed#mycolumn", "first#a")),
    Case("another spelling, asked for", "downstream mixed -c MYCOLUMN", ("mixed#mycolumn", "last#v"), ("(gone)",)),
    Case("another spelling, impact", "impact first -c a --change removed", ("BREAKING", "report"), UNSAFE),
    Case("another spelling, privacy", "privacy first -c a --as pii", ("mycolumn PII", "v PII"), ("0 columns",)),
    Case("two columns but for case", "downstream two -c a", ("lowers#v",), ("uppers",)),
    Case("beyond the depth", "impact far -c id --change removed --depth 1", ("beyond this depth",), UNSAFE),
    Case("by a part of its name", "impact w/sales -c gone --change removed", ("BREAKING",), UNSAFE),
    Case("reviewed, nobody reports its use", "review --dataset alone other.sql", ("UNKNOWN", "no event"), UNSAFE),
    Case("reviewed, all is known", "review --dataset leaf id.sql", ("NONE",), ("UNKNOWN",)),
    Case("all is known", "impact leaf -c unused --change removed", ("NONE", "Nothing"), ("UNKNOWN",)),
]


SILENT = """
CREATE (:HwProgress {key: 'lineage.events/0', topic: 'lineage.events', topic_id: '', partition: 0, next_offset: 7,
  end_offset: 7, at: datetime() - duration('PT2H')})
"""
STALE = [
    Case("impact", "impact leaf -c unused --change removed", ("UNKNOWN", "no consumer has reported"), UNSAFE),
    Case("deletion", "may-delete end", ("is incomplete", "stale"), ("may be deleted",)),
    Case("review", "review --dataset leaf id.sql", ("UNKNOWN", "no consumer has reported"), UNSAFE),
    Case("rules", "check --rule broken-chains", ("UNKNOWN", "stale")),
    Case("privacy", "privacy leaf -c id --as pii", ("stale",)),
    Case("lineage", "downstream end", ("0 downstream", "stale")),
    Case("search", "search nobody", ("stale",)),
]


@pytest.fixture
def graph(neo4j_driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """The graph of these events, and schemas to review in the working directory."""
    monkeypatch.chdir(tmp_path)
    for column in ("id", "other"):
        (tmp_path / f"{column}.sql").write_text(f"CREATE TABLE t ({column} STRING)")
    declared = read_set("s.yaml", DECLARED.lstrip()).events(1, tenant="default", event_time=START)
    return hold(neo4j_driver, "what is safe", [*EVENTS, *declared])


IN_GATE = {
    "a dashboard names the column",
    "a report reads all of it",
    "through pandas",
    "through pandas, privacy",
    "through pandas, deletion",
    "a silent job, lineage",
    "a plan with a hole",
    "a whole payload, privacy",
    "a whole payload, check",
    "fields that a plan keeps apart",
    "read without an output",
    "read without an output, blast",
    "reviewed, read without an output",
    "unknown, two hops on",
    "unknown, two hops up",
    "columns of an earlier run, privacy",
    "nobody reports its use",
    "another spelling",
    "beyond the depth",
    "all is known",
}
"""Each sort of knowledge that may be missing once, each by another question. The nightly run asks all of each."""


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize("case", named_in_gate(IN_GATE, CASES, lambda case: case.name))
def test_no_verdict_of_safety_is_false(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    check_answer(case, capsys)


def test_no_verdict_of_safety_is_of_a_graph_that_lags_behind(
    graph: Driver, subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]
) -> None:
    graph.execute_query(SILENT)
    for case in STALE:
        with subtests.test(case.name):
            check_answer(case, capsys)


def check_answer(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """Ask the question, and compare the words of its answer."""
    main(case.command.split())
    shown = capsys.readouterr()
    text = " ".join((shown.out + shown.err).split())
    assert [word for word in case.has if word not in text] == [], text
    assert [word for word in case.hasnt if word in text] == [], text
