"""Tainted parts that are gone: overwritten or reverted later, dropped, or records of a topic that was recreated since.

A RESTORE sets a table back to an earlier version, and reverts data that was certainly written after that version.
Version numbers, if exactly known, show which data was written later. Otherwise data counts as reverted if it was
written after the end of the run or micro-batch that wrote the restored version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.moments import moment
from headwater_analysis.partitions import overwritten
from headwater_analysis.trace.batches import Run, read_run, same_topic
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import micro_batches, run_step
from headwater_analysis.trace.parts import split_by_partition
from headwater_analysis.trace.prefetch import prefetch
from headwater_analysis.trace.restored import RestoredVersion, is_restore, restored_version, version_number
from headwater_analysis.trace.traced_parts import Part, PartKind, Step, weakest
from headwater_analysis.trace.uses import StoredUse
from headwater_schemas.events import Certainty

_KNOWN: Final = (Certainty.EXACT, Certainty.INFERRED)
"""Certainties with which a part's version is exactly the version that the write of the part made."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A later write that replaced the whole dataset or some partitions, or restored an earlier version.

    Attributes:
        by: step that wrote.
        began: start of the write; only data written before is gone.
        ended: end of the write; None: not known.
        partitions: replaced partitions, as `key=value` paths; empty: the whole dataset.
        restored: for a RESTORE: the restored version; only data written after this version is gone.
    """

    by: Step
    began: datetime
    ended: datetime | None
    partitions: tuple[str, ...] = ()
    restored: RestoredVersion | None = None


class Replacements:
    """Lookup of the writes that replaced parts of some datasets.

    Args:
        parts: all tainted parts.
    """

    def __init__(self, context: Context, parts: Iterable[Part]) -> None:
        self._context = context
        self._found: dict[str, list[Replacement]] = defaultdict(list)
        self._dropped: dict[str, datetime] = {}
        self._shown: dict[str, str] = {}
        since: dict[str, datetime] = {}
        keys: set[str] = set()
        for part in parts:
            names = context.datasets.keys_of(part.dataset.key)
            self._shown |= dict.fromkeys(names, part.dataset.key)
            keys.update(names)
            time = part.until or part.since
            if time is not None:
                since |= {key: min(time, since.get(key, time)) for key in names}
        self._runs(since)
        self._queries(sorted(keys))
        for stored, _, _ in prefetch(context.tx, datasets=sorted(keys)).datasets:
            # Only a drop of the shown name counts: a dataset that lost another name, as by a RENAME, still exists.
            if (
                stored["key"] == self._shown[stored["key"]]
                and stored["dropped"]
                and (at := moment(stored["dropped_at"])) is not None
            ):
                self._dropped[stored["key"]] = at

    def split(self, part: Part) -> tuple[Part | None, list[Superseded]]:
        """Split a part into the remaining data (None: nothing), and the parts that are gone."""
        written = part.until or part.since
        key = part.dataset.key
        if written is None:
            return part, []
        if key in self._dropped and self._dropped[key] > written:
            return None, [Superseded(part=part, why="The dataset was dropped later.", at=self._dropped[key])]
        if self._is_recreated(part, written):
            return None, [Superseded(part=part, why="The topic was recreated since, and begins at offset 0 again.")]
        gone: list[Superseded] = []
        left: Part | None = part
        for each in self._found[key]:
            if left is None or each.began < written:
                continue
            if each.restored is not None:
                taken, left = self._taken_back(left, each.by, each.restored)
            else:
                taken, left = split_by_partition(left, each.partitions) if each.partitions else (left, None)
            if taken is not None:
                gone.append(Superseded(part=taken, why=_why(each), by=each.by, at=each.ended))
        return left, gone

    def _taken_back(self, part: Part, by: Step, restored: RestoredVersion) -> tuple[Part | None, Part | None]:
        """Split a part into the data that a RESTORE reverted, and the rest: one is the whole part, the other None."""
        number = version_number(part)
        if number is not None and restored.version is not None:
            # If the part's version isn't known exactly, the data was written with this version or an earlier one.
            if number <= restored.version:
                return None, part
            if part.certainty in _KNOWN:
                return part, None
        if restored.committed is not None and part.since is not None and part.since > restored.committed:
            return part, None
        to = "a version that isn't known" if restored.version is None else f"version {restored.version}"
        self._context.notes[
            f"Run {by.runs[0].run_id} restored {part.dataset.spelling} to {to}: some of the listed data was "
            "perhaps written after that version, and is gone then."
        ] = None
        return None, replace(part, certainty=weakest(part.certainty, Certainty.UPPER_BOUND))

    def _runs(self, since: dict[str, datetime]) -> None:
        wants = [{"n": n, "dataset": key, "since": time} for n, (key, time) in enumerate(sorted(since.items()))]
        keys = sorted(since)
        seen = set()
        for row in self._context.tx.rows("blast/later_writers", wants=wants, limit=self._context.limit):
            run, key = read_run(row), keys[row["n"]]
            if run.started_at is None or (run.key, key) in seen:
                continue
            seen.add((run.key, key))
            for use in run.writes(key):
                if (partitions := replaced_by(use)) is not None:
                    self._add(key, Replacement(run_step(run), run.started_at, run.ended_at, partitions))
                elif is_restore(use):
                    restored = restored_version(self._context, run, key)
                    self._add(key, Replacement(run_step(run), run.started_at, run.ended_at, restored=restored))
                elif not overwritten(use.properties)[1]:
                    self._note_unknown(key, run)

    def _queries(self, keys: Sequence[str]) -> None:
        """Look up overwriting queries. Such a query overwrites in every batch, so its last batch shows it."""
        rows = self._context.tx.rows("blast/writing_queries", datasets=list(keys))
        queries = self._context.queries(row["key"] for row in rows)
        for row in rows:
            query = queries.get(row["key"])
            last = self._context.last_batch(query) if query is not None else None
            if query is None or last is None or last.started_at is None:
                continue
            for use in last.writes(self._shown[row["dataset"]]):
                if (partitions := replaced_by(use)) is not None:
                    step = micro_batches(query, [last], count=1, keeps=None)
                    self._add(row["dataset"], Replacement(step, last.started_at, last.ended_at, partitions))

    def _note_unknown(self, key: str, run: Run) -> None:
        dataset = self._context.datasets[self._shown[key]]
        self._context.notes[
            f"Run {run.brief.run_id} overwrote a part of {dataset.spelling} later; the partitions aren't "
            "recorded, so some of the listed data may be gone."
        ] = None

    def _add(self, key: str, found: Replacement) -> None:
        replaced = self._found[self._shown[key]]
        replaced.append(found)
        replaced.sort(key=lambda each: each.began)

    def _is_recreated(self, part: Part, written: datetime) -> bool:
        """Return whether a micro-batch that began after the part was written read another incarnation of the topic."""
        if part.kind is not PartKind.OFFSETS or part.topic_id is None:
            return False
        key = part.dataset.key
        names = self._context.datasets.keys_of(key)
        used = self._context.queries_of(names)
        for query in (each for name in names for each in used[name]):
            last = self._context.last_batch(query)
            if last is None or last.started_at is None or last.started_at < written:
                continue
            if any(not same_topic(part.topic_id, use.topic_id) for use in last.reads(key)):
                return True
        return False


def replaced_by(use: StoredUse) -> tuple[str, ...] | None:
    """Partitions that a use replaced; empty: the whole dataset; None: it isn't known to have replaced anything."""
    # The table format's operation doesn't show this: Iceberg calls a MERGE of one row an overwrite, too.
    return () if use.replaces else overwritten(use.properties)[0] or None


def _why(found: Replacement) -> str:
    if found.restored is not None:
        return f"The table was restored to version {found.restored.version} by run {found.by.runs[0].run_id}."
    which = f"Partition {', '.join(found.partitions)}" if found.partitions else "The dataset"
    return f"{which} was overwritten later."
