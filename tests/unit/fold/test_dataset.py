"""Facts of a dataset's event, with unknown ones left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import RelType
from headwater_graph.fold import fold
from headwater_schemas.events import LifecycleChange, SchemaDefinition, SchemaField, Symlink
from support.events import ENRICHED, TIME, with_body

if TYPE_CHECKING:
    import pytest


def folded(**changed: Any) -> GraphDelta:
    return fold([with_body("dataset", **changed)])


def test_what_is_renamed_had_another_name() -> None:
    delta = folded()
    assert {node.identity["name"] for node in delta.datasets.values()} == {ENRICHED.name, "flights.joined"}
    assert [(link.type, link.via) for link in delta.links] == [(RelType.RENAMED_TO, "")]
    there = {node.identity["name"]: node.registers["existence"][1] for node in delta.datasets.values()}
    assert there == {ENRICHED.name: {"dropped": False}, "flights.joined": {"dropped": True, "dropped_at": TIME}}


def test_what_is_not_renamed_or_had_no_known_name_has_none_before(subtests: pytest.Subtests) -> None:
    for changed in ({"lifecycle": LifecycleChange.ALTER}, {"lifecycle": None}, {"previous": None}):
        with subtests.test(changed=changed):
            delta = folded(**changed)
            assert [node.identity["name"] for node in delta.datasets.values()] == [ENRICHED.name]
            assert not delta.links


THERE, GONE = {"dropped": False}, {"dropped": True, "dropped_at": TIME}


LEFT_BY_CHANGE: list[tuple[LifecycleChange, dict[str, Any] | None, bool]] = [
    (LifecycleChange.CREATE, THERE, False),
    (LifecycleChange.OVERWRITE, THERE, False),
    (LifecycleChange.RENAME, THERE, False),
    (LifecycleChange.ALTER, None, False),
    (LifecycleChange.TRUNCATE, None, True),
    (LifecycleChange.DROP, GONE, True),
]


def test_what_is_left_of_a_dataset_by_each_change(subtests: pytest.Subtests) -> None:
    for change, existence, emptied in LEFT_BY_CHANGE:
        with subtests.test(change=change, existence=existence):
            [node] = folded(lifecycle=change, previous=None).datasets.values()
            values = {name: cell for name, (_, cell) in node.registers.items()}
            assert (values.get("existence"), values.get("emptied_at")) == (existence, TIME if emptied else None)


def test_what_has_no_type_has_an_empty_one_beside_the_others() -> None:
    delta = folded(
        schema=SchemaDefinition((SchemaField(path="a", type="int", nullable=True), SchemaField(path="b"))),
        symlinks=(Symlink("hive://m", "x", "TABLE"), Symlink("hive://m", "y")),
    )
    [schema] = delta.schemas.values()
    assert (schema.identity["data_types"], schema.identity["nullable"]) == (["int", ""], ["true", ""])
    [symlinks] = [n.registers["symlinks"][1] for n in delta.datasets.values() if "symlinks" in n.registers]
    assert isinstance(symlinks, dict)
    assert (symlinks["symlinks"], symlinks["symlink_types"]) == (["x", "y"], ["TABLE", ""])
