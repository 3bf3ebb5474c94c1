"""A column under the names that it had: renamed, or of a name that a dropped column had before it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.checks import check, rule_named
from headwater_analysis.impact import Impact, ImpactChange, SchemaChange, analyze
from headwater_analysis.lineage import Influence, Lineage, LineageDirection, LineageQuestion, lineage
from headwater_analysis.privacy import PrivacyQuestion, privacy
from headwater_analysis.reader import Reader
from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    JobRef,
    LifecycleChange,
    LineageEvent,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    TransformationKind,
    TransformationType,
    build,
)
from headwater_schemas.identity import declaration_digest
from support.analysis.chains import BEGIN, ran
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


def copied(job: str, source: str, target: str, at: int, columns: str) -> list[LineageEvent]:
    """A run of 5 s, `at` seconds after the beginning; columns as `from>to`."""
    pairs = [each.split(">") for each in columns.split()]
    first, second = sorted([source, target])
    datasets = (DatasetRef("file", first), DatasetRef("file", second))
    edges = tuple(
        ColumnEdge(
            output=[first, second].index(target),
            output_field=after,
            input=[first, second].index(source),
            input_field=before,
            type=TransformationType.DIRECT,
            kind=TransformationKind.COPY,
        )
        for before, after in pairs
    )
    ended = BEGIN + timedelta(seconds=at + 5)
    plan = build.lineage_event(
        ColumnLineage(datasets=datasets, edges=tuple(sorted(edges))),
        job=JobRef("jobs", job),
        producer="test",
        event_time=ended,
    )
    assert plan.plan_event is not None
    digest = plan.plan_event.digest
    return [
        plan,
        ran(job, [DatasetRef("file", source)], [DatasetRef("file", target)], at, plan_digest=digest),
        table(target, at + 5, *(after for _, after in pairs)),
    ]


def table(
    path: str, at: int, *columns: str, facet: str | None = None, change: LifecycleChange | None = None
) -> LineageEvent:
    body = DatasetEvent(
        dataset=DatasetRef("file", path),
        schema=SchemaDefinition(tuple(SchemaField(path=each, type="string") for each in columns)),
        lifecycle=change or (LifecycleChange.ALTER if facet else None),
        facets={"headwater_columns": facet} if facet else {},
    )
    return build.lineage_event(body, producer="test", event_time=BEGIN + timedelta(seconds=at))


class Graph:
    """The graph of some events, and what it answers; of columns, `dataset#column` without slashes."""

    def __init__(self, driver: Driver, reader: Reader) -> None:
        self.driver = driver
        self.reader = reader

    def of(self, events: list[LineageEvent]) -> Graph:
        store(self.driver, reversed(events), at_once=1)
        assert list(dump(self.driver)) == list(oracle(fold(events)))
        return self

    def ask(self, column: str, direction: LineageDirection, *, as_of: int | None = None) -> Lineage:
        asset, _, path = column.partition("#")
        time = None if as_of is None else BEGIN + timedelta(seconds=as_of)
        influence = Influence.DIRECT
        question = LineageQuestion(f"/{asset}", direction, column=path, depth=None, influence=influence, as_of=time)
        return lineage(self.reader, question)

    def up(self, column: str, *, as_of: int | None = None) -> set[str]:
        return _columns(self.ask(column, LineageDirection.UPSTREAM, as_of=as_of))

    def down(self, column: str) -> set[str]:
        return _columns(self.ask(column, LineageDirection.DOWNSTREAM))

    def impact(self, column: str) -> set[str]:
        asset, _, path = column.partition("#")
        answer = analyze(self.reader, ImpactChange(f"/{asset}", path, schema=SchemaChange.REMOVED))
        return _columns(answer)

    def holding(self, column: str) -> dict[str, bool]:
        """Columns with the values of a sensitive column; True for those that only held them formerly."""
        asset, _, path = column.partition("#")
        question = PrivacyQuestion(f"/{asset}", path, as_=Sensitivity.PII)
        found = privacy(self.reader, question, date(2025, 1, 1)).items
        return {f"{each.asset.name[1:]}#{each.asset.column}": each.former for each in found}


def _columns(answer: Lineage | Impact) -> set[str]:
    return {f"{item.asset.name[1:]}#{item.asset.column}" for item in answer.items}


@pytest.fixture
def graph(clean_database: Driver, reader: Reader) -> Graph:
    return Graph(clean_database, reader)


RENAMED = '{"renamed":[{"previous":"nm","path":"full_name"}]}'
DROPPED = '{"dropped":["label"]}'


def test_what_was_written_under_the_old_name_is_read_under_the_new_one(graph: Graph) -> None:
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "id>id name>nm"),
            *copied("early", "/t", "/before", 10, "nm>label"),
            table("/t", 20, "id", "full_name", facet=RENAMED),
            *copied("read", "/t", "/out", 30, "id>id full_name>label"),
        ]
    )
    assert graph.up("out#label") == {"t#full_name", "src#name"}
    assert graph.up("out#id") == {"t#id", "src#id"}
    assert graph.down("src#name") == {"t#full_name", "before#label", "out#label"}
    # By the old name the same column is found.
    for name in ("nm", "full_name"):
        answer = graph.ask(f"t#{name}", LineageDirection.DOWNSTREAM)
        assert (answer.start.column, _columns(answer)) == ("full_name", {"before#label", "out#label"})
        assert answer.notes == (
            (
                "The column was called nm until 2025-01-01 00:00:20 UTC: "
                "data written and read under that name is included."
            ),
        )
    assert graph.impact("src#name") >= {"t#full_name", "out#label"}
    assert graph.holding("src#name") == {"t#full_name": False, "before#label": False, "out#label": False}


@pytest.mark.nightly
def test_a_sensitive_column_is_checked_under_all_its_names(graph: Graph, reader: Reader) -> None:
    sensitive = DeclaredColumn(path="nm", sensitivity=Sensitivity.PII)
    declared = DeclarationEvent(set="s", dataset=DatasetRef("file", "/t"), columns=(sensitive,))
    of_all = DeclarationEvent(set="s", dataset=DatasetRef("file", "/u"), sensitivity=Sensitivity.RESTRICTED)
    items = tuple(sorted(map(declaration_digest, (declared, of_all))))
    bodies = (declared, of_all, DeclarationSetEvent(set="s", revision=1, items=items))
    when = BEGIN + timedelta(seconds=50)
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "name>nm"),
            table("/t", 20, "full_name", facet=RENAMED),
            *copied("read", "/t", "/out", 30, "full_name>label"),
            # The copy was renamed; the whole dataset is declared.
            *copied("copy", "/u", "/v", 0, "a>nm"),
            table("/v", 20, "full_name", facet=RENAMED),
            *(build.lineage_event(each, producer="test", event_time=when) for each in bodies),
        ]
    )
    (found,) = check(reader, when, rules=[rule_named("sensitive-downstream")]).rules
    assert sorted(each.message for each in found.findings) == [
        "full_name is made from file:/u#a, which is RESTRICTED, and has no sensitivity or classification.",
        "label is made from file:/t#full_name, which is PII, and has no sensitivity or classification.",
    ]


@pytest.mark.nightly
def test_a_name_that_was_given_to_another_column_has_none_of_the_first(graph: Graph) -> None:
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "a>nm"),
            table("/t", 20, "full_name", facet=RENAMED),
            *copied("again", "/src", "/t", 30, "b>nm a>full_name"),
            *copied("read", "/t", "/out", 40, "nm>nm full_name>full_name"),
        ]
    )
    assert graph.up("out#nm") == {"t#nm", "src#b"}
    assert graph.up("out#full_name") == {"t#full_name", "src#a"}
    assert graph.down("src#b") == {"t#nm", "out#nm"}


@pytest.mark.nightly
def test_nested_fields_have_new_paths_with_their_struct(graph: Graph) -> None:
    facet = '{"renamed":[{"previous":"addr","path":"address"},{"previous":"s.a","path":"s.b"}]}'
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "zip>addr.zip a>s.a"),
            table("/t", 20, "address", "address.zip", "s", "s.b", facet=facet),
            *copied("read", "/t", "/out", 30, "address.zip>zip s.b>b"),
        ]
    )
    assert graph.up("out#zip") == {"t#address.zip", "src#zip"}
    assert graph.up("out#b") == {"t#s.b", "src#a"}
    assert graph.down("src#zip") == {"t#address.zip", "out#zip"}


@pytest.mark.nightly
def test_a_column_that_was_dropped_and_added_is_another_one(graph: Graph) -> None:
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "id>id ssn>label"),
            table("/t", 20, "id", facet=DROPPED),
            table("/t", 25, "id", "label", change=LifecycleChange.ALTER),
            *copied("read", "/t", "/out", 30, "id>id label>label"),
        ]
    )
    answer = graph.ask("out#label", LineageDirection.UPSTREAM)
    assert _columns(answer) == {"t#label"}
    note = (
        "file:/t#label was another column until 2025-01-01 00:00:20 UTC, which was dropped: "
        "data written into the dropped column, or read from it, is left out."
    )
    assert answer.notes == (note,)
    assert graph.up("out#id") == {"t#id", "src#id"}
    # As it was before, and what may still be there of it.
    assert graph.up("t#label", as_of=10) == {"src#ssn"}
    down = graph.ask("src#ssn", LineageDirection.DOWNSTREAM)
    assert (_columns(down), down.notes[1:]) == (set(), answer.notes)
    assert graph.holding("src#ssn") == {"t#label": True, "out#label": True}
    # The job names it when it runs next.
    assert graph.impact("src#ssn") >= {"t#label"}


def test_the_columns_of_a_replaced_table_are_others(graph: Graph) -> None:
    """CREATE OR REPLACE TABLE leaves no row: a column has no value of the one that had its name."""
    graph.of(
        [
            *copied("fill", "/src", "/t", 0, "id>id ssn>label"),
            table("/t", 20, "id", "label", facet='{"dropped":["id","label"]}', change=LifecycleChange.OVERWRITE),
            *copied("read", "/t", "/out", 30, "id>id label>label"),
        ]
    )
    answer = graph.ask("out#label", LineageDirection.UPSTREAM)
    assert _columns(answer) == {"t#label"}
    assert [note.partition(" until ")[0] for note in answer.notes] == ["file:/t#label was another column"]
    assert graph.holding("src#ssn") == {"t#label": True, "out#label": True}


def test_a_column_that_was_dropped_is_still_the_one_of_its_name(graph: Graph) -> None:
    graph.of([*copied("fill", "/src", "/t", 0, "id>id ssn>label"), table("/t", 20, "id", facet=DROPPED)])
    assert graph.up("t#label") == {"src#ssn"}
    assert graph.ask("t#label", LineageDirection.UPSTREAM).gone
