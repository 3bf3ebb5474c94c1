"""Writes that replace everything in a dataset: by the run's own word, else by the table format's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater_analysis.blast.superseded import replaced_by
from headwater_analysis.trace.traced_parts import PartKind
from headwater_analysis.trace.uses import StoredUse
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    import pytest


def use(
    operation: str | None = None,
    partitions: tuple[str, ...] = (),
    lifecycle: str | None = None,
    overwritten: tuple[str, ...] | None = None,
) -> StoredUse:
    facets: dict[str, Any] = {"lifecycleStateChange": {"lifecycleStateChange": lifecycle}} if lifecycle else {}
    if overwritten is not None:
        facets["headwater_partitions"] = {"overwritten": overwritten or None}
    properties: dict[str, Any] = {"facet_names": list(facets), "facets": [json.dumps(each) for each in facets.values()]}
    properties |= {"operation": operation} if operation else {}
    properties |= {"partition_paths": list(partitions)} if partitions else {}
    return StoredUse(
        produced=True,
        dataset="d",
        kind=PartKind.SNAPSHOT,
        certainty=Certainty.EXACT,
        topic_id=None,
        spans={},
        properties=properties,
    )


def test_the_partitions_that_are_gone(subtests: pytest.Subtests) -> None:
    cases = [
        (use("WRITE", ("day=1",), "OVERWRITE"), ()),  # all partitions went, one came
        (use("CREATE TABLE AS SELECT", ("day=1",)), ()),
        (use("create table as select"), ()),
        (use("overwrite"), None),  # Iceberg's: a MERGE, too
        (use("replace"), None),  # Iceberg's: the same rows in other files
        (use("replace", ("day=1",)), None),
        (use("overwrite", ("day=1",)), None),
        (use("overwrite", ("day=1",), overwritten=("day=1",)), ("day=1",)),
        (use(overwritten=("day=1", "day=2")), ("day=1", "day=2")),  # files
        (use(overwritten=()), None),  # some that aren't known
        (use("DELETE", ("day=1",)), None),  # Delta's: some rows of the partition, or all
        (use("WRITE", ("day=1",)), None),
        (use("append", ("day=1",)), None),
    ]
    for of, expected in cases:
        with subtests.test(of=of):
            assert replaced_by(of) == expected
            assert of.replaces is (expected == ())
