"""Spread of sensitive values on small graphs: each end of it has a case that ends and one that nearly does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.privacy.operations import EXPOSURES, Effect, Exposure, Operation
from headwater_analysis.privacy.spread import (
    DeclaredFacts,
    Ending,
    PrivacyEdge,
    PrivacySpread,
    spread,
)

TODAY = date(2026, 1, 15)
INTERNAL, CONFIDENTIAL, PII, RESTRICTED = 2, 3, 4, 5
COPY = Effect(Operation.COPY)
HASH = Effect(Operation.HASH, Exposure.LINKABLE)
ENCRYPT = Effect(Operation.ENCRYPT, Exposure.ENCRYPTED)
DECRYPT = Effect(Operation.DERIVE, decrypts=True)
SUM = Effect(Operation.AGGREGATE, statistic=True)
MAX = Effect(Operation.AGGREGATE)


@dataclass
class Picture:
    """A graph in memory; nodes from 100 on are datasets, with `parts` as columns."""

    steps: list[PrivacyEdge] = field(default_factory=list)
    facts: dict[int, DeclaredFacts] = field(default_factory=dict)
    parts: dict[int, list[int]] = field(default_factory=dict)

    def to(
        self, source: int, target: int, effect: Effect = COPY, *, direct: bool = True, whole: bool = False
    ) -> Picture:
        self.steps.append(PrivacyEdge(source, target, len(self.steps), whole, direct, "j", effect, former=False))
        return self

    def edges(self, nodes: Sequence[int], /) -> list[PrivacyEdge]:
        return [step for step in self.steps if step.source in nodes]

    def columns(self, datasets: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        return {dataset: self.parts.get(dataset, []) for dataset in datasets}

    def declared(self, nodes: Sequence[int], /) -> Mapping[int, DeclaredFacts]:
        return {node: self.facts[node] for node in nodes if node in self.facts}


def followed(picture: Picture, level: int = PII, threshold: int = 10) -> PrivacySpread:
    return spread(picture, {1: level}, threshold=threshold, today=TODAY)


def exposures(found: PrivacySpread) -> dict[int, Exposure]:
    return {node: one.visit.exposure for node, one in found.reached.items()}


def test_a_hash_stays_linkable_whatever_is_made_of_it() -> None:
    picture = Picture().to(1, 2, HASH).to(2, 3).to(3, 4, MAX)
    assert exposures(followed(picture)) == dict.fromkeys((2, 3, 4), Exposure.LINKABLE)


def test_of_two_ways_the_worse_is_listed_though_it_is_longer() -> None:
    picture = Picture().to(1, 2, HASH).to(1, 3).to(3, 2)
    found = followed(picture)
    assert found.reached[2].visit.exposure is Exposure.READABLE
    assert found.walk.found[found.reached[2].visit].hops == 2


def test_what_is_encrypted_is_readable_once_it_is_decrypted() -> None:
    picture = Picture().to(1, 2, ENCRYPT).to(2, 3, DECRYPT).to(1, 4, HASH).to(4, 5, DECRYPT)
    assert exposures(followed(picture)) == {
        2: Exposure.ENCRYPTED,
        3: Exposure.READABLE,
        4: Exposure.LINKABLE,
        5: Exposure.LINKABLE,
    }


def test_what_is_left_out_goes_nowhere() -> None:
    """DROP: the job reads 1 and writes 2 of another column; nearly: a value of 2 is chosen by it."""
    assert followed(Picture().to(9, 2)).reached == {}
    assert followed(Picture().to(9, 2).to(1, 2, direct=False)).reached[2].visit.indirect


def test_a_statistic_over_groups_that_are_large_enough_ends_it() -> None:
    picture = Picture().to(1, 2, SUM).to(2, 3)
    picture.facts[2] = DeclaredFacts(smallest_group=10)
    found = followed(picture)
    assert found.reached.keys() == {2}
    assert found.reached[2].ending is Ending.AGGREGATE


def test_no_other_aggregate_does() -> None:
    for effect, size in ((SUM, 9), (MAX, 10), (SUM, None)):
        picture = Picture().to(1, 2, effect).to(2, 3)
        picture.facts[2] = DeclaredFacts(smallest_group=size)
        found = followed(picture)
        assert {node: one.ending for node, one in found.reached.items()} == {2: None, 3: None}, (effect, size)


def test_an_approval_that_covers_the_source_ends_it() -> None:
    picture = Picture().to(1, 2).to(2, 3)
    picture.facts[2] = DeclaredFacts(covers=PII, approved=INTERNAL, until="2026-01-15")
    found = followed(picture)
    assert {node: one.ending for node, one in found.reached.items()} == {2: Ending.APPROVAL}


def test_one_of_less_or_one_that_is_over_does_not() -> None:
    for facts in (
        DeclaredFacts(covers=CONFIDENTIAL, approved=INTERNAL),
        DeclaredFacts(covers=PII, approved=INTERNAL, until="2026-01-14"),
        DeclaredFacts(covers=PII, approved=0),
        DeclaredFacts(level=INTERNAL),
    ):
        picture = Picture().to(1, 2).to(2, 3)
        picture.facts[2] = facts
        assert followed(picture).reached.keys() == {2, 3}, facts
        assert followed(picture).reached[3].visit.level == PII


def test_an_approval_may_lower_it_and_it_goes_on() -> None:
    picture = Picture().to(1, 2).to(2, 3)
    picture.facts[2] = DeclaredFacts(covers=RESTRICTED, approved=CONFIDENTIAL)
    found = followed(picture, RESTRICTED)
    assert {node: (one.visit.level, one.ending) for node, one in found.reached.items()} == {
        2: (CONFIDENTIAL, None),
        3: (CONFIDENTIAL, None),
    }


def test_what_is_decided_by_a_value_is_apart_and_what_chooses_rows_goes_nowhere() -> None:
    picture = Picture().to(1, 2, direct=False).to(2, 3).to(1, 100, direct=False, whole=True).to(1, 4)
    picture.parts[100] = [5]
    found = followed(picture)
    assert {node: one.visit.indirect for node, one in found.reached.items()} == {2: True, 3: True, 100: True, 4: False}


def test_what_goes_into_every_column_of_a_dataset_goes_on_from_each() -> None:
    picture = Picture().to(1, 100, whole=True).to(5, 6)
    picture.parts[100] = [5]
    found = followed(picture)
    assert found.reached.keys() == {100, 5, 6}
    assert found.walk.found[found.reached[6].visit].hops == 2


def test_a_source_that_another_goes_into_is_listed_and_a_cycle_ends() -> None:
    picture = Picture().to(1, 2).to(2, 1)
    found = spread(picture, {1: PII, 2: CONFIDENTIAL}, threshold=10, today=TODAY)
    assert {node: one.visit.level for node, one in found.reached.items()} == {1: PII, 2: PII}


EFFECTS = (COPY, HASH, ENCRYPT, DECRYPT, SUM, MAX)
NODES = st.integers(1, 6)


@given(
    st.lists(st.tuples(NODES, NODES, st.sampled_from(EFFECTS), st.booleans()), max_size=12),
    st.dictionaries(NODES, st.sampled_from([DeclaredFacts(smallest_group=20), DeclaredFacts(covers=PII, approved=1)])),
)
def test_every_way_that_there_is_was_followed(
    edges: list[tuple[int, int, Effect, bool]], facts: dict[int, DeclaredFacts]
) -> None:
    """By definition: what any way exposes, with no order and no walk."""
    picture = Picture(facts=facts)
    for source, target, effect, direct in edges:
        picture.to(source, target, effect, direct=direct)
    states = {(1, Exposure.READABLE, False)}
    reached: set[tuple[int, bool, bool, Exposure]] = set()
    while True:
        more = set()
        for node, exposure, indirect in states:
            for source, target, effect, direct in edges:
                if source != node:
                    continue
                known = facts.get(target, DeclaredFacts())
                ended = bool(known.covers) or (effect.statistic and known.smallest_group is not None)
                after = effect.after(exposure) if direct else exposure
                reached.add((target, ended, indirect or not direct, after))
                if not ended:
                    more.add((target, after, indirect or not direct))
        if more <= states:
            break
        states |= more
    worst: dict[int, tuple[bool, bool, int]] = {}
    for node, ended, indirect, exposure in reached:
        rank = (ended, indirect, EXPOSURES.index(exposure))
        worst[node] = min(worst.get(node, rank), rank)
    found = followed(picture)
    assert worst == {
        node: (one.ending is not None, one.visit.indirect, EXPOSURES.index(one.visit.exposure))
        for node, one in found.reached.items()
    }
