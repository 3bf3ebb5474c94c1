"""Parts of datasets: cache of their datasets, splitting, and merging, so that an answer has few parts per dataset."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.identity import Identities
from headwater_analysis.partitions import is_inside, partition_of
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.batches import Batch, Query, Run
from headwater_analysis.trace.prefetch import prefetch
from headwater_analysis.trace.traced_parts import Part, PartKind, offsets, spans_of, weakest
from headwater_analysis.trace.uses import StoredUse, is_possible, made_from, made_into, part_of, partitions_of
from headwater_graph.facts.model import RelType
from headwater_graph.facts.spans import union
from headwater_graph.segments import segment
from headwater_schemas.events import Certainty

MOST_FILES = 1_000
"""Maximum number of files listed in one part; further files are counted."""


class Datasets:
    """Cache of datasets by key, with their identity (module `identity`).

    The graph stores a use (a read or write) under the name that the job had for the dataset. So users of a part are
    searched under each name (`names_of`). Answers show parts and micro-batches under one name (`shown`).
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._identities = Identities.of(tx)
        self._known: dict[str, Asset] = {}
        self._used: dict[str, tuple[bool, bool]] = {}

    def know(self, keys: Iterable[str]) -> None:
        """Look up the datasets that aren't cached yet, in one statement."""
        if missing := self.unknown(keys):
            self.learn(prefetch(self._tx, datasets=missing).datasets)

    def unknown(self, keys: Iterable[str]) -> list[str]:
        """Keys that haven't been looked up yet."""
        missing = sorted({key for key in keys if key not in self._known})
        self._identities.look_at(missing)
        return missing

    def learn(self, found: Iterable[tuple[Mapping[str, Any], bool, bool]]) -> None:
        """Cache looked-up datasets.

        Args:
            found: for each dataset its properties, whether anything reads it, and whether anything writes it.
        """
        for properties, read, written in found:
            self._known[properties["key"]] = dataset_asset(properties)
            self._used[properties["key"]] = read, written

    def __getitem__(self, key: str) -> Asset:
        self.know([key])
        return self._known[key]

    def goes_on(self, key: str, *, backward: bool) -> bool:
        """Return whether anything reads a dataset (backwards: writes it)."""
        self.know([key])
        return self._used[key][backward]

    def shown(self, part: Part) -> Part:
        """Return the part, with the dataset that answers show."""
        key = self._identities.shown(part.dataset.key)
        return part if key == part.dataset.key else replace(part, dataset=self[key])

    def keys_of(self, key: str) -> list[str]:
        """Keys of the dataset under all its names."""
        return self._identities.members(key)

    def shown_key(self, key: str) -> str:
        """Key of the dataset that answers show for this key."""
        return self._identities.shown(key)

    def names_of(self, part: Part, *, backward: bool) -> list[tuple[str, Part]]:
        """Pairs for each name of the part's dataset: the key under this name, and the part.

        If the dataset had the name only for some time, the part's times are limited to this time, except for offsets.
        The part's `dataset` is the one that answers show.
        """
        out = []
        for key, since, until in self._identities.spans(part.dataset.key):
            begin = max(filter(None, (part.since, since)), default=None)
            end = min(filter(None, (part.until, until)), default=None)
            if part.kind is PartKind.OFFSETS or (since is None and until is None):
                begin, end = part.since, part.until
            elif until is not None and not backward and begin is not None and begin > until:
                continue
            shown = self._identities.shown(key)
            own = part if shown == part.dataset.key else replace(part, dataset=self[shown])
            out.append((key, replace(own, since=begin, until=end)))
        return out


def is_empty(part: Part) -> bool:
    """Return whether the part is known to contain nothing: no offsets, or no files."""
    return (part.kind is PartKind.OFFSETS and not part.offsets) or (
        part.kind is PartKind.FILES and part.file_count == 0
    )


