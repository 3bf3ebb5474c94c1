"""Partition facets: partitions read, written or overwritten by a use; partitions of a dataset that DDL changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headwater_producers.spark.plan import PlanOutput, WriteMode
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, PartitionChange, partition_path
from headwater_schemas.redaction import MASK, redact

PARTITIONS: Final = "headwater_partitions"
"""Dataset facet of partitions. For an output: `columns`, `count` (number of partitions that got rows, if known) and,
for an overwrite of partitions, `overwritten` (partitions whose earlier rows are all gone; null if unknown). For a
dataset: the `change` (ADD, DROP, RENAME, TRUNCATE, LOCATION, RECOVER), its `partitions`, their `count`, and for RENAME
the `previous` partition."""

BRANCH: Final = "headwater_branch"
"""Output facet with the `name` of an Iceberg branch: readers of the table don't see the branch's rows."""

_SUBSET: Final = "subset"


def output_facets(
    output: PlanOutput,
    count: int | None,
    partitions: Sequence[Partition] = (),
    touched: Sequence[str] = (),
    *,
    is_empty: bool = False,
) -> dict[str, str]:
    """Build the facets of an output. OpenLineage's `subset` lists the partitions that got all the rows, if known.

    Args:
        count: number of partitions that got rows, if the rows chose them; None if the statement did, or if unknown.
        partitions: partitions that got rows, if known, else partitions that the statement names.
        touched: partitions listed in the table version that the write made; empty if unknown.
        is_empty: True if it is known that no partition got rows.
    """
    facets: dict[str, Any] = {}
    is_part = output.mode is WriteMode.OVERWRITE_PARTITIONS and output.branch is None
    if output.partition_columns or is_part:
        counted = {} if count is None else {"count": count}
        facets[PARTITIONS] = {"columns": list(output.partition_columns), **counted}
    if is_part:
        emptied = _overwritten(output, partitions, touched, is_empty=is_empty)
        facets[PARTITIONS]["overwritten"] = emptied
    named = partitions or ([output.partition] if output.partition else [])
    if named:
        facets[_SUBSET] = _subset(_named(named))
    if output.branch is not None:
        facets[BRANCH] = {"name": output.branch}
    return {name: json.dumps(facet) for name, facet in facets.items()}


def _named(partitions: Iterable[Partition]) -> list[dict[str, Any]]:
    return [{"identifier": partition_path(each), "dimensions": _dimensions(each)} for each in partitions]


def _dimensions(partition: Partition) -> dict[str, str | None]:
    """Return the values by column. A value is masked if `column=value` looks like a secret: `password=x`."""
    return {
        name: value if value is None or redact(plain := f"{name}={value}") == plain else MASK
        for name, value in partition
    }


def _overwritten(
    output: PlanOutput, partitions: Sequence[Partition], touched: Sequence[str], *, is_empty: bool
) -> list[str] | None:
    if output.overwritten is None:
        return None
    if output.overwritten:
        return [partition_path(output.overwritten)]
    found = list(touched) or [partition_path(each) for each in partitions]
    return found if found or is_empty else None


def input_facets(partitions: Sequence[Partition]) -> dict[str, str]:
    """Build the facet of an input with the partitions that were read; empty if unknown."""
    if not partitions:
        return {}
    return {_SUBSET: json.dumps({"inputCondition": {"type": "partition", "partitions": _named(partitions)}})}


def joined_facets(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """Join the facets of two writes to one output.

    Only facets of partitions are merged. Any other facet is the later write's, or the earlier one's if only that write
    has it.
    """
    facets = {**earlier, **later}
    if PARTITIONS in facets:
        # The count is left out: both writes may share partitions.
        each = [json.loads(one[PARTITIONS]) for one in (earlier, later) if PARTITIONS in one]
        emptied = [one["overwritten"] for one in each if "overwritten" in one]
        joined: dict[str, Any] = {"columns": each[-1]["columns"]}
        if emptied:
            known = [path for paths in emptied if paths is not None for path in paths]
            joined["overwritten"] = None if None in emptied else list(dict.fromkeys(known))
        facets[PARTITIONS] = json.dumps(joined)
    partitions = {
        each["identifier"]: each
        for one in (earlier, later)
        if _SUBSET in one
        for each in json.loads(one[_SUBSET])["outputCondition"]["partitions"]
    }
    if partitions and _SUBSET in earlier and _SUBSET in later and len(partitions) <= MAX_PARTITIONS:
        facets[_SUBSET] = json.dumps(_subset(partitions.values()))
    else:
        facets.pop(_SUBSET, None)
    return facets


def change_facets(change: PartitionChange) -> dict[str, str]:
    """Build the facet of a dataset with partitions that DDL has changed."""
    facet: dict[str, Any] = {"change": change.change}
    if change.partitions:
        facet["partitions"] = [dict(partition) for partition in change.partitions]
    if change.previous:
        facet["previous"] = dict(change.previous)
    if change.count is not None:
        facet["count"] = change.count
    return {PARTITIONS: json.dumps(facet)}


def _subset(partitions: Iterable[Any]) -> dict[str, Any]:
    return {"outputCondition": {"type": "partition", "partitions": list(partitions)}}
