"""Overlap of a recorded use (a read or write of a dataset) with a wanted part, and its certainty."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwater_analysis.partitions import are_apart
from headwater_analysis.trace.batches import Batch, Run, same_topic
from headwater_analysis.trace.traced_parts import Part, PartKind, offsets, spans_of
from headwater_analysis.trace.uses import (
    VERSIONS,
    StoredUse,
    bare_version,
    common_files,
    part_of,
    partitions_of,
    version_range,
    version_spans,
)
from headwater_graph.facts.spans import Spans, intersection, union
from headwater_graph.words import canonical_path, is_within
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import range_text


@dataclass(frozen=True, slots=True)
class PartMatch:
    """Overlap of a use and a part, its certainty, and the reason."""

    part: Part
    certainty: Certainty
    why: str


def spans_of_part(part: Part) -> Spans:
    """Searchable spans of a part: offsets or numeric versions; empty for other parts."""
    if part.kind is PartKind.OFFSETS:
        return spans_of(part.offsets)
    if part.kind is PartKind.CHANGES and part.version is not None:
        stored = {"format": part.format, "from_version": part.from_version, "to_version": part.version}
        return union([(VERSIONS, *bounds)]) if (bounds := version_range(stored)) is not None else {}
    if part.kind is PartKind.SNAPSHOT and part.version is not None and part.format == "delta":
        return version_spans(part.version, part.version, inclusive=True)
    return {}


def narrowed(part: Part, spans: Spans) -> Part:
    """Reduce a part of a topic to these offsets; return any other part unchanged."""
    return replace(part, offsets=offsets(spans), rows=None) if part.kind is PartKind.OFFSETS else part


def matched(part: Part, use: StoredUse, owner: Run | Batch, *, verb: str = "read") -> PartMatch | None:
    """Return the overlap of `use` and `part`; None if they certainly don't overlap.

    Args:
        part: a part of the use's dataset.
        use: use by a run or micro-batch.
        verb: `read` or `wrote`.
    """
    if _added_others(part, use):
        return None
    spans = spans_of_part(part)
    if spans and use.spans and same_topic(part.topic_id, use.topic_id) and (both := intersection(spans, use.spans)):
        found = narrowed(part, both)
        return PartMatch(found, use.certainty, f"It {verb} {described(found)}.")
    if not _in_time(part, use, owner) or _is_apart(part, use):
        return None
    if part.kind is PartKind.UNKNOWN or use.kind in (PartKind.UNKNOWN, PartKind.OTHER) or part.kind is PartKind.OTHER:
        whole = replace(part, rows=None) if use.kind is PartKind.UNKNOWN else part_of(use, part.dataset)
        which = "is meant" if use.kind is not PartKind.UNKNOWN else f"it {verb}"
        return PartMatch(whole, Certainty.UNKNOWN, f"Unknown which part {which}.")
    if part.kind is PartKind.FILES:
        return _files(part, use, verb)
    versioned = {part.kind, use.kind} <= _VERSIONED and PartKind.CHANGES in (part.kind, use.kind)
    if versioned and not (spans and use.spans):
        return _unordered(part, use, verb)
    if spans and use.spans:
        return _later_version(part, use, verb)
    if PartKind.OFFSETS in (part.kind, use.kind):
        return None if part.kind is use.kind else PartMatch(part, Certainty.UNKNOWN, f"Unknown which part it {verb}.")
    return _version(part, use, verb)


def _is_apart(part: Part, use: StoredUse) -> bool:
    """Return whether use and part have no data in common, because their partitions differ.

    A write is never apart from a table version: the version also has data of earlier writes, in partitions that its own
    commit didn't touch.
    """
    return not (use.produced and part.kind in _VERSIONED) and are_apart(partitions_of(part), use.partitions)


def _added_others(part: Part, use: StoredUse) -> bool:
    """Return whether a version added none of the wanted files: a recreated table can reuse version ids."""
    if part.kind is not PartKind.SNAPSHOT or use.kind is not PartKind.SNAPSHOT or not use.produced or not part.files:
        return False
    lists_all = bool(use.files) and len(use.files) == use.properties.get("file_count")
    return lists_all and not common_files(part.files, use.files)


def _in_time(part: Part, use: StoredUse, owner: Run | Batch) -> bool:
    if use.produced:
        return part.until is None or owner.started_at is None or owner.started_at <= part.until
    ended = owner.ended_at or owner.started_at
    return part.since is None or ended is None or ended >= part.since


def _files(part: Part, use: StoredUse, verb: str) -> PartMatch | None:
    if use.kind is not PartKind.FILES:
        paths = use.properties.get("partition_paths") or ()
        if same := tuple(path for path in part.files if path in paths):
            found = replace(part, files=same, file_count=len(same), rows=None)
            return PartMatch(found, use.certainty, f"It {verb} partition {same[0]}.")
        return PartMatch(part, Certainty.UNKNOWN, f"Unknown which files it {verb}.")
    both = common_files(use.files, part.files) or tuple(
        path for path in use.files if any(is_within(canonical_path(path), canonical_path(f)) for f in part.files)
    )
    if both:
        all_of_it = len(both) == part.file_count
        found = replace(part, files=both, file_count=len(both), version=part.version if all_of_it else None, rows=None)
        return PartMatch(found, use.certainty, f"It {verb} {described(found)}.")
    if use.properties.get("manifest_digest") == part.version and part.version is not None:
        return PartMatch(part, use.certainty, f"It {verb} {described(part)}.")
    unlisted = not use.lists_all or part.file_count is None or len(part.files) < part.file_count
    if not unlisted:
        return None
    count = use.properties.get("file_count")
    why = f"It {verb} {count} files, of which {len(use.files)} are listed; the wanted files may be among the others."
    return PartMatch(part, Certainty.UPPER_BOUND, why)


_VERSIONED = frozenset({PartKind.SNAPSHOT, PartKind.CHANGES})


def _unordered(part: Part, use: StoredUse, verb: str) -> PartMatch:
    """Match snapshots whose ids don't grow: of a range of snapshots, only the last one is known."""
    used_version = use.properties.get("to_version") or use.properties["snapshot_id"]
    if part.version is not None and bare_version(used_version) == bare_version(part.version):
        within = ":" in used_version or ":" in part.version
        certainty = Certainty.UPPER_BOUND if within else use.certainty
        return PartMatch(
            part, certainty, f"It {verb} {described(part)}." if not within else f"It {verb} some or all of it."
        )
    return PartMatch(part, Certainty.UNKNOWN, f"Unknown which snapshots it {verb}: they aren't listed.")