def split_by_partition(part: Part, partitions: Collection[str]) -> tuple[Part | None, Part | None]:
    """Split a part into its data in these partitions, and the rest; None: nothing.

    Data of unknown partitions is in the rest.

    Args:
        partitions: partitions as `key=value` paths.
    """
    if part.kind is PartKind.SNAPSHOT and part.partitions:
        taken = tuple(each for each in part.partitions if is_inside(each, partitions))
        left = tuple(each for each in part.partitions if each not in taken)
        return replace(part, partitions=taken) if taken else None, replace(part, partitions=left) if left else None
    if part.kind is PartKind.FILES and all(is_inside(each, partitions) for each in partitions_of(part) or ("",)):
        return part, None
    return split_by_file(part, lambda path: is_inside(partition_of(path), partitions))


def split_by_file(part: Part, is_taken: Callable[[str], bool]) -> tuple[Part | None, Part | None]:
    """Split a part into its listed files for which `is_taken` is true, and the rest; None: nothing."""
    taken = tuple(path for path in part.files if is_taken(path)) if part.kind is PartKind.FILES else ()
    if not taken:
        return None, part
    kept = tuple(path for path in part.files if path not in taken)
    count = len(part.files) if part.file_count is None else part.file_count
    left = replace(part, files=kept, file_count=count - len(taken), version=None, rows=None)
    return replace(part, files=taken, file_count=len(taken), version=None, rows=None), None if is_empty(left) else left


def given(
    used: Iterable[tuple[Batch | Run, frozenset[str]]], datasets: Datasets, *, backward: bool
) -> tuple[Part, ...]:
    """Outputs of runs or micro-batches that may be derived from the datasets that they used.

    Backwards: inputs that may have gone into the datasets.

    Args:
        used: runs or micro-batches, each with the keys of the traced parts' datasets that it used.
    """
    related = made_into if backward else made_from
    found = [(each, use, is_possible(use, each.uses, keys)) for each, keys in used for use in related(each.uses, keys)]
    datasets.know(use.dataset for _, use, _ in found)
    parts = ((_part(each, use, datasets), maybe) for each, use, maybe in found)
    return join(possible(part) if maybe else part for part, maybe in parts)


def joined(used: Sequence[tuple[Batch | Run, StoredUse]], datasets: Datasets) -> tuple[Part, ...]:
    """Convert uses, each paired with its run or micro-batch, to parts, and merge these."""
    datasets.know(use.dataset for _, use in used)
    return join(_part(owner, use, datasets) for owner, use in used)


def _part(owner: Batch | Run, use: StoredUse, datasets: Datasets) -> Part:
    return part_of(use, datasets[use.dataset], since=owner.started_at, until=owner.ended_at or owner.started_at)


def possible(part: Part) -> Part:
    """Mark a part as only possibly derived from the inputs of its step."""
    return replace(part, possible=True, certainty=weakest(part.certainty, Certainty.UPPER_BOUND))


