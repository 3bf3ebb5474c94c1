"""One hop further, for all parts of a level at once.

part ── offsets ──▶ search by batch id ──┐
     ── files, versions ──▶ index ───────┼─▶ micro-batches ──▶ groups ──▶ (state) ──▶ hops
     ── unknown ──▶ search by time ──────┘
     ── any ──▶ batch runs of the jobs that use the dataset ──────────────────────▶ hops
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import Part, PartKind
from headwater_consumers.analysis.trace.batch_runs import run_drafts
from headwater_consumers.analysis.trace.batches import Query, read_batch
from headwater_consumers.analysis.trace.by_time import whole_drafts
from headwater_consumers.analysis.trace.indexed import indexed_users
from headwater_consumers.analysis.trace.locate import Located, Want, locate
from headwater_consumers.analysis.trace.match import described, matched, spans_of_part
from headwater_consumers.analysis.trace.spans import difference, flat, offsets
from headwater_consumers.analysis.trace.steps import group_drafts, missing_draft
from headwater_consumers.analysis.trace.stretch import listed
from headwater_consumers.analysis.trace.taken import Draft, Missing, Pending, Taken, merged
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.analysis.trace.context import Context


def expand(context: Context, pendings: Sequence[Pending]) -> list[Draft]:
    """The steps that used these parts, and what they made of them (backwards: from what)."""
    queries = context.queries_of(pending.part.dataset.key for pending in pendings)
    taken: list[Taken] = []
    missing: list[Missing] = []
    whole: list[tuple[Query, Pending, str]] = []
    _by_offsets(context, pendings, queries, taken, missing, whole)
    _by_index(context, pendings, queries, taken, whole)
    _conflicts(context, pendings, queries, taken)
    drafts = group_drafts(context, taken)
    drafts += [missing_draft(context, each) for each in missing]
    drafts += whole_drafts(context, whole)
    drafts += run_drafts(context, pendings)
    return merged(drafts)


def _by_offsets(
    context: Context,
    pendings: Sequence[Pending],
    queries: dict[str, list[Query]],
    taken: list[Taken],
    missing: list[Missing],
    whole: list[tuple[Query, Pending, str]],
) -> None:
    wants, owners = [], []
    for pending in pendings:
        if spans := spans_of_part(pending.part):
            for query in queries[pending.part.dataset.key]:
                wants.append(
                    Want(query, pending.part.dataset.key, spans, pending.part.topic_id, produced=context.backward)
                )
                owners.append(pending)
    for pending, located in zip(owners, locate(context.tx, wants), strict=True):
        _take(context, pending, located, taken, missing, whole)


def _take(
    context: Context,
    pending: Pending,
    located: Located,
    taken: list[Taken],
    missing: list[Missing],
    whole: list[tuple[Query, Pending, str]],
) -> None:
    query, verb = located.want.query, "wrote" if context.backward else "read"
    if not located.says:
        # Versions are found by index too; and a topic, or a table at rest, of which no batch says what it used.
        if pending.part.kind is PartKind.OFFSETS:
            whole.append((query, pending, f"Its micro-batches don't say what they {verb} of it."))
        return
    for hit in located.hits:
        part = _narrowed(pending.part, hit.spans)
        piece = sum(first <= hit.batch.first for first in located.rewinds)
        taken.append(Taken(query, hit.batch, part, hit.certainty, _rewound(located, piece), pending, piece))
    if pending.after == 0 and pending.part.topic_id is not None and not _tells_incarnation(located):
        name = query.name or query.query_id
        context.notes[f"{name} doesn't say which incarnation of the topic it {verb}."] = None
    for guess in located.guesses:
        part = _narrowed(pending.part, located.left)
        why = f"It doesn't say what it {verb}; those around it leave these to it."
        taken.append(Taken(query, guess, part, Certainty.UPPER_BOUND, why, pending))
    left = located.left
    for hole in located.holes:
        left = difference(left, hole.spans)
        missing.append(Missing(query, hole, _narrowed(pending.part, hole.spans), pending))
    if left and not located.guesses and pending.after == 0 and pending.part.kind is PartKind.OFFSETS:
        context.notes[_not_used(context, query, _narrowed(pending.part, left), verb)] = None


def _tells_incarnation(located: Located) -> bool:
    uses = [
        use
        for hit in located.hits
        for use in (hit.batch.writes if located.want.produced else hit.batch.reads)(located.want.dataset)
    ]
    return all(use.topic_id is not None for use in uses)


def _narrowed(part: Part, spans: dict[int, list[tuple[int, int]]]) -> Part:
    return replace(part, offsets=offsets(spans), rows=None) if part.kind is PartKind.OFFSETS else part


def _rewound(located: Located, piece: int) -> str:
    """What to say where offsets go back: these aren't the only ones of their numbers."""
    if not located.rewinds:
        return ""
    if piece:
        return f"The query's offsets had gone back at batch {located.rewinds[piece - 1]}."
    return f"The query's offsets go back later, at batch {located.rewinds[0]}."


