"""Reviews on graphs made for them: each difference as impact has it alone, consumers, writers, what isn't known."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.cli import main
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.impact import ImpactChange, ImpactPage, SchemaChange, Severity, analyze
from headwater_analysis.impact.graph import ImpactGraph
from headwater_analysis.impact.moves import ChangeStart
from headwater_analysis.impact.spread import ImpactSpread, spread
from headwater_analysis.reader import Reader, Transaction
from headwater_review import schema_review
from headwater_review.compare import DifferenceKind, SchemaDifference
from headwater_review.jobs.job_review import review_job
from headwater_review.jobs.version import version_of
from headwater_review.reading.files import read_schema
from headwater_review.schema_review import Question, Review, review
from headwater_schemas.events import (
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    Sensitivity,
    build,
)
from headwater_schemas.identity import declaration_digest
from support.analysis.dense_events import dense_events
from support.analysis.written import plan, table
from support.graph.colliding import PRODUCER, START
from support.review_in_ci import pull_request, run_action, run_template

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[3]
ORDERS = DatasetRef("w", "orders")
FIELDS = ("id int", "price int", "state string", "note string", "unused int")
SHOP: list[LineageEvent] = [
    table("orders", FIELDS),
    table("report", ("id int", "total bigint")),
    table("copy", ("note string",)),
    plan(
        "daily",
        "orders.id > report.id COPY",
        "orders.price > report.total AGGREGATE",
        "orders.state > report.* FILTER_DEPENDENCY",
    ),
    plan("copying", "orders.note > copy.note COPY"),
]


def reviewed(reader: Reader, new: str, old: str | None = None, dataset: str = "orders", **renames: str) -> Review:
    before = None if old is None else read_schema("old", old)
    return review(reader, Question(dataset, read_schema("new", new), before, renames))


def severities(found: Review) -> dict[str, str]:
    return {f"{each.difference.kind} {each.difference.column}": each.severity for each in found.differences}


def declared(**consumers: tuple[str, ...]) -> list[LineageEvent]:
    """A set that declares which columns of orders each consumer reads; none: all of it."""
    return declared_set(
        *(
            DeclarationEvent(set="s", consumer=name, reads=(DatasetRead(ORDERS, columns),))
            for name, columns in consumers.items()
        )
    )


def declared_set(*made: DeclarationEvent, revision: int = 1) -> list[LineageEvent]:
    """The set `s` of these declarations."""
    digests = tuple(sorted(declaration_digest(each) for each in made))
    whole = DeclarationSetEvent(set="s", revision=revision, items=digests)
    events = [build.lineage_event(each, producer=PRODUCER, event_time=START) for each in made]
    return [*events, build.lineage_event(whole, producer=PRODUCER, event_time=START)]


def test_all_differences_at_once(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    found = reviewed(reader, "id int, price bigint, state string, remark string, extra int")
    assert severities(found) == {
        "REMOVED note": "BREAKING",
        "ADDED remark": "COSMETIC",
        "ADDED extra": "COSMETIC",
        "RETYPED price": "NONE",
        "REMOVED unused": "NONE",
    }
    assert found.severity is Severity.BREAKING
    assert (found.jobs_total, found.datasets_total) == (2, 2)
    removed = found.differences[0]
    assert removed.difference.similar == "remark"
    assert [item.asset.spelling for item in removed.items] == ["w/copy#note", "w/copy"]


def test_added_columns_spread_once(fill: Callable[..., None], reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 20,000 kept an impact of its own, of the whole dataset: gigabytes."""
    fill(SHOP)
    spreads: list[ChangeStart] = []

    def counted(graph: ImpactGraph, start: ChangeStart, *change: Any, **depth: Any) -> ImpactSpread:
        spreads.append(start)
        return spread(graph, start, *change, **depth)

    monkeypatch.setattr(schema_review, "spread", counted)
    found = reviewed(reader, ", ".join([*FIELDS, *(f"c{number} int" for number in range(300))]))
    assert sum(total.total for total in found.totals) == 300
    assert len(spreads) <= 2


