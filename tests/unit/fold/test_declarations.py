"""Stored facts of a declaration that states little, nothing, or one thing several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_graph.facts.declarations import DeclarationFacts
from headwater_graph.fold import fold
from headwater_graph.keys import column_key, dataset_key
from headwater_schemas.events import (
    Approval,
    ConsumerType,
    DatasetMark,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    Owner,
    PartitionMapping,
    Sensitivity,
    Tag,
    build,
)
from support.events import AIRLINES, DEPARTED, ENRICHED, JOB, PRODUCER, TIME

if TYPE_CHECKING:
    import pytest


def declared(**fields: Any) -> DeclarationFacts:
    body = DeclarationEvent(set="s", **fields)
    delta = fold([build.lineage_event(body, producer=PRODUCER, event_time=TIME, tenant="t")])
    assert not delta.links
    [facts] = delta.declarations.values()
    return facts


def stated(facts: DeclarationFacts) -> dict[str, Any]:
    """Without what every declaration has."""
    every = ("key", "name", "tenant", "set", "subject", "subject_type", "_asset", "_scope")
    return {name: value for name, value in facts.properties.items() if name not in every}


def key_of(dataset: DatasetRef) -> str:
    return dataset_key("t", dataset.namespace, dataset.name)


TAGS = (Tag(key="b"), Tag(key="a", value="2"), Tag(key="a", value="1"), Tag(key="b"))
READ, WRITTEN = key_of(DEPARTED), key_of(ENRICHED)
PLANES = key_of(AIRLINES)


DECLARED_PROPERTIES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"dataset": ENRICHED}, {}),
    ({"dataset": ENRICHED, "columns": (), "marks": ()}, {}),
    ({"dataset": ENRICHED, "tags": (), "glossary": ()}, {"tags": [], "tag_values": [], "glossary": []}),
    ({"dataset": ENRICHED, "tags": TAGS}, {"tags": ["a", "a", "b"], "tag_values": ["1", "2", ""]}),
    ({"dataset": ENRICHED, "glossary": ("b", "a", "b")}, {"glossary": ["a", "b"]}),
    ({"dataset": ENRICHED, "certified": False, "notice_days": 0}, {"certified": False, "notice_days": 0}),
    ({"dataset": ENRICHED, "sensitivity": Sensitivity.UNKNOWN}, {}),
    (
        {"dataset": ENRICHED, "owners": (Owner("zoe"), Owner("amy", "STEWARD"))},
        {"owners": ["amy", "zoe"], "owner_types": ["STEWARD", ""]},
    ),
    (
        {"dataset": ENRICHED, "marks": (DatasetMark(mark="b"), DatasetMark(mark="a", version="1"))},
        {"marks": ["a", "b"], "mark_versions": ["1", ""], "mark_spreads": ["", ""], "mark_reasons": ["", ""]},
    ),
    (
        {"dataset": ENRICHED, "columns": (DeclaredColumn(path="b"), DeclaredColumn(path="a"))},
        {"columns": ["b", "a"]},
    ),
    ({"job": JOB}, {"_job": "enrich"}),
    ({"job": JOB, "inputs": (DEPARTED,)}, {"_job": "enrich", "inputs": [READ]}),
    ({"job": JOB, "outputs": (ENRICHED,)}, {"_job": "enrich", "outputs": [WRITTEN]}),
    ({"consumer": "board"}, {}),
    ({"consumer": "board", "type": ConsumerType.UNKNOWN}, {}),
    ({"consumer": "board", "type": ConsumerType.DASHBOARD}, {"type": "DASHBOARD"}),
    (
        {
            "consumer": "board",
            "reads": (DatasetRead(ENRICHED, ("a",)), DatasetRead(DEPARTED), DatasetRead(ENRICHED)),
        },
        {"_consumes": sorted([READ, WRITTEN, column_key("t", WRITTEN, "a")])},
    ),
]


def test_what_is_not_declared_is_no_property(subtests: pytest.Subtests) -> None:
    for fields, expected in DECLARED_PROPERTIES:
        with subtests.test(fields=fields):
            assert stated(declared(**fields)) == expected


DECLARED_COLUMNS: list[tuple[DeclaredColumn, dict[str, Any]]] = [
    (DeclaredColumn(path="a"), {}),
    (DeclaredColumn(path="a", tags=(), glossary=()), {"tags": [], "tag_values": [], "glossary": []}),
    (DeclaredColumn(path="a", sensitivity=Sensitivity.UNKNOWN, smallest_group=0), {"smallest_group": 0}),
    (
        DeclaredColumn(
            path="a",
            approval=Approval(covers=Sensitivity.PII, sensitivity=Sensitivity.UNKNOWN, by="jo", reason="so"),
        ),
        {"approval_covers": "PII", "approval_by": "jo", "approval_reason": "so"},
    ),
]


def test_what_is_not_declared_of_a_column_is_no_property(subtests: pytest.Subtests) -> None:
    for column, expected in DECLARED_COLUMNS:
        with subtests.test(column=column):
            other = DeclaredColumn(path="b", description="other")
            facts = declared(dataset=ENRICHED, columns=(column, other))
            assert facts.columns == (
                (column_key("t", WRITTEN, "a"), expected),
                (column_key("t", WRITTEN, "b"), {"description": "other"}),
            )


def test_partitions_are_listed_by_the_datasets_that_they_are_of() -> None:
    mappings = [
        PartitionMapping(input=source, output=ENRICHED, input_field=field, output_field="month", transform="month")
        for source, field in ((DEPARTED, "day"), (AIRLINES, "since"), (DEPARTED, "date"))
    ]
    found = stated(declared(job=JOB, partitions=tuple(mappings)))
    rows = sorted([(READ, "day"), (PLANES, "since"), (READ, "date")])
    assert found == {
        "_job": "enrich",
        "partition_inputs": [source for source, _ in rows],
        "partition_outputs": [WRITTEN] * 3,
        "partition_input_fields": [field for _, field in rows],
        "partition_output_fields": ["month"] * 3,
        "partition_transforms": ["month"] * 3,
    }


def test_what_is_declared_is_there_with_its_columns() -> None:
    body = DeclarationEvent(set="s", consumer="board", reads=(DatasetRead(ENRICHED, ("b", "a")),))
    delta = fold([build.lineage_event(body, producer=PRODUCER, event_time=TIME, tenant="t")])
    [dataset] = delta.datasets.values()
    assert dataset.columns.keys() == {"a", "b"}
    assert [node.identity["name"] for node in delta.consumers.values()] == ["board"]


def test_a_set_has_what_its_event_states_of_it() -> None:
    events = [
        build.lineage_event(
            DeclarationSetEvent(set="s", revision=number, items=("b", "a")), producer=PRODUCER, event_time=TIME
        )
        for number in (1, 2)
    ]
    [found] = fold(events).declaration_sets.values()
    assert found.revision is not None
    assert (found.revision.number, found.revision.properties) == (2, {"declared_at": TIME})
    assert list(found.revision.items) == sorted(found.revision.items)
    assert len(found.revision.items) == 2
