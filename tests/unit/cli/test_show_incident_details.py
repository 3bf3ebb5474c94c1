"""Columns of a fault and first bad runs for people: an answer that is incomplete says so in the line of its number."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from headwater.incident import views
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.incidents.answers import (
    AffectedJob,
    BadSince,
    DatasetOwners,
    IncidentReach,
    ReachedColumn,
    ReachedVersion,
    UnknownColumns,
    WritingStep,
)
from headwater_analysis.incidents.fault_effects import FaultEffect
from headwater_analysis.owners import OwnerName
from headwater_analysis.runs.records import Use
from headwater_schemas.events import Certainty
from support.incidents import AT, an_incident, asset, reach
from unit.cli.test_show_incidents import printed

TOTAL = ReachedColumn(
    dataset=asset("report"),
    column="total",
    effect=FaultEffect.TAINTS,
    certainty=Certainty.UPPER_BOUND,
    depth=6,
    via=(*(f"job{number}: COPY" for number in range(5)), "report: AGGREGATE sum"),
    why="Aggregated from n/orders#amount: each repeated row counts.",
)
BAD = WritingStep(job=None, run_id="r2", query_id="q", query_name="enrich", batch_id=5, at=AT, code_version="v1")
SINCE = BadSince(
    of=asset("orders"),
    first_bad=BAD,
    last_good=replace(BAD, batch_id=4, code_version="v0"),
    certainty=Certainty.UPPER_BOUND,
    why="Since code version v1; before it v0.",
)


def shown(found: IncidentReach) -> str:
    return printed(views.incident_view(an_incident(found)))


def line(found: IncidentReach) -> str:
    [each] = [each for each in shown(found).splitlines() if each.startswith("Columns")]
    return each.rstrip()


def test_a_column() -> None:
    text = shown(replace(reach(), columns=(TOTAL,)))
    assert line(replace(reach(), columns=(TOTAL,))) == "Columns that the fault reached: 1"
    [row] = [each for each in text.splitlines() if "n/report#total" in each]
    assert row.split()[:2] == ["6", "TAINTS"]
    assert "… → job2: COPY → job3: COPY → job4: COPY → report: AGGREGATE sum" in row
    assert "UPPER_BOUND" in row
    assert row.rstrip().endswith(TOTAL.why)


def test_owners_and_jobs_on_the_way() -> None:
    job = AffectedJob(
        job=Asset(AssetKind.JOB, "j", "jobs", "report"),
        owners=(OwnerName("team:[red]report", None), OwnerName("ann", None)),
        depth=2,
        hop=3,
        certainty=Certainty.UPPER_BOUND,
    )
    owner = DatasetOwners(dataset=asset("d0"), owners=(OwnerName("team:lake", None),))
    lines = [each.rstrip() for each in shown(replace(reach(), owners=(owner,), jobs=(job,))).splitlines()]
    assert [each.endswith("team:lake") for each in lines if " n/d0 " in each] == [True]
    at = lines.index("Jobs that bad data passed through: 1")
    assert [each.split() for each in lines[at + 2 : at + 4]] == [
        ["2", "jobs/report", "UPPER_BOUND", "team:[red]report"],
        ["ann"],
    ]
    unknown = shown(replace(reach(is_unknown=True), jobs_unknown=2))
    assert "Jobs that bad data passed through: 0; not known: the job of 2 steps; not known: 1 part of the" in unknown


def test_business_versions() -> None:
    version = ReachedVersion(
        reference=Use(dataset=asset("rates"), position="table_snapshot", format="delta", version="41"),
        outputs=(asset("d0"),),
        run_ids=("r1", "r2"),
        runs=2,
    )
    lines = [each.rstrip() for each in shown(replace(reach(), business_versions=(version,))).splitlines()]
    at = lines.index("Business versions of the runs on the way: 1")
    assert lines[at + 2].split() == ["n/rates", "delta", "41", "n/d0", "2"]
    assert "Business versions" not in shown(reach())


UNKNOWN = UnknownColumns(dataset=asset("board"), why="Its column lineage is missing.")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (reach(), "0"),
        (replace(reach(), columns_unknown=(UNKNOWN,)), "at least 0; more may be in 1 dataset"),
        (replace(reach(), columns=(TOTAL,), columns_truncated=True), "at least 1; a limit was reached"),
        (
            replace(reach(is_unknown=True), columns_unknown=(UNKNOWN,), columns_truncated=True),
            "at least 0; more may be in 1 dataset; a limit was reached; not known: 1 part of the scope",
        ),
    ],
)
def test_what_is_not_known_is_in_the_line_of_the_number(found: IncidentReach, words: str) -> None:
    assert line(found) == f"Columns that the fault reached: {words}"


def test_all_columns() -> None:
    found = replace(reach(), all_columns=FaultEffect.DEGRADES)
    assert line(found) == "Columns: no part of the scope names a column, so all columns may be affected (DEGRADES)"


def test_personal_data() -> None:
    assert "restrict access, and consider SEV1" in shown(replace(reach(), restricts=True))
    assert "SEV1" not in shown(reach())


def test_a_first_bad_micro_batch() -> None:
    text = shown(replace(reach(), since=(SINCE,)))
    lines = [re.sub(" +", " ", each).strip() for each in text.splitlines()]
    begin = lines.index("First bad and last good run")
    assert lines[begin + 2 : begin + 5] == [
        "n/orders first bad (UPPER_BOUND) 2025-01-31 12:00:00Z v1 batch 5 of enrich, run r2",
        "last good 2025-01-31 12:00:00Z v0 batch 4 of enrich, run r2",
        SINCE.why,
    ]


def test_nothing_is_known_of_it() -> None:
    unknown = replace(SINCE, first_bad=None, last_good=None, why="No known run wrote it.", certainty=Certainty.UNKNOWN)
    text = shown(replace(reach(), since=(unknown,)))
    assert re.search(r"first bad +not known", text)
    assert re.search(r"last good +not known", text)
