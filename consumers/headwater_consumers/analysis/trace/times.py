"""The part of a topic that was read, or written, around a time: by micro-batches, and by batch runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import Part, PartKind
from headwater_consumers.analysis.trace.batches import read_run
from headwater_consumers.analysis.trace.by_time import ends, first_after, running_at
from headwater_consumers.analysis.trace.parts import between, join, joined

if TYPE_CHECKING:
    from datetime import datetime

    from headwater_consumers.analysis.assets import Asset
    from headwater_consumers.analysis.trace.batches import Run
    from headwater_consumers.analysis.trace.context import Context


def parts_at(context: Context, topic: Asset, partition: int | None, start: datetime, end: datetime) -> list[Part]:
    """What ran from `start` to `end` read of a topic (backwards: wrote into it).

    The batch that had begun last before `start` counts where it hadn't ended by then, or it isn't known when it ended;
    so do those about then that say no time, reconciled ones.
    """
    names = context.datasets.keys_of(topic.key)
    parts = [part for key in names for part in _of_runs(context, context.datasets[key], start, end)]
    used = context.queries_of(names)
    for key, query in ((name, each) for name in names for each in used[name]):
        [first] = first_after(context, [(query, start)])
        [last] = first_after(context, [(query, end)], inclusive=end > start)
        lo = running_at(context, query, first, start)
        hi = (last if last is not None else query.last_batch + 1) - 1
        batches, complete = ends(context, query, lo, hi)
        if complete:
            running = [b for b in batches if b.started_at is None or b.ended_at is None or b.ended_at >= start]
            uses = [(b, use) for b in running for use in (b.writes if context.backward else b.reads)(key)]
            parts += joined(uses, context.datasets)
        else:
            ended = between(batches[0], batches[-1], produced=context.backward, datasets=context.datasets)
            parts += [part for part in ended if part.dataset.key == key]
    if partition is not None:
        parts = [
            replace(part, offsets=tuple(span for span in part.offsets if span.partition == partition), rows=None)
            if part.kind is PartKind.OFFSETS
            else part
            for part in parts
        ]
    found = [
        part for part in join(map(context.datasets.shown, parts)) if part.kind is not PartKind.OFFSETS or part.offsets
    ]
    if not found:
        verb = "wrote" if context.backward else "read"
        context.notes[f"Nothing that {verb} {topic.spelling} is known to have run then."] = None
    return found


def _of_runs(context: Context, topic: Asset, start: datetime, end: datetime) -> list[Part]:
    wants = [{"n": 0, "dataset": topic.key, "since": start, "until": end}]
    name = "trace/writing_runs" if context.backward else "trace/reading_runs"
    rows = context.tx.rows(name, wants=wants, limit=context.limit)
    context.cut |= len(rows) >= context.limit
    runs = {run.key: run for run in map(read_run, rows) if _overlaps(run, start, end)}
    uses = [(run, use) for run in runs.values() for use in (run.writes if context.backward else run.reads)(topic.key)]
    return list(joined(uses, context.datasets))


def _overlaps(run: Run, start: datetime, end: datetime) -> bool:
    begun = run.started_at is None or run.started_at < end or run.started_at == start
    return begun and (run.ended_at is None or run.ended_at >= start)