def _not_used(context: Context, query: Query, left: Part, verb: str) -> str:
    """Why a query has nothing of some offsets: it isn't that far yet, or it left them out."""
    name, done = query.name or query.query_id, "written" if context.backward else "read"
    last = context.last_batch(query)
    ends: dict[int, int] = {}
    for use in (last.writes if context.backward else last.reads)(left.dataset.key) if last is not None else ():
        ends |= {partition: end for partition, (_, end) in listed(use.properties).items()}
    beyond = all(start >= ends.get(partition, 0) for partition, start, _ in flat_of(left))
    if beyond:
        partition = left.offsets[0].partition
        known = ends.get(partition)
        upto = (
            f"up to offset {known} of partition {partition}"
            if known is not None
            else f"nothing of partition {partition}"
        )
        return f"{name} has {done} {upto} by batch {query.last_batch}, the last one known: not yet {described(left)}."
    return f"{name} {verb} {described(left)} in no micro-batch that is known."


def flat_of(part: Part) -> list[tuple[int, int, int]]:
    """Partition, start and end of each of its offsets."""
    return flat(spans_of_part(part))


def _by_index(
    context: Context,
    pendings: Sequence[Pending],
    queries: dict[str, list[Query]],
    taken: list[Taken],
    whole: list[tuple[Query, Pending, str]],
) -> None:
    found = {(each.query.key, each.pending.number) for each in taken}
    searched = [p for p in pendings if p.part.kind in (PartKind.FILES, PartKind.SNAPSHOT)]
    verb = "wrote" if context.backward else "read"
    for pending, batches in zip(searched, indexed_users(context, searched), strict=True):
        by_key = context.queries(batch.query for batch in batches)
        for batch in batches:
            for use in (batch.writes if context.backward else batch.reads)(pending.part.dataset.key):
                match = matched(pending.part, use, batch, verb=verb)
                if match is not None and match.certainty is not Certainty.UNKNOWN and batch.query in by_key:
                    taken.append(Taken(by_key[batch.query], batch, match.part, match.certainty, "", pending))
                    found.add((batch.query, pending.number))
    for pending in pendings:
        part = pending.part
        if part.kind is PartKind.OFFSETS:
            continue
        for query in queries[part.dataset.key]:
            if (query.key, pending.number) in found or _tells_all(context, query, part):
                continue
            why = (
                "Which part is meant isn't known." if part.kind is PartKind.UNKNOWN else f"What it {verb} isn't listed."
            )
            whole.append((query, pending, why))


def _tells_all(context: Context, query: Query, part: Part) -> bool:
    """Whether a query would have been found by the index: its micro-batches list all their files, or their versions."""
    last = context.last_batch(query)
    uses = (last.writes if context.backward else last.reads)(part.dataset.key) if last is not None else []
    if part.kind is PartKind.FILES and len(part.files) == part.file_count:
        return bool(uses) and all(use.lists_all for use in uses)
    if part.kind is PartKind.SNAPSHOT:
        return bool(uses) and all(use.kind in (PartKind.SNAPSHOT, PartKind.CHANGES) and use.spans for use in uses)
    return False


def _conflicts(
    context: Context, pendings: Sequence[Pending], queries: dict[str, list[Query]], taken: list[Taken]
) -> None:
    by_key = {query.key: query for each in queries.values() for query in each}
    if not by_key:
        return
    verb = "wrote" if context.backward else "read"
    for row in context.tx.rows("trace/conflicts", queries=sorted(by_key), limit=context.limit):
        batch = read_batch(row)
        for pending in pendings:
            for use in (batch.writes if context.backward else batch.reads)(pending.part.dataset.key):
                match = matched(pending.part, use, batch, verb=verb)
                if match is not None and match.certainty is not Certainty.UNKNOWN:
                    why = "Then the checkpoint was set back, and the batch ran again with other offsets."
                    taken.append(Taken(by_key[batch.query], batch, match.part, match.certainty, why, pending))
