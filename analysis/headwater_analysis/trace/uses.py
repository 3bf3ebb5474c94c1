"""Stored CONSUMED and PRODUCED relationships ⇒ uses of datasets, and parts of an answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_analysis.assets import Asset
from headwater_analysis.moments import written
from headwater_analysis.partitions import partition_of, partitions_used
from headwater_analysis.trace.traced_parts import Part, PartKind, offsets
from headwater_graph.facts.spans import Spans, union
from headwater_graph.words import canonical_path
from headwater_schemas.events import Certainty

# A table's versions are searched like the offsets of one partition.
VERSIONS = -1


@dataclass(frozen=True, slots=True)
class StoredUse:
    """Use of a dataset by a run or micro-batch.

    Attributes:
        produced: whether it was written.
        dataset: key of the dataset.
        kind: form of the position; UNKNOWN without a position.
        certainty: certainty of the position.
        topic_id: topic id of a Kafka position.
        spans: offsets; for a table's stream, versions under the partition `VERSIONS`.
        properties: all stored properties.
    """

    produced: bool
    dataset: str
    kind: PartKind
    certainty: Certainty
    topic_id: str | None
    spans: Spans
    properties: Mapping[str, Any]

    @property
    def files(self) -> tuple[str, ...]:
        """Listed files or partitions."""
        return tuple(self.properties.get("paths") or ())

    @property
    def inputs(self) -> frozenset[str] | None:
        """Keys of the datasets that went into this output; None if unknown: any input may have gone into it."""
        found = self.properties.get("inputs")
        return None if found is None else frozenset(found)

    @property
    def possible(self) -> bool:
        """True if the inputs are only possibly sources of this output."""
        return bool(self.properties.get("possible"))

    @property
    def partitions(self) -> frozenset[str]:
        """Partitions that contain the whole use, as `key=value` paths; empty if unknown."""
        if self.lists_all:
            return frozenset(map(partition_of, self.files))
        return frozenset(partitions_used(self.properties))

    @property
    def replaces(self) -> bool:
        """True if the use replaced everything in the dataset, not just some partitions."""
        if self.lifecycle in ("OVERWRITE", "CREATE", "TRUNCATE"):
            # Possibly the whole partitioned table was replaced, with fewer partitions.
            return True
        return str(self.properties.get("operation", "")).lower() in _REPLACING

    @property
    def lifecycle(self) -> str | None:
        """OpenLineage's facet `lifecycleStateChange`, if the use has it."""
        facets = dict(zip(self.properties.get("facet_names") or (), self.properties.get("facets") or (), strict=True))
        try:
            return str(json.loads(facets["lifecycleStateChange"])["lifecycleStateChange"])
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def lists_all(self) -> bool:
        """True if the list of files is complete."""
        return self.kind is PartKind.FILES and len(self.files) == self.properties.get("file_count")


# Operations of Delta and Iceberg for a commit that replaces the table's contents. Iceberg's `overwrite` is left out,
# because a MERGE of one row has this operation, too. Iceberg's `replace` is left out, because it rewrites the same
# rows.
_REPLACING = {
    "create or replace table as select",
    "create table as select",
    "replace table as select",
    "truncate",
}
_KINDS = {
    "kafka": PartKind.OFFSETS,
    "files": PartKind.FILES,
    "table_snapshot": PartKind.SNAPSHOT,
    "table_range": PartKind.CHANGES,
}


def read_use(type_: str, dataset: str, properties: Mapping[str, Any]) -> StoredUse:
    """Build a use from a relationship's type, the key of its dataset and its properties."""
    position = properties.get("position")
    kind = PartKind.UNKNOWN if position is None else _KINDS.get(position, PartKind.OTHER)
    spans: Spans = {}
    if kind is PartKind.OFFSETS:
        spans = kafka_spans(properties)
    elif kind is PartKind.CHANGES:
        bounds = version_range(properties)
        spans = union([(VERSIONS, *bounds)]) if bounds is not None else {}
    elif kind is PartKind.SNAPSHOT:
        # A Delta version is a number, so it can lie in a stream's range of versions.
        spans = version_spans(properties.get("snapshot_id"), properties["snapshot_id"], inclusive=True)
    return StoredUse(
        produced=type_ == "PRODUCED",
        dataset=dataset,
        kind=kind,
        certainty=Certainty(properties.get("certainty", "UNKNOWN")),
        topic_id=properties.get("topic_id"),
        spans=spans,
        properties=properties,
    )


def partitions_of(part: Part) -> frozenset[str]:
    """Partitions that contain the whole part, as `key=value` paths; empty if unknown."""
    if part.kind is PartKind.FILES and len(part.files) == part.file_count:
        return frozenset(map(partition_of, part.files))
    return frozenset(part.partitions)


def made_from(uses: Iterable[StoredUse], read: frozenset[str]) -> list[StoredUse]:
    """Outputs that may be derived from one of these datasets."""
    return [use for use in uses if use.produced and (use.inputs is None or use.inputs & read)]


