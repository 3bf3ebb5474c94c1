"""Repair plans on small graphs: the order of steps, their facts and commands, and a plan that shrinks."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_analysis.incidents.planning.plan import plan
from headwater_analysis.incidents.planning.planned import IncidentPlan, RepairStep, RepairStepKind
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IncidentScope,
    JobRef,
    LineageEvent,
    ParentRun,
    Position,
    QualityResult,
    TableSnapshot,
    Versions,
)
from integration.analysis.test_incidents import AFTER, FILES, IN, MID, PIPELINE, REPORTED, starts, windows
from support.analysis.chains import (
    BEGIN,
    Entry,
    Stream,
    files_use,
    in_tens,
    kafka_use,
    overwriting,
    ran,
    replacing,
    write,
)
from support.analysis.incident_events import INCIDENT, offsets, opened, repaired

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

NOTIFY, CORRECT, RERUN, REPROCESS, DECLARE, RESOLVE = RepairStepKind
REPAIR = f"headwater incident repair {INCIDENT} --dataset"


def order(found: IncidentPlan) -> list[tuple[RepairStepKind, str, tuple[int, ...]]]:
    """Kind, the name that its title has, and the numbers of the steps before, of each step."""
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
    return [(step.kind, step.title.split(" ")[1].rstrip(":"), step.after) for step in found.steps]


def of_kind(found: IncidentPlan, *kinds: RepairStepKind) -> list[RepairStep]:
    return [step for step in found.steps if step.kind in kinds]


def jobs(found: IncidentPlan) -> list[str]:
    """Jobs to run again, in order."""
    return [step.job.name for step in of_kind(found, RERUN, REPROCESS) if step.job is not None]


def table(version: int, format_: str = "delta", parent: str | None = None, name: str = "/lake/t") -> DatasetUse:
    snapshot = TableSnapshot(format=format_, snapshot_id=str(version), parent_id=parent, operation="append")
    return DatasetUse(
        dataset=DatasetRef("file", name), position=Position(table_snapshot=snapshot), certainty=Certainty.EXACT
    )


def tables() -> Stream:
    """A query whose batch n reads offsets 10n..10n+10 of mid, and commits version n of a Delta table."""
    out = Stream("second")
    for n in range(10):
        read = kafka_use("mid", {0: (n * 10, n * 10 + 10)}, Certainty.EXACT)
        out.entries.append(Entry(n, (read,), (table(n),)))
    return out


def test_a_chain_of_streams(clean_database: Driver, reader: Reader) -> None:
    """Offset 25 of `in` was read by batch 2 of `first`, which wrote 20..30 of `mid`; batch 2 of `second` read these.

    A topic keeps its bad records, so they are declared; and the table goes back to the version before its batch 2.
    """
    write(clean_database, in_tens("first", "in", "mid"), tables(), events=[opened(offsets(IN, 25, 26))])
    found = plan(reader, INCIDENT)
    assert order(found) == [
        (CORRECT, "dataset", ()),
        (REPROCESS, "first", (1,)),
        (REPROCESS, "second", (2,)),
        (DECLARE, "kafka://k/in", (1,)),
        (DECLARE, "kafka://k/mid", (2,)),
        (DECLARE, "file:/lake/t", (3,)),
        (RESOLVE, INCIDENT, (4, 5, 6)),
    ]
    assert (found.complete, found.nothing_left, found.unknown, found.spreading) == (True, False, (), ())
    correct, first, second, raw, mid, third, resolve = found.steps
    assert correct.notes[0] == "No known run wrote the bad data in kafka://k/in: load it again from its source."
    assert first.query is not None
    assert (first.query.restart_after, first.query.newest_batch, first.query.earlier) == (1, 9, None)
    [replayed] = first.query.batches
    assert (replayed.first_batch, replayed.last_batch) == (2, 2)
    [given] = replayed.kafka
    assert [json.loads(text) for text in (given.assign, given.starting_offsets, given.ending_offsets)] == [
        {"in": [0]},
        {"in": {"0": 20}},
        {"in": {"0": 30}},
    ]
    assert [(part.dataset.name, part.offsets[0].start, part.offsets[0].end) for part in first.skip] == [("in", 25, 26)]
    assert [(part.dataset.name, part.offsets[0].start, part.offsets[0].end) for part in second.skip] == [
        ("mid", 20, 30)
    ]
    assert "offsets/1 and commits/1 starts with batch 2" in " ".join(first.notes)
    assert second.sql == ("RESTORE TABLE delta.`file:/lake/t` TO VERSION AS OF 1",)
    assert raw.commands == (f"{REPAIR} kafka://k/in --offsets 0:25 --reason 'Written again.'",)
    assert mid.commands == (f"{REPAIR} kafka://k/mid --offsets 0:20..30 --reason 'Written again.'",)
    assert third.commands == (f"{REPAIR} file:/lake/t --version 2 --reason 'Written again.'",)
    assert resolve.commands == (
        f"headwater incident refresh {INCIDENT}",
        f"headwater incident resolve {INCIDENT} repaired --reason 'Repaired by its plan.'",
    )
    assert plan(reader, INCIDENT).steps == found.steps


def test_the_first_version_has_none_before(clean_database: Driver, reader: Reader) -> None:
    """Batch 0 is bad: there is no version to restore, and no micro-batch to restart after."""
    write(clean_database, tables(), events=[opened(offsets(MID, 5, 6))])
    [step] = of_kind(plan(reader, INCIDENT), REPROCESS)
    assert step.query is not None
    assert (step.sql, step.query.restart_after) == ((), None)
    assert "a restart needs a new checkpoint" in " ".join(step.notes)


def test_an_iceberg_table_goes_back_to_the_parent_of_its_first_bad_snapshot(
    clean_database: Driver, reader: Reader
) -> None:
    """Without a name in a catalog there is no statement: Iceberg's procedure takes no path."""
    stream = Stream("second")
    for n, (snapshot, parent) in enumerate(((900, None), (300, "900"), (700, "300"))):
        read = kafka_use("mid", {0: (n * 10, n * 10 + 10)}, Certainty.EXACT)
        stream.entries.append(Entry(n, (read,), (table(snapshot, "iceberg", parent),)))
    write(clean_database, stream, events=[opened(offsets(MID, 15, 25))])
    [step] = of_kind(plan(reader, INCIDENT), REPROCESS)
    assert step.sql == ()
    with clean_database.session() as session:
        session.run(
            "MATCH (d:HwDataset {name: '/lake/t'}) SET d.symlinks = ['db.o\\'t'], d.symlink_types = ['TABLE']"
        ).consume()
    [step] = of_kind(plan(reader, INCIDENT), REPROCESS)
    assert step.sql == ("CALL system.rollback_to_snapshot('db.o\\'t', 900)",)


