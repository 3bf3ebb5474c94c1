"""Look-up of micro-batches and runs by index: by marks of files and partitions, or by versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from headwater_analysis.micro_batches import Stretch, Wanted, at_batches, conflicts, following, row
from headwater_analysis.trace.batches import Batch, Run, read_batch, read_run
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import PendingPart
from headwater_analysis.trace.traced_parts import PartKind
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.keys import version_key
from headwater_graph.segments import segment
from headwater_graph.words import path_mark

# Lucene takes 1,024 words in one query.
MOST_MARKS = 1_000
_FEW_MARKS = 16
"""Maximum number of marks for which micro-batches without any of these marks are skipped undecoded."""
_AT_ONCE = 16
"""Number of segments that one statement reads."""


def indexed_users(context: Context, pendings: Sequence[PendingPart]) -> list[list[Batch]]:
    """Candidates for each part: micro-batches that may have used some of it. Callers must match the recorded uses."""
    batches: dict[tuple[str, int], Batch] = {}
    by_dataset: dict[str, list[Batch]] = defaultdict(list)
    found, _ = _users(context, pendings)
    for batch in found:
        if not batch.conflict and (batch.query, batch.first) not in batches:
            batches[batch.query, batch.first] = batch
            for dataset in {use.dataset for use in batch.uses}:
                by_dataset[dataset].append(batch)
    return [by_dataset[pending.part.dataset.key] for pending in pendings]


def path_users(context: Context, paths: Iterable[str], *, produced: bool) -> tuple[list[Batch], list[Run]]:
    """Micro-batches and runs that read (or wrote) files or partitions."""
    return _by_marks(context, sorted({path_mark(path) for path in paths}), produced=produced)


def _users(context: Context, pendings: Sequence[PendingPart]) -> tuple[list[Batch], list[Run]]:
    parts = [(pending.name, pending.part) for pending in pendings]
    marks = {path_mark(path) for _, part in parts if part.kind is PartKind.FILES for path in part.files}
    versions = {
        version_key(context.tx.tenant, name, part.format, part.version)
        for name, part in parts
        if part.format is not None and part.version is not None
    }
    batches, runs = _by_marks(context, sorted(marks), produced=context.backward)
    of_versions, runs_of_versions = version_users(context, sorted(versions))
    return [*batches, *of_versions], [*runs, *runs_of_versions]


def version_users(context: Context, versions: Sequence[str]) -> tuple[list[Batch], list[Run]]:
    """Micro-batches and runs that read or wrote versions, given the keys of the versions."""
    if not versions:
        return [], []
    asked = {"versions": list(versions), "limit": context.limit}
    wanted = {
        (found["query"], batch_id)
        for found in context.tx.rows("trace/version_batches", **asked)
        for batch_id in found["batches"]
    }
    batches = _reports(at_batches(context.tx, sorted(wanted)[: context.limit]))
    return batches, [read_run(each) for each in context.tx.rows("trace/version_runs", **asked)]


def _by_marks(context: Context, marks: Sequence[str], *, produced: bool) -> tuple[list[Batch], list[Run]]:
    if len(marks) > MOST_MARKS:
        context.cut = True
    if not marks:
        return [], []
    type_ = RelType.PRODUCED if produced else RelType.CONSUMED
    wanted = frozenset(marks[:MOST_MARKS])
    asked = {"marks": " OR ".join(marks[:MOST_MARKS]), "type": type_.value, "limit": context.limit}
    stretches = [
        Stretch(each["query"], each["first"], each["last"]) for each in context.tx.rows("trace/path_segments", **asked)
    ]
    texts = sorted(wanted) if len(wanted) <= _FEW_MARKS else ()
    with_mark = Wanted(lambda interval: _has_mark(interval, type_, wanted), texts)
    batches: list[IntervalFacts] = []
    for begin in range(0, len(stretches), _AT_ONCE):
        found = following(context.tx, stretches[begin : begin + _AT_ONCE], segment.SIZE, wanted=with_mark)
        batches += [interval for intervals in found for interval in intervals]
        if len(batches) >= context.limit:
            break
    return _reports(batches[: context.limit]), [read_run(each) for each in context.tx.rows("trace/path_runs", **asked)]


def _has_mark(interval: IntervalFacts, type_: RelType, marks: frozenset[str]) -> bool:
    for variant in interval.variants.values():
        for use, registers in variant.uses.items():
            _, position = registers.get("position", ("", None))
            if use.type is type_ and isinstance(position, dict):
                own = position.get("_marks", ())
                if isinstance(own, list) and not marks.isdisjoint(map(str, own)):
                    return True
    return False


def _reports(intervals: Iterable[IntervalFacts]) -> list[Batch]:
    """Micro-batches, each followed by its conflicting reports."""
    return [read_batch(each) for interval in intervals for each in (row(interval), *conflicts(interval))]