def made_into(uses: Collection[StoredUse], written: frozenset[str]) -> list[StoredUse]:
    """Inputs that may have gone into one of these datasets."""
    sources = sources_of(uses, written)
    return [use for use in uses if not use.produced and (sources is None or use.dataset in sources)]


def sources_of(uses: Iterable[StoredUse], written: frozenset[str]) -> frozenset[str] | None:
    """Keys of the datasets that went into these outputs; None if any input may have."""
    listed = [use.inputs for use in uses if use.produced and use.dataset in written]
    return union_of_known(listed) if listed else None


def is_possible(use: StoredUse, uses: Iterable[StoredUse], used: frozenset[str]) -> bool:
    """Return whether an output is only possibly derived from the used inputs (or the used outputs from an input).

    Args:
        uses: all uses of its run or micro-batch.
        used: keys of the datasets used on the other side.
    """
    outputs = [use] if use.produced else [each for each in uses if each.produced and each.dataset in used]
    return bool(outputs) and all(each.possible for each in outputs)


def union_of_known(sets: Collection[frozenset[str] | None]) -> frozenset[str] | None:
    """Union of these sets; None if one of them is unknown."""
    known = [members for members in sets if members is not None]
    return frozenset[str]().union(*known) if len(known) == len(sets) else None


def kafka_spans(properties: Mapping[str, Any]) -> Spans:
    """Ranges of a Kafka position, without empty ranges."""
    partitions = properties["partitions"]
    if len(set(partitions)) < len(partitions):
        return union(zip(partitions, properties["from"], properties["to_exclusive"], strict=True))
    ranges = zip(partitions, properties["from"], properties["to_exclusive"], strict=True)
    return {partition: [(start, end)] for partition, start, end in ranges if start < end}


def version_range(stored: Mapping[str, Any]) -> tuple[int, int] | None:
    """Convert a `table_range` to a half-open range of versions; None unless versions grow (Iceberg's ids are random).

    A bound `5:2` lies within version 5, after its first two files, so version 5 is in the range.
    """
    if stored.get("format") != "delta":
        return None
    first, last = stored.get("from_version"), str(stored["to_version"])
    try:
        start = 0 if first is None else int(bare_version(first)) + (0 if ":" in first else 1)
        return start, int(bare_version(last)) + 1
    except ValueError:
        return None


def bare_version(bound: str) -> str:
    """Version of a bound of a `table_range`; the bound may lie within this version (`5:2`)."""
    return bound.partition(":")[0]


def version_spans(first: str | None, last: str, *, inclusive: bool = False) -> Spans:
    """Spans of the versions after `first` (`inclusive`: from it) to `last`; empty unless versions are numbers."""
    try:
        start = 0 if first is None else int(first) + (0 if inclusive else 1)
        return union([(VERSIONS, start, int(last) + 1)])
    except ValueError:
        return {}


def part_of(use: StoredUse, dataset: Asset, *, since: datetime | None = None, until: datetime | None = None) -> Part:
    """Convert all data of a use to a part of an answer."""
    stored = use.properties
    common: dict[str, Any] = {
        "dataset": dataset,
        "kind": use.kind,
        "certainty": use.certainty if use.kind is not PartKind.UNKNOWN else Certainty.UNKNOWN,
        "rows": stored.get("rows"),
        "since": since,
        "until": until,
    }
    if use.kind is PartKind.OFFSETS:
        return Part(**common, topic_id=use.topic_id, offsets=offsets(use.spans))
    if use.kind is PartKind.FILES:
        return Part(
            **common,
            files=use.files,
            file_count=stored.get("file_count"),
            format="files",
            version=stored.get("manifest_digest"),
            partitions=() if use.lists_all else partitions_used(stored),
        )
    if use.kind is PartKind.SNAPSHOT:
        return Part(
            **common,
            format=stored["format"],
            version=stored["snapshot_id"],
            partitions=tuple(stored.get("partition_paths") or ()),
        )
    if use.kind is PartKind.CHANGES:
        return Part(
            **common, format=stored["format"], from_version=stored.get("from_version"), version=stored["to_version"]
        )
    return Part(**common, text=_text(stored))


def common_files(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Files of the first list that the second list also has, whatever their spelling."""
    known = {canonical_path(path) for path in other}
    return tuple(path for path in one if canonical_path(path) in known)


def _text(stored: Mapping[str, Any]) -> str | None:
    position = stored.get("position")
    if position is None:
        return None
    ends = {
        "cdc": ("from_cdc", "to_cdc"),
        "api_cursor": ("from_cursor", "to_cursor"),
        "time_range": ("from_time", "to_time_exclusive"),
        "opaque": ("from_json", "to_json"),
    }.get(position)
    if ends is None:
        return str(position)
    first, last = (written(stored.get(end)) for end in ends)
    return f"{position} {'' if first is None else first}..{last}"