DAILY = ran(
    "daily",
    [files_use("/lake/raw", ["dt=2025-01-01/r"])],
    [overwriting(files_use("/lake/clean", ["dt=2025-01-01/x"]), "dt=2025-01-01")],
    10,
    versions=Versions(code="v1"),
)
MONTHLY = ran(
    "monthly", [files_use("/lake/clean", ["dt=2025-01-01/x"])], [replacing(DatasetRef("file", "/lake/months"))], 20
)
MAPPING = (
    "set: s\nnamespace: file\n"
    "jobs: [{name: monthly, namespace: jobs, inputs: [/lake/clean], outputs: [/lake/months], partitions: "
    "[{input: /lake/clean, input_field: dt, output: /lake/months, output_field: month, transform: TRANSFORM}]}]\n"
)


def mapping(transform: str) -> list[LineageEvent]:
    found = read_file("s.yaml", MAPPING.replace("TRANSFORM", transform))
    return list(found.events(1, tenant="default", event_time=BEGIN))


def test_partitions_to_write_again_by_a_declared_mapping(clean_database: Driver, reader: Reader) -> None:
    """Both jobs overwrite, so the graph shows their reruns, and nothing has to be declared."""
    scope = IncidentScope(run="daily 10")
    write(clean_database, events=[DAILY, MONTHLY, *mapping("month"), opened(scope)])
    found = plan(reader, INCIDENT)
    assert order(found) == [
        (CORRECT, "run", ()),
        (RERUN, "daily", (1,)),
        (RERUN, "monthly", (2,)),
        (RESOLVE, INCIDENT, (3,)),
    ]
    correct, daily, monthly, _ = found.steps
    assert "The bad data was written by daily with code v1" in correct.notes[0]
    assert [(each.dataset.name, each.partitions) for each in daily.overwrite] == [("/lake/clean", ("dt=2025-01-01",))]
    assert [part.dataset.name for part in daily.inputs] == ["/lake/raw"]
    assert daily.commands == ("headwater runs show 'daily 10'",)
    [made] = monthly.overwrite
    assert (made.partitions, made.why) == (("month=2025-01",), "By the declared mapping dt → month (month).")
    assert found.unknown == ("the extent in 1 dataset",)


