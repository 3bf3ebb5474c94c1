"""Facets of partitions: of an output the one that it was, of a dataset those that DDL changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headwater_producers.spark.plan import PlanOutput
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, PartitionChange, partition_path

PARTITIONS: Final = "headwater_partitions"
"""Of an output `columns`, and as `count` how many of its partitions got rows, where that is known. Of a dataset the
`change` (ADD, DROP, RENAME, TRUNCATE, LOCATION, RECOVER), which `partitions`, and how many they are."""

BRANCH: Final = "headwater_branch"
"""Of an output the `name` of the Iceberg branch that it is: who reads the table doesn't see its rows."""

_SUBSET: Final = "subset"


def output_facets(output: PlanOutput, count: int | None, partitions: Sequence[Partition] = ()) -> dict[str, str]:
    """Facets of one use of a dataset. The partitions that all rows went to are OpenLineage's `subset`.

    Args:
        output: what is written.
        count: how many of its partitions got rows, of those that the rows themselves choose.
        partitions: which got rows, where that is known; else it is what the output names.
    """
    facets: dict[str, Any] = {}
    if output.partition_columns:
        counted = {} if count is None else {"count": count}
        facets[PARTITIONS] = {"columns": list(output.partition_columns), **counted}
    named = partitions or ([output.partition] if output.partition else [])
    if named:
        facets[_SUBSET] = _subset([{"identifier": partition_path(each), "dimensions": dict(each)} for each in named])
    if output.branch is not None:
        facets[BRANCH] = {"name": output.branch}
    return {name: json.dumps(facet) for name, facet in facets.items()}


def joined_facets(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """The facets of one output that two writes have put rows into; what isn't of partitions is the later one's."""
    facets = {**earlier, **later}
    if PARTITIONS in facets:
        # Some may be partitions of both.
        facets[PARTITIONS] = json.dumps({"columns": json.loads(facets[PARTITIONS])["columns"]})
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
    """The facet of a dataset of which DDL has changed some partitions."""
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
