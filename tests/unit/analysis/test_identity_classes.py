"""Identity classes of datasets by the graph's records: the same whichever dataset is asked for first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from neo4j.time import DateTime

from headwater_analysis.identity import Identities, NodeSpan
from headwater_analysis.reader import Transaction

if TYPE_CHECKING:
    import pytest

START = datetime(2025, 1, 1, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


@dataclass
class World:
    """Datasets by name, which is their key too; and a transaction that looks them up.

    Attributes:
        dropped: when.
        claims: dataset, alias and type; an alias has the name of the dataset that it would be.
        renames: from, to, when.
        revived: dropped, and written later.
    """

    names: str
    dropped: dict[str, datetime] = field(default_factory=dict)
    claims: list[tuple[str, str, str]] = field(default_factory=list)
    renames: list[tuple[str, str, datetime]] = field(default_factory=list)
    revived: set[str] = field(default_factory=set)
    namespaces: dict[str, str] = field(default_factory=dict)
    tenant: str = "t"
    shared: dict[str, object] = field(default_factory=dict)

    @property
    def several_names(self) -> bool:
        return bool(self.claims or self.renames)

    def rows(self, name: str, *, keys: list[str], most: int) -> list[dict[str, Any]]:
        assert (name, most) == ("identity/around", 1_000)
        return [self._around(key) for key in keys if key in self.names]

    def _around(self, key: str) -> dict[str, Any]:
        aliases = {alias for dataset, alias, _ in self.claims if key in (dataset, alias)}
        return {
            "id": sorted(self.names).index(key),
            "properties": {
                "key": key,
                "namespace": self.namespaces.get(key, "n"),
                "name": key,
                "dropped": key in self.dropped,
            },
            "dropped_at": DateTime.from_native(self.dropped[key]) if key in self.dropped else None,
            "revived": key in self.revived,
            "claims": [
                [f"alias {alias}", alias, dataset, type_, "n", alias]
                for dataset, alias, type_ in self.claims
                if alias in aliases
            ],
            "renames": [[*ends, DateTime.from_native(time)] for *ends, time in self.renames if key in ends],
        }

    def classes(self, order: Iterable[str] | None = None) -> dict[str, list[str]]:
        """Shown dataset ⇒ all that are one with it, and what counts for it until a time."""
        identities = Identities(cast("Transaction", self))
        out = {}
        for key in order or sorted(self.names):
            shown = identities.shown(key)
            out[shown] = [
                member if until is None else f"{member} until {(until - START).seconds}"
                for member, _, until in identities.spans(key)
            ]
        return out


CASES = {
    "each alone": (World("ab"), {"a": ["a"], "b": ["b"]}),
    "one cluster": (World("ab", claims=[("a", "id", "TOPIC"), ("b", "id", "TOPIC")]), {"a": ["a", "b"]}),
    "a declared name goes first": (
        World(
            "ab",
            claims=[("a", "id", "TOPIC"), ("b", "id", "TOPIC")],
            namespaces={"a": "kafka://b:9092", "b": "kafka://shop"},
        ),
        {"b": ["b", "a"]},
    ),
    "an alias of any other type": (World("ab", claims=[("a", "b", "")]), {"a": ["a", "b"]}),
    "a catalog's name that is a dataset": (World("ab", claims=[("b", "a", "TABLE")]), {"b": ["b", "a"]}),
    "a catalog's name of two tables": (
        World("abc", claims=[("a", "c", "TABLE"), ("b", "c", "TABLE")]),
        {"a": ["a"], "b": ["b"], "c": ["c"]},
    ),
    "a catalog's name that another table had": (
        World("abc", claims=[("a", "c", "TABLE"), ("b", "c", "TABLE")], dropped={"a": at(1)}),
        {"a": ["a"], "b": ["b", "c"]},
    ),
    "a table that was dropped and written again": (
        World("abc", claims=[("a", "c", "TABLE"), ("b", "c", "TABLE")], dropped={"a": at(1)}, revived={"a"}),
        {"a": ["a"], "b": ["b"], "c": ["c"]},
    ),
    "renamed": (World("ab", renames=[("a", "b", at(1))], dropped={"a": at(1)}), {"b": ["b", "a"]}),
    "renamed twice, then dropped": (
        World(
            "abc",
            renames=[("a", "b", at(1)), ("b", "c", at(2))],
            dropped={"a": at(1), "b": at(2), "c": at(3)},
        ),
        {"c": ["c", "a", "b"]},
    ),
    "renamed there and back": (
        World("ab", renames=[("a", "b", at(1)), ("b", "a", at(2))], dropped={"b": at(2)}),
        {"a": ["a", "b"]},
    ),
    "the old name used again": (
        World("ab", renames=[("a", "b", at(1))]),
        {"a": ["a"], "b": ["b", "a until 1"]},
    ),
    "the old name used again, and dropped": (
        World("ab", renames=[("a", "b", at(1))], dropped={"a": at(5)}),
        {"a": ["a"], "b": ["b", "a until 1"]},
    ),
    "used again and renamed to another": (
        World("abc", renames=[("a", "b", at(1)), ("a", "c", at(5))], dropped={"a": at(5)}),
        {"b": ["b", "a until 1"], "c": ["c", "a"]},
    ),
}


def test_classes(subtests: pytest.Subtests) -> None:
    for case, (world, expected) in CASES.items():
        with subtests.test(case=case):
            assert world.classes() == expected


def test_the_order_of_asking_changes_nothing(subtests: pytest.Subtests) -> None:
    for seed in range(50):
        with subtests.test(seed=seed):
            dice = random.Random(seed)
            names = "abcdefgh"
            world = World(names)
            for name in dice.sample(names, 3):
                world.dropped[name] = at(dice.randrange(5))
            for _ in range(dice.randrange(6)):
                world.claims.append((dice.choice(names), dice.choice("wxyabc"), dice.choice(["TABLE", "TOPIC", ""])))
            for before, after in sorted({tuple(dice.sample(names, 2)) for _ in range(dice.randrange(4))}):
                world.renames.append((before, after, at(dice.randrange(5))))
            order = dice.sample(names, len(names))
            expected = world.classes()
            assert world.classes(order) == expected
            everything = [member for members in expected.values() for member in members if " until " not in member]
            assert sorted(everything) == list(names), "each dataset is in one class"


def test_a_place_takes_what_was_seen_in_its_time() -> None:
    until, since = NodeSpan(1, until=at(5)), NodeSpan(1, since=at(5))
    assert until.takes(at(1), at(9))
    assert not until.takes(at(6), at(9))
    assert since.takes(at(1), at(9))
    assert not since.takes(at(1), at(5))
    assert until.takes(None, None)
    assert NodeSpan(1).takes(at(1), at(2))
