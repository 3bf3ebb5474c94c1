from __future__ import annotations

from headwater_producers.spark.plan.column import DirectSource, FieldRef, ValueLineage
from headwater_producers.spark.plan.description import Upstream
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_schemas.events import DatasetRef

PEOPLE = DatasetRef("file", "/people")


def frame(columns: int, *, hidden: int = 0) -> Upstream:
    pairs = [
        (Attribute(i, f"c{i}"), ValueLineage(frozenset({DirectSource(FieldRef(PEOPLE, (f"c{i}",)))})))
        for i in range(columns)
    ]
    relation = Relation().with_output(pairs)
    more = {columns + i: ValueLineage() for i in range(hidden)}
    return Upstream(relation=Relation(relation.output, {**relation.columns, **more}))


def test_a_frame_is_known_by_its_rdd() -> None:
    frames = KnownFrames()
    frames.remember(7, frame(2))
    found = frames.of(7)
    assert found is not None
    assert [attribute.name for attribute in found.relation.output] == ["c0", "c1"]
    assert frames.of(8) is None


def test_only_columns_that_come_out_of_it_are_kept() -> None:
    frames = KnownFrames()
    frames.remember(7, frame(2, hidden=500))
    found = frames.of(7)
    assert found is not None
    assert len(found.relation.columns) == 2


def test_beyond_the_limit_the_one_used_least_recently_is_forgotten() -> None:
    frames = KnownFrames(max_columns=10)
    for rdd in (1, 2, 3):
        frames.remember(rdd, frame(3))
    assert frames.of(1) is not None
    frames.remember(4, frame(3))
    assert [rdd in frames for rdd in (1, 2, 3, 4)] == [True, False, True, True]
    frames.remember(1, frame(3))
    assert [rdd in frames for rdd in (1, 3, 4)] == [True, True, True], "remembered again, it counts once"
    frames.remember(5, frame(11))
    assert [rdd in frames for rdd in (1, 3, 4, 5)] == [False] * 4, "one that is too large by itself isn't kept either"