def test_a_mapping_that_only_people_can_read(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[DAILY, MONTHLY, *mapping("region of"), opened(IncidentScope(run="daily 10"))])
    [made] = of_kind(plan(reader, INCIDENT), RERUN)[1].overwrite
    assert made.partitions == ()
    assert made.why.endswith("so the whole dataset counts. The job declares dt → month (region of).")


def test_the_plan_shrinks_with_each_rerun(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[DAILY, MONTHLY, opened(IncidentScope(run="daily 10"))])
    assert jobs(plan(reader, INCIDENT)) == ["daily", "monthly"]
    good = files_use("/lake/clean", ["dt=2025-01-01/y"])
    write(clean_database, events=[ran("daily", [], [overwriting(good, "dt=2025-01-01")], AFTER)])
    found = plan(reader, INCIDENT)
    assert order(found) == [(RERUN, "monthly", ()), (RESOLVE, INCIDENT, (1,))]
    assert found.clean_again == 1
    months = replacing(DatasetRef("file", "/lake/months"))
    write(clean_database, events=[ran("monthly", [good], [months], AFTER + 10)])
    found = plan(reader, INCIDENT)
    assert (found.steps, found.nothing_left, found.complete, found.clean_again) == ((), True, True, 2)


def test_a_job_that_appends_is_declared(clean_database: Driver, reader: Reader) -> None:
    """No overwrite can show that the file is gone. Its path is in a command of its own."""
    run = ran("load", [], [files_use("/lake/a b", ["x"])], 10)
    write(clean_database, events=[run, opened(IncidentScope(run="load 10"))])
    found = plan(reader, INCIDENT)
    assert order(found)[2] == (DECLARE, "file:/lake/a", (2,))
    declared = found.steps[2]
    assert (declared.commands, declared.file_commands) == (
        (),
        (f"{REPAIR} 'file:/lake/a b' --file 'file:/lake/a b/x' --reason 'Written again.'",),
    )
    write(clean_database, events=[repaired(IncidentScope(run="load 10"))])
    assert plan(reader, INCIDENT).nothing_left


def file(name: str) -> DatasetUse:
    return files_use(f"/lake/{name}", ["x"])


def test_a_diamond(clean_database: Driver, reader: Reader) -> None:
    """`a` reads all the others' outputs, also that of `start`: it comes last, though one hop away and first by name."""
    runs = [
        ran("start", [], [file("s")], 0),
        ran("c", [file("s")], [file("c")], 10),
        ran("b", [file("s")], [file("b")], 20),
        ran("a", [file("s"), file("b"), file("c")], [file("a")], 30),
    ]
    write(clean_database, events=[*runs, opened(IncidentScope(run="start 0"))])
    found = plan(reader, INCIDENT)
    assert order(found)[1:5] == [
        (RERUN, "start", (1,)),
        (RERUN, "b", (2,)),
        (RERUN, "c", (2,)),
        (RERUN, "a", (2, 3, 4)),
    ]


def test_a_table_that_reads_itself(clean_database: Driver, reader: Reader) -> None:
    """Each run made its file from that of the run before: they are one step, in their order."""
    runs = [
        ran("sum", [files_use("/lake/sum", [f"s-{n - 1}"])] if n else [], [files_use("/lake/sum", [f"s-{n}"])], n * 10)
        for n in range(4)
    ]
    write(clean_database, events=[*runs, opened(IncidentScope(run="sum 10"))])
    [step] = of_kind(plan(reader, INCIDENT), RERUN)
    assert [run.run_id for run in step.runs] == ["sum 10", "sum 20", "sum 30"]
    assert "The job reads its own output" in step.notes[0]


