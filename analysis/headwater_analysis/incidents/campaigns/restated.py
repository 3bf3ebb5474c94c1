"""Datasets that the runs of a campaign wrote to, with the data that the writes replaced or added.

A run that failed or was aborted restated nothing unless it reports that it committed (`detection.writes`).
Micro-batches are committed one by one, so the micro-batches of a streaming run count, however the run ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from headwater_analysis.amounts import amount
from headwater_analysis.blast.origin import run_origin
from headwater_analysis.blast.superseded import replaced_by
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.incidents.campaigns.campaign_answers import RestatedDataset, RestatedWrite, Restatement
from headwater_analysis.incidents.detection.writes import has_committed
from headwater_analysis.partitions import overwritten
from headwater_analysis.trace.batches import Run, read_run
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import join, joined
from headwater_analysis.trace.traced_parts import Part, PartKind, weakest
from headwater_analysis.trace.uses import StoredUse
from headwater_schemas.events import RunEventType

MOST_RUNS: Final = 500
"""Maximum number of runs of a campaign whose writes are read: the latest runs."""
ENDED: Final = (RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.ABORT)
"""States of a run that has ended."""


@dataclass(slots=True)
class _Writes:
    runs: set[str] = field(default_factory=set)
    partitions: set[str] = field(default_factory=set)
    parts: list[Part] = field(default_factory=list)


def restated(context: Context, campaign: str, *, total: int) -> tuple[tuple[RestatedDataset, ...], list[str]]:
    """Find the data that the runs of a campaign restated.

    Args:
        context: context of a trace, forwards.
        campaign: key of the campaign.
        total: number of all runs of the campaign.

    Returns:
        The datasets, by name, and unknown facts, a few words each.
    """
    runs = [read_run(row) for row in context.tx.rows("campaigns/runs", campaign=campaign, limit=MOST_RUNS)]
    found: dict[str, dict[Restatement, _Writes]] = defaultdict(lambda: defaultdict(_Writes))
    unfinished, unread = 0, 0
    for run in runs:
        if run.properties.get("query_id") is not None:
            try:
                writes = list(_of_query(context, run))
            except (NotFoundError, AmbiguousError):
                unread += 1
                continue
        else:
            unfinished += _state(run) not in ENDED
            writes = list(_of_batch(context, run))
        for kind, partitions, part in writes:
            each = found[part.dataset.key][kind]
            each.runs.add(run.key)
            each.partitions |= set(partitions)
            each.parts.append(part)
    unclear = sum(Restatement.UNKNOWN in kinds for kinds in found.values())
    more = total - len(runs)
    words = (
        (more, f"what {amount(more, 'earlier run')} wrote"),
        (unfinished, f"what {amount(unfinished, 'run')} without an end wrote"),
        (unread, f"what {amount(unread, 'streaming run')} wrote"),
        (unclear, f"what was written to, or replaced in, {amount(unclear, 'dataset')}"),
    )
    datasets = sorted((_dataset(kinds) for kinds in found.values()), key=lambda each: each.dataset.spelling)
    return tuple(datasets), [text for number, text in words if number > 0]


def _state(run: Run) -> str | None:
    return run.properties.get("inferred_state") or run.properties.get("state")


def _of_batch(context: Context, run: Run) -> Iterator[tuple[Restatement, tuple[str, ...], Part]]:
    """Kind, replaced partitions and part of each write of a batch run."""
    is_whole = _state(run) == RunEventType.COMPLETE
    for use in run.writes():
        if is_whole or has_committed(run.properties, use.properties):
            for part in map(context.datasets.shown, joined([(run, use)], context.datasets)):
                yield *_kind(use), part


def _of_query(context: Context, run: Run) -> Iterator[tuple[Restatement, tuple[str, ...], Part]]:
    """Kind, replaced partitions and part of each output of a streaming run.

    A query that overwrites does so in every micro-batch, so the kind is taken from its last micro-batch.
    """
    hops = run_origin(context, run.properties["run_id"])
    queries = context.queries([run.properties["_query"]])
    last = [batch for query in queries.values() if (batch := context.last_batch(query)) is not None]
    parts = [replace(part, certainty=weakest(hop.certainty, part.certainty)) for hop in hops for part in hop.outputs]
    for part in map(context.datasets.shown, parts):
        names = context.datasets.keys_of(part.dataset.key)
        kinds = {_kind(use)[0] for batch in last for name in names for use in batch.writes(name)}
        # An earlier micro-batch may have replaced other partitions than the last one.
        is_clear = len(kinds) == 1 and Restatement.PARTITIONS not in kinds
        yield kinds.pop() if is_clear else Restatement.UNKNOWN, (), part


def _kind(use: StoredUse) -> tuple[Restatement, tuple[str, ...]]:
    replaced = replaced_by(use)
    if replaced is not None:
        return (Restatement.PARTITIONS, replaced) if replaced else (Restatement.REPLACED, ())
    if not overwritten(use.properties)[1]:
        return Restatement.UNKNOWN, ()
    return _BY_KIND.get(use.kind, Restatement.UNKNOWN), ()


_BY_KIND: Final = {
    PartKind.OFFSETS: Restatement.APPENDED,
    PartKind.FILES: Restatement.APPENDED,
    PartKind.SNAPSHOT: Restatement.VERSIONS,
    PartKind.CHANGES: Restatement.VERSIONS,
}


def _dataset(kinds: dict[Restatement, _Writes]) -> RestatedDataset:
    [dataset] = {part.dataset.key: part.dataset for each in kinds.values() for part in each.parts}.values()
    return RestatedDataset(
        dataset=dataset,
        writes=tuple(
            RestatedWrite(
                kind=kind,
                runs=len(kinds[kind].runs),
                partitions=tuple(sorted(kinds[kind].partitions)),
                parts=join(kinds[kind].parts),
            )
            for kind in Restatement
            if kind in kinds
        ),
    )