def join(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Merge the offsets, files and unknown parts of each dataset; parts of other kinds are only deduplicated."""
    groups: dict[tuple[str, PartKind, str | None], list[Part]] = defaultdict(list)
    for part in parts:
        groups[part.dataset.key, part.kind, part.topic_id].append(part)
    out: list[Part] = []
    for (_, kind, _), group in groups.items():
        if kind in (PartKind.OFFSETS, PartKind.FILES, PartKind.UNKNOWN):
            out.append(_merged(kind, group))
        else:
            out += dict.fromkeys(group)
    return tuple(
        sorted(out, key=lambda part: (part.dataset.namespace, part.dataset.name, part.kind, part.version or ""))
    )


def _merged(kind: PartKind, group: list[Part]) -> Part:
    first = group[0]
    if len(group) == 1 and len(first.files) <= MOST_FILES:
        return first
    rows = [part.rows for part in group]
    sinces, untils = [part.since for part in group], [part.until for part in group]
    common = replace(
        first,
        certainty=weakest(*(part.certainty for part in group)),
        possible=all(part.possible for part in group),
        rows=None if None in rows else sum(row for row in rows if row is not None),
        since=None if None in sinces else min(time for time in sinces if time is not None),
        until=None if None in untils else max(time for time in untils if time is not None),
    )
    if kind is PartKind.OFFSETS:
        return replace(common, offsets=offsets(spans_of(span for part in group for span in part.offsets)))
    if kind is PartKind.FILES:
        files = tuple(sorted({path for part in group for path in part.files}))
        counts = [part.file_count for part in group]
        count = None if None in counts else sum(count for count in counts if count is not None)
        return replace(
            common,
            files=files[:MOST_FILES],
            file_count=count,
            version=first.version if len({part.version for part in group}) == 1 else None,
            partitions=() if count == len(files) <= MOST_FILES else _common_partitions(group),
        )
    return common


def _common_partitions(group: Iterable[Part]) -> tuple[str, ...]:
    """Partitions that together contain all files of these parts; empty if unknown."""
    found = [partitions_of(part) for part in group]
    return () if any(not all(each) or not each for each in found) else tuple(sorted(frozenset[str]().union(*found)))


def between(
    tx: Transaction, query: Query, first: Batch, last: Batch, *, produced: bool, datasets: Datasets
) -> tuple[Part, ...]:
    """Upper bound of the parts from one micro-batch of a query to another, without reading those in between.

    Each segment has the offsets of all its micro-batches. If the offsets are known to only grow, those before `first`
    and after `last` are cut off: outputs by an equal topic id, inputs if the query never went back.
    """
    since, until = first.started_at, last.ended_at or last.started_at
    row = tx.one(
        "trace/ranges",
        query=query.key,
        type=(RelType.PRODUCED if produced else RelType.CONSUMED).value,
        first=first.first,
        last=last.last,
        size=segment.SIZE,
    )
    ranges: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    unknown: set[str] = set()
    for key, of_kafka, partitions, starts, ends in row["ranges"]:
        dataset = datasets.shown_key(key)
        ranges[dataset] += zip(partitions or (), starts or (), ends or (), strict=True)
        if not of_kafka:
            unknown.add(dataset)
    datasets.know(ranges)
    out: list[Part] = []
    for dataset, found in ranges.items():
        part = Part(dataset=datasets[dataset], kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN)
        part = replace(part, since=since, until=until)
        if dataset not in unknown:
            begin, end = (_kafka_use(each, dataset, produced=produced) for each in (first, last))
            topic_id = begin.topic_id if begin and end and begin.topic_id == end.topic_id else None
            went_back = any(first.first < each <= last.last for each in query.rewinds)
            only_grow = topic_id is not None if produced else not went_back
            spans = union(_cut(found, begin, end) if only_grow else found)
            part = replace(part, kind=PartKind.OFFSETS, certainty=Certainty.UPPER_BOUND)
            part = replace(part, topic_id=topic_id, offsets=offsets(spans))
        out.append(part)
    return join(out)


def _kafka_use(batch: Batch, dataset: str, *, produced: bool) -> StoredUse | None:
    uses = batch.writes(dataset) if produced else batch.reads(dataset)
    return next((use for use in uses if use.kind is PartKind.OFFSETS), None)


def _cut(
    ranges: Iterable[tuple[int, int, int]], begin: StoredUse | None, end: StoredUse | None
) -> Iterable[tuple[int, int, int]]:
    """Cut ranges of partitions (partition, start, end) to those from one use of a topic to another."""
    starts, ends = dict[int, int](), dict[int, int]()
    if begin is not None:
        starts = dict(zip(begin.properties["partitions"], begin.properties["from"], strict=True))
    if end is not None:
        ends = dict(zip(end.properties["partitions"], end.properties["to_exclusive"], strict=True))
    return ((p, max(a, starts.get(p, a)), min(b, ends.get(p, b))) for p, a, b in ranges)