def test_two_jobs_that_feed_each_other(clean_database: Driver, reader: Reader) -> None:
    """Files x-0 → y-0 → x-1 → y-1: each job is two steps, one after the other."""

    def part(job: str, n: int) -> DatasetUse:
        return files_use(f"/lake/{job}", [f"{job}-{n}"])

    runs = [
        ran("x", [], [part("x", 0)], 0),
        ran("y", [part("x", 0)], [part("y", 0)], 10),
        ran("x", [part("y", 0)], [part("x", 1)], 20),
        ran("y", [part("x", 1)], [part("y", 1)], 30),
    ]
    write(clean_database, events=[*runs, opened(IncidentScope(run="x 0"))])
    steps = of_kind(plan(reader, INCIDENT), RERUN)
    assert [[run.run_id for run in step.runs] for step in steps] == [["x 0"], ["y 10"], ["x 20"], ["y 30"]]
    assert [step.number for step in steps] == [2, 3, 4, 5]
    assert all(step.number - 1 in step.after for step in steps)
    assert "the order begins at the job nearest to the bad data" in steps[0].notes[0]


def test_a_query_with_state(clean_database: Driver, reader: Reader) -> None:
    """Batch 12 read offset 125.

    The watermark before batch n is 15 (n - 1) minutes, and the state keeps a record 90 minutes: batch 12 gave out
    windows that ended after 02:30, the watermark of batch 11, of records after 01:00. Batch 4 is the first that left a
    watermark of 01:00. The last known batch, 19, runs with 04:30, which is when the state lets go of offset 125.
    """
    stream = windows()
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(offsets(IN, 125, 126))])
    [step] = of_kind(plan(reader, INCIDENT), REPROCESS)
    replay = step.query
    assert replay is not None
    assert [(each.first_batch, each.last_batch) for each in replay.batches] == [(12, 19)]
    assert replay.restart_after == 11
    assert replay.earlier is not None
    assert (replay.earlier.first_batch, replay.earlier.event_time) == (4, BEGIN + timedelta(minutes=60))
    [given] = replay.earlier.kafka
    assert (json.loads(given.starting_offsets), json.loads(given.ending_offsets)) == (
        {"in": {"0": 40}},
        {"in": {"0": 120}},
    )
    assert "from batch 4 on (event time 2025-01-01 01:00:00Z or later)" in " ".join(step.notes)


def test_a_query_whose_state_keeps_records_for_an_unknown_time(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, windows(8), events=[opened(offsets(IN, 35, 36))])
    found = plan(reader, INCIDENT)
    [step] = of_kind(found, REPROCESS)
    assert step.query is not None
    assert step.query.earlier is not None
    assert (step.query.earlier.first_batch, step.query.earlier.event_time) == (None, None)
    assert "from an unknown micro-batch on" in " ".join(step.notes)
    assert len(found.spreading) == 1


def test_a_state_that_may_still_write_leaves_something(clean_database: Driver, reader: Reader) -> None:
    """All that was written is declared repaired, but the query may write more of offset 35."""
    parts = IncidentScope(dataset=DatasetRef("file", "/lake/windows")), IncidentScope(dataset=IN)
    write(clean_database, windows(8), events=[opened(offsets(IN, 35, 36)), repaired(*parts)])
    found = plan(reader, INCIDENT)
    assert (found.steps, len(found.spreading), found.nothing_left) == ((), 1, False)


def test_a_dataset_that_a_known_job_wrote(clean_database: Driver, reader: Reader) -> None:
    """Part-2 was written by batch 2 of `second`: that is corrected and reprocessed before the report."""
    scope = IncidentScope(dataset=FILES, files=("file:/lake/files/part-2",))
    write(clean_database, *PIPELINE, events=[REPORTED, opened(scope)])
    found = plan(reader, INCIDENT)
    assert order(found) == [
        (CORRECT, "dataset", ()),
        (REPROCESS, "second", (1,)),
        (RERUN, "report", (2,)),
        (DECLARE, "file:/lake/files", (2,)),
        (RESOLVE, INCIDENT, (3, 4)),
    ]
    assert "The bad data was written by second with code v0" in found.steps[0].notes[0]
    assert found.steps[1].query is not None
    assert [(each.first_batch, each.last_batch) for each in found.steps[1].query.batches] == [(2, 2)]


def test_the_last_good_code(clean_database: Driver, reader: Reader) -> None:
    runs = [
        ran(
            "load",
            [],
            [replacing(DatasetRef("file", "/lake/a"))],
            at,
            versions=Versions(code=code),
            quality=(QualityResult(assertion="few", passed=at < 20),),
        )
        for at, code in ((10, "v1"), (20, "v2"))
    ]
    write(clean_database, events=[*runs, opened(IncidentScope(run="load 20"))])
    correct = plan(reader, INCIDENT).steps[0]
    assert (correct.kind, correct.good_code_version, [run.code_version for run in correct.runs]) == (
        CORRECT,
        "v1",
        ["v2"],
    )


