"""Parts of a batch have no job or dataset in common, and are all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import pytest

from headwater_benchmarks.workload.mixture import Mixture, Proportions
from headwater_consumers.materializer.fold import Filled, TemplateDecoder, disjoint
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import DatasetRef, JobRef, LineageEvent, Symlink
from support.graph.colliding import Pools, colliding_events


def named(value: Any) -> Iterator[tuple[str, str, str]]:
    """Every job and dataset in an event, wherever it is."""
    if isinstance(value, JobRef):
        yield "job", value.namespace, value.name
    elif isinstance(value, DatasetRef | Symlink):
        yield "dataset", value.namespace, value.name
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from named(getattr(value, field))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from named(each)


def names(events: Any) -> set[tuple[str, ...]]:
    found = (event.event if isinstance(event, Filled) else event for event in events)
    return {(event.tenant, *name) for event in found for name in named(event)}


def mixture(count: int, seed: int = 1) -> list[LineageEvent | Filled]:
    templates = TemplateDecoder(Decoder())
    return [templates.decode(encode(event)) for event in Mixture(seed, Proportions(queries=6)).take(count)]


@pytest.mark.parametrize("most", [2, 3, 4])
def test_parts_have_nothing_in_common_and_are_all_of_it(most: int) -> None:
    events = mixture(900)
    assert any(isinstance(event, Filled) for event in events)
    parts = disjoint(events, most)
    assert len(parts) == most
    for one, other in combinations(parts, 2):
        assert names(one).isdisjoint(names(other))
    places = {id(event): at for at, event in enumerate(events)}
    assert sorted(places[id(event)] for part in parts for event in part) == list(range(len(events)))
    for part in parts:
        order = [places[id(event)] for event in part]
        assert order == sorted(order)


@pytest.mark.parametrize("seed", range(30))
def test_any_kinds_of_event(seed: int) -> None:
    dice = random.Random(seed)
    # Declarations name many things, and may be in any part.
    events = colliding_events(dice, 12, Pools(declarations=0))
    parts = disjoint(events, 2, least=1)
    for one, other in combinations(parts, 2):
        assert names(one).isdisjoint(names(other))
    assert sorted(map(id, events)) == sorted(id(event) for part in parts for event in part)


def test_neither_part_is_much_larger() -> None:
    first, second = disjoint(mixture(900), 2)
    assert 1 / 3 < len(first) / len(second) < 3


def test_what_is_not_worth_a_transaction_stays_together() -> None:
    events = mixture(900)
    assert disjoint(events, 1) == [events]
    assert disjoint(events[:40], 2) == [events[:40]]
    assert disjoint([], 2) == [[]]
