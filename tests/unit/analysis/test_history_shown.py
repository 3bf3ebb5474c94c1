"""Small things that people read: durations, code versions, parts of datasets, what is wrong with a micro-batch."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from headwater.show.batches import faults_text, part_text, partitions_text, quality_text, uses
from headwater.show.names import short_version
from headwater.show.pages import counted
from headwater.show.runs import duration_text, table
from headwater.show.trace import part_words, step_words
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.runs import IntervalItem, Joint, Quality, RunItem, Use
from headwater_analysis.runs.notes import notes
from headwater_analysis.runs.run_details import joined
from headwater_analysis.trace.traced_parts import OffsetSpan, Part, PartKind, RunBrief, Step, StepKind
from headwater_schemas.events import Certainty, Provenance

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LONG_PATH = f"/{'a-long-folder/' * 9}part-00000-b14183a2-773a-494d-a5f5-c8b54375bff1-c000.snappy.parquet"
TOPIC = Asset(AssetKind.DATASET, "0" * 32, "kafka://k", "t")


def batch(**changed: Any) -> IntervalItem:
    usual: dict[str, Any] = dict.fromkeys(IntervalItem.__dataclass_fields__)
    usual |= {
        "key": "k",
        "query_id": "q",
        "batch_id": 3,
        "provenance": Provenance.OBSERVED,
        "missing": 0,
        "conflicts": 0,
    }
    usual |= {"inputs": (), "outputs": (), "quality": (), "gaps": (), "overlaps": (), "rewinds": False, "anew": False}
    return IntervalItem(**(usual | changed))


def test_durations(subtests: pytest.Subtests) -> None:
    cases = [
        (0.04, "0.0 s"),
        (59.9, "59.9 s"),
        (60, "1 min 00 s"),
        (3_599, "59 min 59 s"),
        (3_720, "1 h 02 min"),
    ]
    for seconds, shown in cases:
        with subtests.test(seconds=seconds):
            assert duration_text(BEGIN, BEGIN + timedelta(seconds=seconds)) == shown
            assert duration_text(BEGIN, None) == ""
            assert duration_text(BEGIN, BEGIN - timedelta(milliseconds=400)) == "", "by another machine's clock"


def test_code_versions() -> None:
    commit = "65e124f032e45763cf0f1eda82d7c9fed8b642b7"
    assert short_version(f"{commit}-dirty") == "65e124f032e4-dirty"
    assert short_version("1.2.3-rc1") == "1.2.3-rc1"
    assert short_version(None) == ""


def test_parts() -> None:
    spans = tuple(OffsetSpan(number, 0, number) for number in range(7))
    assert part_text(Use(dataset=TOPIC, position="kafka", offsets=spans)) == "1:0, 2:0..2, 3:0..3, 4:0..4 and 2 more"
    assert part_text(Use(dataset=TOPIC, position="kafka", offsets=spans[:1])) == "nothing new"
    assert part_text(Use(dataset=TOPIC, position="files", paths=("/a", "/b"))) == "/a …"
    assert part_text(Use(dataset=TOPIC, position="files", paths=(LONG_PATH,))) == LONG_PATH
    folder, file = replace(TOPIC, name="/lake/delays"), replace(TOPIC, name="/lake/a.csv")
    below = ("file:/lake/delays/day=1/part-0.parquet", "file:/lake/delays/day=2/part-0.parquet")
    assert part_text(Use(dataset=folder, position="files", paths=below)) == "day=1/part-0.parquet …"
    assert part_text(Use(dataset=file, position="files", paths=("file:/lake/a.csv",))) == "a.csv"
    assert (
        part_text(Use(dataset=TOPIC, position="table_range", format="delta", from_version="3", version="5"))
        == "delta after 3 up to 5"
    )
    assert part_text(Use(dataset=TOPIC, position="table_range", format="delta", version="3")) == "delta up to 3"
    assert part_text(Use(dataset=TOPIC)) == "–"


def test_a_run_that_is_not_complete_has_its_state_beside_it() -> None:
    job = replace(TOPIC, kind=AssetKind.JOB, name="orders")
    words = {
        state: step_words(Step(kind=StepKind.RUN, job=job, runs=(RunBrief(run_id="r1", state=state),)))
        for state in ("COMPLETE", "FAIL", "RUNNING", None)
    }
    assert words == {
        "COMPLETE": "orders (run r1)",
        "FAIL": "orders (run r1, FAIL)",
        "RUNNING": "orders (run r1, RUNNING)",
        None: "orders (run r1)",
    }


def test_an_error_in_a_table_begins_with_what_it_is() -> None:
    message = "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] Cannot\nperform Merge"
    usual: dict[str, Any] = dict.fromkeys(RunItem.__dataclass_fields__)
    kind = "org.apache.spark.sql.delta.DeltaUnsupportedOperationException"
    failed = RunItem(**(usual | {"run_id": "r1", "error_type": kind, "error_message": message}))
    console = Console(width=400, file=io.StringIO(), record=True)
    console.print(table([failed]))
    shown = console.export_text().splitlines()[1].strip()
    assert shown.endswith("DeltaUnsupportedOperationException: [DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_…")


def test_names_of_files_are_whole_but_on_arrows() -> None:
    of_files = partial(Part, dataset=TOPIC, kind=PartKind.FILES, certainty=Certainty.EXACT)
    name = LONG_PATH.rpartition("/")[2]
    assert part_words(of_files(files=(LONG_PATH, "/delays/b"), file_count=2)) == f"{name}, b"
    assert part_words(of_files(files=(LONG_PATH,), file_count=46)) == f"46 files: {name}, …"
    assert part_words(of_files(files=(LONG_PATH,)), 24) == "part-00000-b…ppy.parquet"


def test_faults() -> None:
    assert faults_text(batch()) == ""
    assert batch().is_sound
    anew = batch(gaps=(Joint("d", 0, 0, 5),), rewinds=True, anew=True)
    assert faults_text(anew) == "gap 0:0..5, another incarnation of the topic"
    bad = batch(missing=2, conflicts=1, overlaps=(Joint("d", 0, 5, 9),), rewinds=True)
    assert faults_text(bad) == "2 missing before, overlap 0:5..9, 1 conflicting, goes back"
    assert not bad.is_sound
    assert (
        quality_text((Quality("unique", False, "id", None), Quality("fresh", True, None, None)))
        == "failed: unique of id"
    )


def test_from_the_first_micro_batch_to_the_last() -> None:
    first = Use(dataset=TOPIC, offsets=(OffsetSpan(0, 1, 2), OffsetSpan(1, 5, 6)), certainty=Certainty.INFERRED, rows=2)
    last = Use(dataset=TOPIC, offsets=(OffsetSpan(0, 8, 9), OffsetSpan(2, 0, 4)), certainty=Certainty.EXACT, rows=5)
    use = joined(first, last, 2)
    assert use.offsets == (OffsetSpan(0, 1, 9), OffsetSpan(1, 5, 6), OffsetSpan(2, 0, 4))
    assert (use.certainty, use.rows) == (Certainty.INFERRED, None)
    assert joined(first, first, 2) is first


@pytest.mark.parametrize(
    ("first", "last", "batches", "shown", "certainty"),
    [
        (("delta", "0"), ("delta", "3"), 4, ("delta 0 to 3", "table_range", None), Certainty.EXACT),
        (("delta", "5"), ("delta", "7"), 3, ("delta 5 to 7", "table_range", "4"), Certainty.EXACT),
        (("delta", "0"), ("delta", "9"), 4, ("delta 0 to 9", "table_range", None), Certainty.UPPER_BOUND),
        (("iceberg", "77"), ("iceberg", "12"), 2, ("iceberg 77 to 12", "table_snapshot", None), Certainty.UPPER_BOUND),
        (("delta", "3"), ("delta", "3"), 2, ("delta 3", "table_snapshot", None), Certainty.EXACT),
    ],
)
def test_versions_from_the_first_micro_batch_to_the_last(
    first: tuple[str, str],
    last: tuple[str, str],
    batches: int,
    shown: tuple[str, str, str | None],
    certainty: Certainty,
) -> None:
    uses = [
        Use(dataset=TOPIC, position="table_snapshot", format=of, version=version, certainty=Certainty.EXACT, rows=rows)
        for rows, (of, version) in enumerate((first, last))
    ]
    use = joined(uses[0], uses[1], batches)
    assert ((part_text(use), use.position, use.from_version), use.certainty) == (shown, certainty)


def test_the_text_below_a_page() -> None:
    assert counted(1, 1, "run", None) == "1 run."
    assert counted(1_200, 20, "run", "abc") == "1,200 runs, 20 on this page. The next page: --cursor abc"
    assert counted(1_000, 20, "hit", None, at_least=True) == "At least 1,000 hits, 20 on this page."


def test_what_is_only_in_facets_is_a_sentence_each() -> None:
    facets = {
        "headwater_gaps": {
            "gaps": [{"first": 7, "last": 9, "emitted": "never"}, {"first": 3, "last": 3, "emitted": "x"}]
        },
        "headwater_uncommitted": {
            "batches": [{"batchId": 4, "outputs": [{"namespace": "file", "name": "/t", "rows": 3, "version": "5"}]}]
        },
        "headwater_unknownOutputs": {"kind": "UNKNOWN", "command": "SaveIntoDataSourceCommand", "reason": "odd"},
        "headwater_nothingWritten": {"reason": "the write inside the command is reported", "runId": "r"},
        "headwater_state": {
            "operators": [
                {"operatorName": "dedupe", "numRowsTotal": 1200, "memoryUsedBytes": 9, "numRowsDroppedByWatermark": 1},
                {"operatorName": "join"},
            ]
        },
        "headwater_capture": {"dropped": 3, "failed": 1},
        "headwater_uncheckedInputs": {"writes": 2, "reason": "no answer"},
        "another": {"x": 1},
    }
    assert list(notes(facets)) == [
        "lineage is missing: 3 callbacks were dropped, and 1 couldn't be read",
        "the inputs of 2 writes weren't checked for bad data, and the writes went on; latest reason: no answer",
        "micro-batches 7 to 9 were not reported: never",
        "micro-batch 3 was not reported: x",
        "micro-batch 4 wasn't committed, and had written /t version 5 (3 rows)",
        "target of SaveIntoDataSourceCommand is unknown: odd",
        "nothing was written: the write inside the command is reported (run r)",
        "operator dedupe keeps 1,200 rows, 9 bytes; 1 late rows were dropped",
        "operator join keeps state",
    ]


def test_a_facet_of_another_form_is_named(subtests: pytest.Subtests) -> None:
    for facet in [{}, {"gaps": 7}, {"gaps": [{"first": "x"}]}]:
        with subtests.test(facet=facet):
            assert notes({"headwater_gaps": facet}) == ("facet headwater_gaps has an unknown form",)
            assert notes({"headwater_gaps": "no json"}) == ()


def test_partitions_of_an_output() -> None:
    days = tuple(f"day={n}" for n in range(6))
    use = Use(dataset=TOPIC, partition_columns=("day",), partitions=days, branch="audit", uncommitted=True)
    assert partitions_text(use) == "not committed; branch audit; by day; day=0, day=1, day=2, day=3 and 2 more"
    assert partitions_text(Use(dataset=TOPIC, partition_columns=("day",), partition_count=2)) == "by day; 2 partitions"
    assert partitions_text(Use(dataset=TOPIC)) == ""


def test_partitions_have_a_column_where_there_are_some() -> None:
    plain, partitioned = Use(dataset=TOPIC), Use(dataset=TOPIC, partitions=("day=1",))
    assert [column.header for column in uses([plain]).columns][-1] == "files"
    assert [column.header for column in uses([plain, partitioned]).columns][-1] == "partitions"