def test_who_reads_bad_data_knows_at_once_and_once_it_is_clean(clean_database: Driver, reader: Reader) -> None:
    """`board` reads files alone: it needn't wait for the report."""
    declared = read_file(
        "s.yaml", "set: s\nnamespace: file\nconsumers: [{name: board, reads: [/lake/files], on_call: '#board'}]\n"
    ).events(1, tenant="default", event_time=BEGIN)
    write(clean_database, *PIPELINE, events=[REPORTED, *declared, opened(offsets(MID, 25, 26))])
    found = plan(reader, INCIDENT)
    first, *_, last, _ = found.steps
    assert (first.kind, first.after, [each.name for each in first.consumers]) == (NOTIFY, (), ["board"])
    assert (last.kind, last.commands) == (NOTIFY, ("headwater gate file:/lake/files",))
    steps = {step.number: step for step in found.steps}
    assert [steps[number].title for number in last.after] == [
        "Reprocess second: batch 2",
        "Declare file:/lake/files repaired",
    ]


def test_an_origin_that_nobody_knows(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, *PIPELINE, events=[opened(IncidentScope(run="nobody knows it"))])
    found = plan(reader, INCIDENT)
    assert (found.steps, found.nothing_left, found.complete) == ((), False, False)
    assert (found.unknown, len(found.not_known)) == (("1 part of the scope",), 1)


def test_a_plan_that_a_limit_cut(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, *PIPELINE, events=[REPORTED, opened(offsets(IN, 25, 26))])
    found = plan(reader, INCIDENT, limit=1)
    assert jobs(found) == ["first"]
    assert (found.complete, found.unknown) == (False, ("what is beyond a limit that was reached",))
    assert found.steps[-1].notes == ("The reach of the incident isn't fully known: clarify it first.",)


def test_a_column(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, *PIPELINE, events=[opened(IncidentScope(dataset=MID, column="delay"))])
    found = plan(reader, INCIDENT)
    assert found.steps[0].notes[0] == "The bad data is in column delay."
    assert jobs(found) == ["first", "second"]


def test_a_consumer(clean_database: Driver, reader: Reader) -> None:
    """A consumer holds no data: it is corrected by its people, who declare that."""
    write(clean_database, *PIPELINE, events=[opened(IncidentScope(consumer="the board"))])
    found = plan(reader, INCIDENT)
    assert [step.kind for step in found.steps] == [CORRECT, RESOLVE]
    assert found.steps[0].commands == (
        f"headwater incident repair {INCIDENT} --consumer 'the board' --reason 'Repaired by its plan.'",
    )
    write(clean_database, events=[repaired(IncidentScope(consumer="the board"))])
    assert plan(reader, INCIDENT).nothing_left


@pytest.mark.parametrize("task_of_all", [True, False])
def test_tasks_of_airflow(clean_database: Driver, reader: Reader, *, task_of_all: bool) -> None:
    """Each task of a known logical date has a command; of the runs without one the plan says so."""

    def facet(date: str) -> str:
        dag_run = {"logical_date": date, "run_id": "scheduled"}
        return json.dumps({"dag": {"dag_id": "shop"}, "dagRun": dag_run, "task": {"task_id": "group.load"}})

    dates = ["2025-01-01T00:00:00+00:00", "2025-01-02T00:00:00+00:00"]
    tasks = [
        ran("shop.load", [], [], at, run_facets={"airflow": facet(date)} if task_of_all or not at else {})
        for at, date in enumerate(dates)
    ]
    runs = [
        ran(
            "load",
            [],
            [overwriting(files_use("/lake/a", [f"dt={at}/x"]), f"dt={at}")],
            10 + at,
            parent=ParentRun(f"shop.load {at}", JobRef("jobs", "shop.load")),
        )
        for at in range(2)
    ]
    write(clean_database, events=[*tasks, *runs, opened(IncidentScope(job=JobRef("jobs", "load")))])
    [step] = of_kind(plan(reader, INCIDENT), RERUN)
    clear = [command for command in step.commands if command.startswith("airflow")]
    assert clear == [
        f"airflow tasks clear shop -t '^group\\.load$' -s {date} -e {date}"
        for date in (dates if task_of_all else dates[:1])
    ]
    assert ("The Airflow task of some of these runs isn't known." in step.notes) is not task_of_all