def _version(part: Part, use: StoredUse, verb: str) -> PartMatch | None:
    version = use.properties.get("snapshot_id", use.properties.get("manifest_digest"))
    if version is not None and version == part.version:
        return PartMatch(part, use.certainty, f"It {verb} {described(part)}.")
    return _later_version(part, use, verb)


def _later_version(part: Part, use: StoredUse, verb: str) -> PartMatch | None:
    """Match a later snapshot, which holds the data of earlier snapshots until this data is overwritten."""
    if use.kind is not PartKind.SNAPSHOT or use.produced or part.kind not in (PartKind.SNAPSHOT, PartKind.CHANGES):
        return None
    wanted, used = spans_of_part(part), use.spans
    if wanted and used and max(wanted) == max(used):
        [partition] = wanted
        if used[partition][-1][1] < wanted[partition][0][1]:
            return None
    version = use.properties["snapshot_id"]
    why = f"It {verb} the later version {version}, which may still hold what {described(part)} added."
    return PartMatch(part, Certainty.UPPER_BOUND, why)


def described(part: Part) -> str:
    """Describe a part in a few words."""
    if part.kind is PartKind.OFFSETS:
        first, *rest = part.offsets or (None,)
        if first is None:
            return "no offsets"
        which = f"offset{'s' * (first.end > first.start + 1)} {range_text(first.start, first.end)}"
        more = f" and {len(rest)} more range{'s' * (len(rest) > 1)}" if rest else ""
        return f"{which} of partition {first.partition}{more}"
    if part.kind is PartKind.FILES:
        return "1 of the files" if part.file_count == 1 else f"{part.file_count} of the files"
    if part.kind is PartKind.CHANGES:
        return f"versions after {part.from_version or 'the beginning'} up to {part.version}"
    if part.kind is PartKind.SNAPSHOT:
        return f"version {part.version}"
    return "some part"
