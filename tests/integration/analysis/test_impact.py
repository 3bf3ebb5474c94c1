"""Impact on graphs made for it: names of any sort, jobs that tell nothing, plans that were replaced, structs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.impact import (
    ChangeType,
    Extent,
    Impact,
    ImpactChange,
    ImpactPage,
    SchemaChange,
    Severity,
    analyze,
    default_policy_text,
)
from headwater_analysis.impact.policy import parse_policy
from headwater_analysis.lineage import Influence, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LineageEvent,
    Owner,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from support.analysis.dense_events import dense_events
from support.analysis.naive_lineage import NaiveGraph, reach
from support.analysis.written import plan, table
from support.gate import first_in_gate
from support.graph.colliding import PRODUCER, START

pytestmark = pytest.mark.stack

REMOVED = SchemaChange.REMOVED


def silent(job: str, source: str, target: str) -> LineageEvent:
    """A run that reports what it read and wrote, and nothing of columns."""
    body = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=(DatasetUse(dataset=DatasetRef("w", source)),),
        outputs=(DatasetUse(dataset=DatasetRef("w", target)),),
    )
    run = RunRef("0197c1de-0000-7bd1-9d55-000000000001")
    return build.lineage_event(body, job=JobRef("j", job), run=run, producer=PRODUCER, event_time=START)


def reported(impact: Impact) -> dict[str, tuple[str, str]]:
    """Cause and severity by `dataset.column`, or `dataset`."""
    return {
        item.asset.name + (f".{item.asset.column}" if item.asset.column else ""): (
            item.cause.value,
            item.severity.value,
        )
        for item in impact.items
    }


def test_a_job_that_names_a_gone_column_fails_whatever_for(fill: Callable[..., None], reader: Reader) -> None:
    """Only an ORDER BY names `at`. Nothing is written, so `archive`, the job's other output, isn't either."""
    fill(
        [
            table("orders", ["id int", "at", "note"]),
            plan(
                "report",
                "orders.id > report.id COPY",
                "orders.at > report.* SORT_DEPENDENCY",
                "orders.id > archive.id COPY",
            ),
            plan("mail", "archive.id > mail.id COPY"),
            plan("other", "orders.note > notes.note COPY"),
        ]
    )
    impact = analyze(reader, ImpactChange("orders", "at", schema=REMOVED))
    assert reported(impact) == {
        "report": ("JOB", "BREAKING"),
        "archive": ("JOB", "BREAKING"),
        "mail": ("FLOW", "DEGRADED"),
    }
    assert [(job.job.name, job.fails, job.severity) for job in impact.jobs] == [
        ("report", True, "BREAKING"),
        ("mail", False, "DEGRADED"),
    ]


def test_readers_of_a_topic_get_nulls(fill: Callable[..., None], reader: Reader) -> None:
    fill(
        [
            table("orders", ["value", "value.id", "value.at"], type="TOPIC"),
            plan(
                "report",
                "orders.value.id > report.id CAST",
                "orders.value.at > report.* SORT_DEPENDENCY",
                "orders.value.id > archive.id CAST",
            ),
            plan("mail", "report.id > mail.id COPY"),
        ]
    )
    impact = analyze(reader, ImpactChange("orders", "value.at", schema=REMOVED))
    assert reported(impact) == {"report": ("ROWS", "DEGRADED")}
    assert [(job.job.name, job.fails) for job in impact.jobs] == [("report", False)]
    assert impact.jobs[0].reason == "It names the field (SORT_DEPENDENCY), and gets nulls for it."


def test_jobs_that_tell_nothing_may_use_it(fill: Callable[..., None], reader: Reader) -> None:
    fill(
        [
            table("orders", ["id", "note"]),
            silent("legacy", "orders", "dump"),
            plan("partly", "orders.id > part.id COPY", complete=False),
            plan("fully", "orders.id > full.id COPY"),
            plan("boxed", "orders.* > box.x EXTERNAL"),
            plan("counted", "orders.* > count.n AGGREGATE!"),
        ]
    )
    impact = analyze(reader, ImpactChange("orders", "note", schema=REMOVED))
    assert reported(impact) == {
        "dump": ("UNSEEN", "DEGRADED"),
        "part": ("UNSEEN", "DEGRADED"),
        "box.x": ("UNSEEN", "DEGRADED"),
    }
    assert impact.jobs[0].reason == "It reads the data, and doesn't report column lineage."


def test_a_plan_that_was_replaced_counts_no_more(fill: Callable[..., None], reader: Reader) -> None:
    fill(
        [
            table("orders", ["old", "new"]),
            plan("report", "orders.old > report.x COPY"),
            plan("report", "orders.new > report.x COPY", seconds=60),
        ]
    )
    assert analyze(reader, ImpactChange("orders", "old", schema=REMOVED)).severity is Severity.NONE
    assert reported(analyze(reader, ImpactChange("orders", "new", schema=REMOVED))) == {
        "report.x": ("VALUE", "BREAKING"),
        "report": ("JOB", "BREAKING"),
    }


def test_sensitive_values_end_at_hashes_and_masks(fill: Callable[..., None], reader: Reader) -> None:
    fill(
        [
            table("people", ["mail", "name"]),
            plan(
                "clean",
                "people.mail > clean.key HASH!",
                "people.mail > clean.hint MASK",
                "people.mail > clean.copy DERIVE",
                "people.mail > clean.kind CONDITIONAL",
                "people.mail > clean.* FILTER_DEPENDENCY",
            ),
            plan("use", "clean.key > use.key COPY", "clean.hint > use.hint COPY", "clean.copy > use.copy COPY"),
        ]
    )
    expected = {
        "clean.copy": ("VALUE", "RESTRICTED"),
        "use.copy": ("VALUE", "RESTRICTED"),
        "clean.kind": ("CHOICE", "WARNING"),
        "clean.key": ("VALUE", "INFO"),
        "clean.hint": ("VALUE", "INFO"),
        "clean": ("ROWS", "INFO"),
    }
    change = ImpactChange("people", "mail", ChangeType.PRIVACY_RECLASSIFICATION)
    assert reported(analyze(reader, change)) == expected
    # The whole dataset is its columns.
    assert reported(analyze(reader, ImpactChange("people", type=ChangeType.PRIVACY_RECLASSIFICATION))) == expected


def test_a_struct_and_its_fields(fill: Callable[..., None], reader: Reader) -> None:
    fill(
        [
            table("people", ["address struct<city:string,zip:string>", "address.city", "address.zip"]),
            plan("city", "people.address.city > city.city COPY"),
            plan("zip", "people.address.zip > zip.zip COPY"),
            plan("whole", "people.address > whole.address COPY"),
        ]
    )
    removed = analyze(reader, ImpactChange("people", "address.city", schema=REMOVED))
    assert reported(removed) == {
        "city.city": ("VALUE", "BREAKING"),
        "city": ("JOB", "BREAKING"),
        "whole.address": ("VALUE", "DEGRADED"),
    }
    assert set(reported(analyze(reader, ImpactChange("people", "address", schema=REMOVED)))) == {
        "city", "city.city", "zip", "zip.zip", "whole", "whole.address",
    }  # fmt: skip
    wrong = analyze(reader, ImpactChange("people", "address.zip", ChangeType.DATA_INCORRECT))
    assert set(reported(wrong)) == {"zip.zip", "whole.address"}


def test_a_field_goes_with_a_struct_that_is_copied_whole(fill: Callable[..., None], reader: Reader) -> None:
    fields = ["address struct<city:string,zip:string>", "address.city", "address.zip"]
    fill(
        [
            table("people", fields),
            table("copy", ["home struct<city:string,zip:string>", "home.city", "home.zip"]),
            plan("copying", "people.address > copy.home RENAME"),
            plan("city", "copy.home.city > city.city COPY"),
            plan("zip", "copy.home.zip > zip.zip COPY"),
            plan("json", "copy.home > json.text DERIVE"),
        ]
    )
    removed = analyze(reader, ImpactChange("people", "address.city", schema=REMOVED))
    assert reported(removed) == {
        "copy.home.city": ("VALUE", "BREAKING"),
        "city.city": ("VALUE", "BREAKING"),
        "json.text": ("VALUE", "DEGRADED"),
    }
    wrong = analyze(reader, ImpactChange("people", "address.zip", ChangeType.DATA_INCORRECT))
    assert set(reported(wrong)) == {"copy.home.zip", "zip.zip", "json.text"}


def test_a_join_looks_up_the_other_side(fill: Callable[..., None], reader: Reader) -> None:
    """`orders LEFT JOIN people USING (person)`, with the key in the output."""
    fill(
        [
            table("orders", ["person", "price"]),
            table("people", ["person", "name"]),
            plan(
                "join",
                "orders.person > out.person COPY",
                "orders.price > out.price COPY",
                "people.name > out.name COPY",
                "orders.person > out.* JOIN_DEPENDENCY e",
                "people.person > out.* JOIN_DEPENDENCY e",
            ),
        ]
    )
    wrong = ChangeType.DATA_INCORRECT
    assert reported(analyze(reader, ImpactChange("orders", "person", wrong))) == {
        "out.person": ("VALUE", "TAINTED"),
        "out.name": ("LOOKUP", "WARNING"),
        "out": ("ROWS", "WARNING"),
    }
    assert reported(analyze(reader, ImpactChange("people", "person", wrong))) == {
        "out.name": ("LOOKUP", "WARNING"),
        "out": ("ROWS", "WARNING"),
    }


def test_criticality_owners_and_a_policy_of_ones_own(fill: Callable[..., None], reader: Reader) -> None:
    owned: dict[str, Any] = {"owners": (Owner("ann", "steward"), Owner("bob")), "criticality": "tier-1"}
    job = JobEvent(owners=(Owner("team"),))
    fill(
        [
            table("orders", ["id"]),
            table("report", ["id"], **owned),
            plan("make", "orders.id > report.id COPY", "orders.id > plain.id COPY"),
            build.lineage_event(job, job=JobRef("j", "make"), producer=PRODUCER, event_time=START),
        ]
    )
    change = ImpactChange("orders", "id", ChangeType.DATA_INCORRECT)
    impact = analyze(reader, change)
    by_name = {item.asset.name: item for item in impact.items}
    report, plain = by_name["report"], by_name["plain"]
    assert (report.severity, report.criticality) == (Severity.CRITICAL, "tier-1")
    assert [(owner.name, owner.type, owner.of.name) for owner in report.owners] == [
        ("ann", "steward", "report"),
        ("bob", None, "report"),
    ]
    assert (plain.severity, [owner.name for owner in plain.owners]) == (Severity.TAINTED, ["team"])
    assert impact.summary.startswith("## Wrong data in id of orders: CRITICAL\n")
    assert "To notify: team, ann, bob." in impact.summary
    mine = parse_policy(default_policy_text().replace('to = "CRITICAL"', 'to = "BLOCKING"'), "mine")
    assert {item.asset.name: item.severity for item in analyze(reader, change, mine).items} == {
        "report": "BLOCKING",
        "plain": "TAINTED",
    }
    # A cursor belongs to the policy that sorted its page.
    cursor = analyze(reader, change, page=ImpactPage(limit=1)).next_cursor
    with pytest.raises(QuestionError) as refused:
        analyze(reader, change, mine, ImpactPage(limit=1, cursor=cursor))
    assert refused.value.field == "cursor"


def test_a_new_column(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["id"]), plan("a", "orders.id > x.id COPY"), plan("b", "x.id > y.id COPY")])
    impact = analyze(reader, ImpactChange("orders", "note", schema=SchemaChange.ADDED, new_type="int"))
    assert reported(impact) == {"x": ("FLOW", "COSMETIC")}
    assert impact.type is ChangeType.SCHEMA_COMPATIBLE
    with pytest.raises(QuestionError, match="has a column 'id' already"):
        analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.ADDED))
    assert analyze(reader, ImpactChange("y", "note", schema=SchemaChange.ADDED)).severity is Severity.NONE


def test_wider_types_hurt_nobody(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["id int"]), plan("a", "orders.id > x.id COPY", "orders.id > x.hash HASH!")])
    wider = analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.RETYPED, new_type="bigint"))
    assert wider.type is ChangeType.SCHEMA_COMPATIBLE
    assert reported(wider) == {"x.hash": ("VALUE", "DEGRADED"), "x.id": ("VALUE", "COSMETIC")}
    other = analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.RETYPED, new_type="string"))
    assert other.type is ChangeType.SCHEMA_BREAKING
    assert reported(other)["x.id"] == ("VALUE", "BREAKING")


def test_what_is_not_there(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["person"])])
    with pytest.raises(NotFoundError) as missing:
        analyze(reader, ImpactChange("orders", "persn", schema=REMOVED))
    assert missing.value.nearest == ("person",)
    with pytest.raises(NotFoundError) as missing:
        analyze(reader, ImpactChange("ordres", type=ChangeType.FRESHNESS_BREACH))
    assert any("orders" in name for name in missing.value.nearest)


def test_what_changes_nothing(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["id int", "person"])])
    with pytest.raises(QuestionError, match="has a column 'person' already"):
        analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.RENAMED, new_name="person"))
    with pytest.raises(QuestionError, match="is int already"):
        analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.RETYPED, new_type="INTEGER"))
    offsets = Extent(partition="0", first_offset=1)
    with pytest.raises(QuestionError, match="is a TABLE: only topics have offsets"):
        analyze(reader, ImpactChange("orders", type=ChangeType.DATA_INCORRECT, extent=offsets))


def test_a_column_as_answers_spell_it(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["id int"]), plan("a", "orders.id > x.id COPY")])
    spelled = analyze(reader, ImpactChange("orders#id", schema=REMOVED))
    assert (spelled.start.column, reported(spelled)) == (
        "id",
        reported(analyze(reader, ImpactChange("orders", "id", schema=REMOVED))),
    )
    assert analyze(reader, ImpactChange("orders#note", schema=SchemaChange.ADDED)).change.column == "note"
    with pytest.raises(NotFoundError, match="no column 'idd'"):
        analyze(reader, ImpactChange("orders#idd", schema=REMOVED))


def test_a_part_of_a_table_can_not_be_followed_and_that_is_reported(fill: Callable[..., None], reader: Reader) -> None:
    fill([table("orders", ["id"]), plan("a", "orders.id > x.id COPY")])
    part = Extent(partition="day=2025-01-31")
    impact = analyze(reader, ImpactChange("orders", type=ChangeType.DATA_INCORRECT, extent=part))
    assert reported(impact) == {"x": ("FLOW", "TAINTED")}
    assert impact.notes == ("This part of a TABLE can't be followed, so the answer is for all data.",)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", first_in_gate(1, [1, 2]))
def test_awkward_names_on_a_dense_graph(fill: Callable[..., None], reader: Reader, seed: int) -> None:
    """Nothing is hit that can't be reached; wrong values reach DIRECT exactly what lineage says is DIRECT."""
    events = list(dense_events(random.Random(seed)))
    fill(events)
    naive = NaiveGraph.of(oracle(fold(events)), "default")
    datasets = naive.dataset_hops(None, None)
    columns = naive.column_hops(None, None, upstream=False)
    owner = {key: node["dataset"] for key, node in naive.nodes.items() if node["label"] == "Column"}
    compared = 0
    for start in naive.labelled("Column")[::3]:
        node = naive.nodes[start]
        reached = {start, *reach(columns, start, upstream=False, depth=None)}
        fed = {owner.get(key, key) for key in reached}
        fed |= {found for key in fed for found in reach(datasets, key, upstream=False, depth=None)}
        for change in (
            ImpactChange(node["dataset"], node["name"], schema=REMOVED),
            ImpactChange(node["dataset"], node["name"], ChangeType.DATA_INCORRECT),
            ImpactChange(node["dataset"], node["name"], ChangeType.PRIVACY_RECLASSIFICATION),
        ):
            impact = analyze(reader, change, page=ImpactPage(limit=1_000))
            for item in impact.items:
                key = item.asset.key
                assert key in reached or owner.get(key, key) in fed
                assert item.path[-1].asset == item.asset
                assert item.hops == len(item.path)
                assert item.path[-1].cause is item.cause
            assert len({item.asset.key for item in impact.items}) == len(impact.items) == impact.total
            if change.type is ChangeType.DATA_INCORRECT:
                question = LineageQuestion(
                    node["dataset"], LineageDirection.DOWNSTREAM, node["name"], None, Influence.DIRECT, limit=1_000
                )
                direct = {item.asset.key for item in lineage(reader, question).items}
                mine = {item.asset.key for item in impact.items if item.influence is Influence.DIRECT}
                assert mine & set(owner) <= direct
                compared += len(mine)
            assert len(impact.summary) < 100_000
    assert compared > 5