def test_a_declared_rename_breaks_as_well(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    found = reviewed(reader, "id int, price int, state string, remark string, unused int", note="remark")
    assert severities(found) == {"RENAMED note": "BREAKING"}


def test_nothing_differs(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    found = reviewed(reader, ", ".join(FIELDS))
    assert found.differences == ()
    assert found.severity is Severity.NONE


def test_the_schema_in_the_graph_is_the_old_one_where_none_is_given(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    new = "id int, price int"
    assert severities(reviewed(reader, new)) == severities(reviewed(reader, new, ", ".join(FIELDS)))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_each_difference_is_what_impact_says_of_it_alone(fill: Callable[..., None], reader: Reader, seed: int) -> None:
    """On a dense graph with awkward names, for each dataset: all columns removed, retyped, or read in another unit."""
    dice = random.Random(seed)
    fill(list(dense_events(dice)))
    datasets = reader.read(lambda tx: [row.data() for row in tx._tx.run("MATCH (d:HwDataset) RETURN d.key AS key")])
    compared: Counter[str] = Counter()
    for dataset in sorted(row["key"] for row in datasets):
        columns = _columns(reader, dataset)
        if not columns:
            continue
        old = json.dumps([{"name": "kept", "type": "int"}, *columns])
        for change, new in (
            (SchemaChange.REMOVED, []),
            (SchemaChange.RETYPED, [{**column, "type": "binary"} for column in columns]),
            (SchemaChange.UNIT, [{**column, "unit": "b"} for column in columns]),
        ):
            new_text = json.dumps([{"name": "kept", "type": "int"}, *new])
            old_text = old if change is not SchemaChange.UNIT else json.dumps(
                [{"name": "kept", "type": "int"}, *({**column, "unit": "a"} for column in columns)]
            )  # fmt: skip
            question = Question(dataset, read_schema("new", new_text), read_schema("old", old_text), at="")
            for each in review(reader, question).differences:
                to = each.difference.after if change is SchemaChange.RETYPED else None
                alone = analyze(
                    reader,
                    ImpactChange(dataset, each.difference.column, schema=change, new_type=to),
                    page=ImpactPage(limit=10),
                )
                assert (each.severity, each.total, each.totals) == (alone.severity, alone.total, alone.totals)
                assert each.jobs_total == alone.jobs_total
                assert each.items == alone.items
                assert each.jobs == alone.jobs[:10]
                compared[change] += 1
    assert min(compared.values()) > 5


def _columns(reader: Reader, dataset: str) -> list[dict[str, Any]]:
    """Top-level columns of a dataset, for a list of columns."""
    text = (
        "MATCH (d:HwDataset {key: $key})-[:HAS_COLUMN]->(c) "
        "WHERE c.data_type IS NULL OR c.data_type <> 'binary' RETURN c.name AS name ORDER BY name"
    )
    rows = reader.read(lambda tx: [row["name"] for row in tx._tx.run(text, {"key": dataset})])
    return [{"name": name, "type": "date"} for name in rows if "." not in name and "`" not in name]


def test_consumers_are_told_and_count(fill: Callable[..., None], reader: Reader) -> None:
    fill([*SHOP, *declared(board=("unused",), model=())])
    gone = reviewed(reader, "id int, price int, state string, note string")
    assert severities(gone) == {"REMOVED unused": "BREAKING"}
    assert gone.differences[0].reasons == (
        "Consumer board reads this column.",
        "Consumer model reads the dataset as a whole.",
    )
    assert [consumer.name for consumer in gone.consumers] == ["board", "model"]
    wider = reviewed(reader, "id int, price int, state string, note string, unused bigint")
    assert severities(wider) == {"RETYPED unused": "NONE"}
    narrower = reviewed(reader, "id int, price int, state string, note string, unused smallint")
    assert severities(narrower) == {"RETYPED unused": "DEGRADED"}


def test_a_consumer_of_the_whole_dataset_may_not_need_the_column(fill: Callable[..., None], reader: Reader) -> None:
    fill([*SHOP, *declared(model=())])
    assert severities(reviewed(reader, "id int, price int, state string, note string")) == {
        "REMOVED unused": "DEGRADED"
    }


def test_jobs_of_incomplete_lineage_are_named(fill: Callable[..., None], reader: Reader) -> None:
    """A column that no plan names may still be used by a job that doesn't report all."""
    fill([*SHOP, table("other", ("x int",)), plan("murky", "orders.id > other.x COPY", complete=False)])
    found = reviewed(reader, "id int, price int, state string, note string")
    assert severities(found) == {"REMOVED unused": "DEGRADED"}
    assert (found.unseen, found.unseen_total) == (("murky",), 1)
    complete = reviewed(reader, ", ".join(FIELDS))
    assert complete.unseen == ("murky",)


def test_a_column_that_the_graph_has_not(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    found = reviewed(reader, "id int", "id int, secret int")
    assert severities(found) == {"REMOVED secret": "NONE"}
    fill([table("other", ("x int",)), plan("murky", "orders.id > other.x COPY", complete=False)])
    assert severities(reviewed(reader, "id int", "id int, secret int")) == {"REMOVED secret": "DEGRADED"}


def test_writers_have_to_follow_what_constrains_their_rows(fill: Callable[..., None], reader: Reader) -> None:
    same = ", ".join(FIELDS)
    fill(SHOP)
    assert severities(reviewed(reader, f"{same}, region string not null")) == {"ADDED region": "COSMETIC"}
    run = RunEvent(type=RunEventType.COMPLETE, outputs=(DatasetUse(dataset=ORDERS),))
    fill(
        [
            build.lineage_event(
                run,
                job=JobRef("j", "load"),
                run=RunRef("0197c1de-0000-7bd1-9d55-000000000001"),
                producer=PRODUCER,
                event_time=START,
            )
        ]
    )
    found = reviewed(reader, f"{same}, region string not null")
    assert severities(found) == {"ADDED region": "DEGRADED"}
    assert found.differences[0].reasons == ("load writes the dataset, and has to fill the new column.",)
    assert severities(reviewed(reader, f"{same}, region string")) == {"ADDED region": "COSMETIC"}


def test_names_in_another_case_are_found(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    assert severities(reviewed(reader, "id int", "ID int, id int"))["REMOVED ID"] == "BREAKING"


def test_what_can_not_be_compared_is_an_error(fill: Callable[..., None], reader: Reader) -> None:
    fill([*SHOP, table("empty", ())])
    with pytest.raises(QuestionError, match="no schema of w/empty"):
        reviewed(reader, "a int", dataset="empty")
    with pytest.raises(NotFoundError):
        reviewed(reader, "a int", dataset="nothing")
    with pytest.raises(QuestionError, match="no column 'x'"):
        reviewed(reader, "id int, y int", x="y")


@pytest.mark.nightly
def test_five_thousand_columns_take_no_more_questions_than_five(
    fill: Callable[..., None], reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(self: Transaction, name: str, /, **parameters: Any) -> Any:
            asked.append(name)
            return call(self, name, **parameters)

        return counting

    for method in ("rows", "sent"):
        monkeypatch.setattr(Transaction, method, counted(getattr(Transaction, method)))

    def wide(count: int) -> tuple[int, Review]:
        names = [f"c{number}" for number in range(count)]
        fill(
            [
                table(f"wide{count}", [f"{name} int" for name in names]),
                table(f"copy{count}", [f"{name} int" for name in names]),
                plan(f"j{count}", *(f"wide{count}.{name} > copy{count}.{name} COPY" for name in names)),
            ]
        )
        asked.clear()
        found = reviewed(reader, "x int", dataset=f"wide{count}")
        return len(asked), found

    few, _ = wide(5)
    many, found = wide(5_000)
    assert many == few
    assert Counter(each.severity for each in found.differences) == {Severity.BREAKING: 1_000}, "the worst of 5,001"


def test_the_command(
    fill: Callable[..., None],
    settings_of_stack: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(SHOP)
    monkeypatch.chdir(tmp_path)
    Path("new.sql").write_text("id int,\nprice bigint,\nstate string, unused int\n")
    assert main(["review", "--dataset", "orders", "new.sql"]) == 0
    assert main(["review", "--dataset", "orders", "new.sql", "--fail-on", "breaking"]) == 5
    assert "REMOVED" not in capsys.readouterr().out
    written = ["--markdown", "m.md", "--sarif", "s.json", "--gitlab", "g.json"]
    assert main(["review", "--dataset", "orders", "new.sql", *written, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["severity"] == "BREAKING"
    assert "**BREAKING**" in Path("m.md").read_text()
    (result,) = json.loads(Path("s.json").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("headwater/removed", "error")
    (finding,) = json.loads(Path("g.json").read_text())
    assert (finding["severity"], finding["location"]["path"]) == ("blocker", "new.sql")
    Path("bad.json").write_text('{"type": "struct",\n"fields": [{"type": "int"}]}')
    for arguments, says in (
        (["new.sql", "bad.json"], "bad.json, line 2: fields[0].name: is missing"),
        (["missing.sql"], "missing.sql can't be read"),
        (["new.sql", "new.sql", "new.sql"], "3 files"),
        (["new.sql", "--rename", "x=y"], "--rename: the graph has no column 'x'"),
        (["new.sql", "--rename", "x"], "write OLD=NEW"),
        (["new.sql", "--at", "x"], "--at: w/orders has no column 'x'"),
    ):
        assert main(["review", "--dataset", "orders", *arguments]) == 2
        assert says in capsys.readouterr().err


def test_a_topic_is_reviewed_by_its_value(fill: Callable[..., None], reader: Reader) -> None:
    fields = ("key string", "value string", "value.id int", "value.price int")
    fill(
        [
            table("orders", fields, type="TOPIC"),
            table("report", ("id int",)),
            plan("j", "orders.value.id > report.id COPY"),
        ]
    )
    suggested = reviewed(reader, "price int, ident int").differences[0]
    assert suggested.reasons == ("Is it renamed to value.ident? Then give --rename id=ident.",)
    assert severities(reviewed(reader, "price int, ident int", id="ident")) == {"RENAMED value.id": "BREAKING"}
    found = reviewed(reader, "price int")
    assert severities(found) == {"REMOVED value.id": "BREAKING"}
    assert found.differences[0].difference.kind is DifferenceKind.REMOVED
    whole = review(reader, Question("orders", read_schema("new", "key string, value string"), at=""))
    assert severities(whole) == {"REMOVED value.id": "BREAKING", "REMOVED value.price": "NONE"}


@pytest.mark.nightly
def test_the_scripts_for_ci(fill: Callable[..., None], settings_of_stack: None, tmp_path: Path) -> None:
    """GitHub's and GitLab's, with the real command."""
    fill(SHOP)
    clone, base = pull_request(
        tmp_path, ", ".join(FIELDS), "id int, price int, state string, remark string, unused int"
    )
    commands = Path(sys.executable).parent
    outputs, written, _ = run_action(tmp_path, clone, commands)
    assert outputs == {"status": "5", "sarif": "true"}
    assert "note is removed" in (written / "summary").read_text()
    assert json.loads((written / "review.sarif").read_text())["runs"][0]["results"]
    done = run_template(clone, base, commands, RENAME="note=remark", FAIL_ON="degraded")
    assert done.returncode == 5
    assert "note is renamed to remark" in (clone / "headwater-review.md").read_text()
    (finding,) = json.loads((clone / "headwater-review.json").read_text())
    assert finding["location"]["path"] == "schemas/orders.sql"


@pytest.mark.nightly
def test_what_a_job_does_to_a_leaf_concerns_its_declared_consumers(fill: Callable[..., None], reader: Reader) -> None:
    """Nothing is downstream of `copy` but a consumer: of the dataset, or of one of its columns."""
    schema = read_schema("new", "note string")
    kinds = (DifferenceKind.ROWS, DifferenceKind.WRITE_MODE, DifferenceKind.OUTPUT_REMOVED, DifferenceKind.POSITION)
    changes = (*(SchemaDifference(kind, "", before="a", after="b") for kind in kinds), SchemaDifference(
        DifferenceKind.WRITE_MODE, "", before="append", after="overwrite", overwrites_more=True
    ))  # fmt: skip

    def found() -> list[str]:
        answer = review(reader, Question("copy", schema, schema, differences=changes))
        by_difference = {each.difference: each.severity.value for each in answer.differences}
        return [by_difference[each] for each in changes]

    fill(SHOP)
    assert found() == ["NONE", "NONE", "NONE", "NONE", "DEGRADED"]
    reads = [DatasetRead(DatasetRef("w", "copy"), columns) for columns in ((), ("note",))]
    for read in reads:
        fill(declared_set(DeclarationEvent(set="s", consumer="board", reads=(read,))))
        assert found() == ["DEGRADED", "DEGRADED", "BREAKING", "BREAKING", "DEGRADED"]
    partitioned = "create table t (note string) partitioned by (note)"
    answer = review(
        reader, Question("copy", read_schema("new", partitioned), read_schema("old", "create table t (note string)"))
    )
    assert severities(answer) == {"PARTITIONING ": "DEGRADED"}
    assert answer.differences[0].reasons == ("Consumer board reads the dataset.",)


def test_a_member_that_the_graph_has_not_is_one_of_its_column(fill: Callable[..., None], reader: Reader) -> None:
    fill(SHOP)
    schema = read_schema("new", "note string")
    changes = tuple(SchemaDifference(kind, "note.a") for kind in (DifferenceKind.MEANING, DifferenceKind.REMOVED))
    answer = review(reader, Question("orders", schema, schema, differences=changes))
    assert severities(answer) == {"MEANING note.a": "DEGRADED", "REMOVED note.a": "DEGRADED"}


def test_how_bad_a_lost_hash_is_depends_on_what_is_declared(fill: Callable[..., None], reader: Reader) -> None:
    step = {"kind": "HASH", "masking": True, "expression": None, "field": "note"}
    read = {"source": "table", "name": "orders", "field": "note", "steps": [step]}
    copied = {**read, "steps": [{**step, "kind": "COPY", "masking": False}]}
    note = {"name": "note", "type": "string", "nullable": True, "metadata": {}}
    old, new = (
        version_of(name, [{
            "kind": "table", "name": "copy", "mode": "append", "format": None, "partitioned_by": [], "options": {},
            "schema": {"type": "struct", "fields": [note]}, "influences": [], "settings": {}, "reason": None,
            "rows": "r", "columns": {"note": name}, "together": {"note": name}, "values": {"note": name},
            "read": {"note": [field]}, "unread": None, "expressions": {"note": name},
        }], [], [], [])
        for name, field in (("old", read), ("new", copied))
    )  # fmt: skip
    fill(SHOP)
    expected = {None: "BREAKING", "PII": "BREAKING", "CONFIDENTIAL": "DEGRADED", "INTERNAL": "NONE"}
    for revision, (sensitivity, severity) in enumerate(expected.items(), start=1):
        if sensitivity is not None:
            about = DeclaredColumn(path="note", sensitivity=Sensitivity(sensitivity))
            fill(declared_set(DeclarationEvent(set="s", dataset=ORDERS, columns=(about,)), revision=revision))
        (output,) = review_job(reader, old, new).outputs
        assert severities(output)["PRIVACY note"] == severity, sensitivity
