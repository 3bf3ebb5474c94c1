"""Partitions of tables and folders as `key=value` paths: partitions of a use, and whether partitions share rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from headwater_analysis.facets import contents, facets_of, member

_PARTITIONS = "headwater_partitions"


def partitions_used(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Partitions of a CONSUMED or PRODUCED relationship, from its position, else from OpenLineage's `subset`.

    Empty if unknown.
    """
    if listed := properties.get("partition_paths"):
        return tuple(listed)
    subset = member(contents(facets_of(properties)), "subset")
    for condition in ("outputCondition", "inputCondition"):
        found = member(subset, condition).get("partitions")
        if isinstance(found, list):
            named = (each.get("identifier") for each in found if isinstance(each, dict))
            return tuple(name for name in named if isinstance(name, str))
    return ()


def overwritten(properties: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Partitions that a PRODUCED replaced as a whole, and whether the list is complete.

    Capture reports these partitions in the facet `headwater_partitions`. Without the field `overwritten`, no partition
    was overwritten as a whole; null means unknown partitions.
    """
    facet = member(contents(facets_of(properties)), _PARTITIONS)
    listed = facet.get("overwritten", [])
    known = isinstance(listed, list)
    return tuple(each for each in listed if isinstance(each, str)) if known else (), known


def partition_of(path: str) -> str:
    """`key=value` folders of a file's path: for `/lake/x/day=1/hour=2/part-0`, `day=1/hour=2`; mostly empty."""
    folders = path.split("/")[:-1]
    found: list[str] = []
    while folders and "=" in folders[-1].strip("="):
        found.append(folders.pop())
    return "/".join(reversed(found))


def are_apart(ones: Collection[str], others: Collection[str]) -> bool:
    """Return whether two sets of partitions share no rows; False if either is unknown.

    Partitions with different values of a key share no rows: `day=1` and `day=2/hour=3`, not `day=1` and `day=1/hour=3`.
    """
    mine, theirs = ({tuple(_values(each)) for each in side} for side in (ones, others))
    if not mine or not theirs:
        return False
    return all(_differ(dict(one), dict(other)) for one in mine for other in theirs)


def is_inside(partition: str, others: Collection[str]) -> bool:
    """Return whether a partition is in a set, or inside a partition of the set: `day=1/hour=2` is inside `day=1`."""
    mine = set(_values(partition))
    return any((theirs := set(_values(other))) and theirs <= mine for other in others)


def _values(partition: str) -> list[tuple[str, str]]:
    steps = (step.partition("=") for step in partition.split("/"))
    return [(key, value) for key, equals, value in steps if equals]


def _differ(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return any(one[key] != other[key] for key in one.keys() & other.keys())
