"""Search hop by hop, breadth-first. No part is followed twice, so a cycle ends.

One hop, for all parts of a level at once:

part ── offsets ──▶ search by batch id ──┐
     ── files, versions ──▶ index ───────┼─▶ micro-batches ──▶ groups ──▶ (state) ──▶ hops
     ── unknown ──▶ search by time ──────┘
     ── any ──▶ batch runs of the jobs that use the dataset ──────────────────────▶ hops
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from headwater_analysis.micro_batches import at_batches, conflicts
from headwater_analysis.trace.batches import Query, Run, listed, read_batch
from headwater_analysis.trace.by_time import whole_drafts
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import (
    BY_TIME,
    HopDraft,
    PartUse,
    PendingPart,
    PossibleUse,
    merged,
    overall,
    run_step,
)
from headwater_analysis.trace.incarnations import Incarnations, ids
from headwater_analysis.trace.indexed import indexed_users
from headwater_analysis.trace.locate import Located, WantedOffsets, locate
from headwater_analysis.trace.match import PartMatch, described, matched, narrowed, spans_of_part
from headwater_analysis.trace.parts import given, is_empty, join
from headwater_analysis.trace.restored import read_before
from headwater_analysis.trace.steps import group_drafts, missing_draft, prefetch_others, without_drops
from headwater_analysis.trace.summarized import summarized, summary_draft, taken_from_archive
from headwater_analysis.trace.traced_parts import (
    CERTAINTIES,
    Hop,
    Part,
    PartKind,
    Trace,
    TraceDirection,
    offsets,
    spans_of,
    weakest,
)
from headwater_graph.facts.spans import Spans, difference, flat, union
from headwater_graph.words import canonical_path
from headwater_schemas.events import Certainty


@dataclass(slots=True)
class _Followed:
    """Parts that the trace has followed already.

    Attributes:
        offsets: followed offsets, by key of the dataset and topic id.
        files: key of the dataset, and canonical path, of each followed file.
        others: identifying fields of FILES, SNAPSHOT, CHANGES and OTHER parts.
        unknown: `since` (backwards: `until`) of the UNKNOWN part that was followed, by key of the dataset; None: no
            bound.
        by_time: ranges of batch ids (inclusive) of steps bounded only by time, by the first item of `HopDraft.key`.
    """

    offsets: dict[tuple[str, str | None], Spans] = field(default_factory=dict)
    files: set[tuple[str, str]] = field(default_factory=set)
    others: set[tuple[object, ...]] = field(default_factory=set)
    unknown: dict[str, datetime | None] = field(default_factory=dict)
    by_time: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def fresh(self, part: Part, *, backward: bool) -> Part | None:
        """Return the rest of a part that hasn't been followed yet, and mark it as followed; None without a rest."""
        key = part.dataset.key
        if part.kind is PartKind.OFFSETS:
            return self._offsets(part)
        if part.kind is PartKind.UNKNOWN:
            time = part.until if backward else part.since
            if key in self.unknown:
                old = self.unknown[key]
                if old is None or (time is not None and (time <= old if backward else time >= old)):
                    return None
            self.unknown[key] = time
            return part
        new = tuple(path for path in part.files if (key, canonical_path(path)) not in self.files)
        self.files |= {(key, canonical_path(path)) for path in new}
        if new and len(new) < len(part.files) == part.file_count:
            return replace(part, files=new, file_count=len(new), version=None)
        mark = (key, part.kind, part.format, part.from_version, part.version, part.text, part.file_count)
        if mark in self.others and not new:
            return None
        self.others.add(mark)
        return part

    def is_new(self, draft: HopDraft) -> bool:
        """Return whether a step is new: always, except a step bounded by time that lies within an earlier one."""
        key, first, last = draft.key
        if not key.endswith(BY_TIME):
            return True
        earlier = self.by_time.setdefault(key, [])
        if any(a <= first and last <= b for a, b in earlier):
            return False
        earlier.append((first, last))
        return True

    def _offsets(self, part: Part) -> Part | None:
        wanted = spans_of(part.offsets)
        seen = self.offsets.get((part.dataset.key, part.topic_id), {})
        new = difference(wanted, seen)
        self.offsets[part.dataset.key, part.topic_id] = union([*flat(seen), *flat(wanted)])
        return replace(part, offsets=offsets(new)) if new else None


def follow(
    context: Context,
    start: Sequence[Part],
    *,
    depth: int | None,
    limit: int,
    first: Sequence[Hop] = (),
    passes: Callable[[Hop], bool] | None = None,
) -> Trace:
    """Trace parts to further hops.

    Args:
        start: parts at which the trace begins.
        depth: maximum number of hops; None: no limit.
        limit: maximum number of steps in all.
        first: hops that are known already. The trace continues from their outputs (backwards: inputs), too.
        passes: condition that hops must meet; other hops are left out. Two hops of one step may differ in their inputs.
            None: no condition.
    """
    followed = _Followed()
    first = [_shown(context, hop) for hop in first]
    hops: list[Hop] = list(first)
    ends: list[Part] = []
    level = 0
    waiting = [(part, 0, part.certainty) for part in start]
    waiting += [(part, hop.number, hop.overall) for hop in first for part in _onward(context, hop)]
    pendings, same_part = _pendings(context, followed, waiting)
    wants = ((each.name, spans_of_part(each.part)) for each in pendings if each.part.kind is PartKind.OFFSETS)
    context.prefetch({each.name for each in pendings}, wants)
    while pendings and len(hops) < limit and (depth is None or level < depth):
        level += 1
        context.goes_on = depth is None or level < depth
        drafts = expand(context, pendings)
        # A part counts as used if a step used it under any name of its dataset.
        used = {number for draft in drafts for pending in draft.pendings for number in same_part[pending.number]}
        # A hop that is left out must not hide a later one, so only hops that are kept count as followed.
        if passes is not None:
            drafts = [draft for draft in drafts if passes(_shown(context, draft.numbered(0, level)))]
        drafts = [draft for draft in drafts if followed.is_new(draft)]
        ends += [pending.part for pending in pendings if pending.number not in used]
        room = limit - len(hops)
        if len(drafts) > room:
            context.cut = True
        new = [_shown(context, draft.numbered(len(hops) + 1 + n, level)) for n, draft in enumerate(drafts[:room])]
        hops += new
        onward = [
            (part, hop.number, weakest(hop.overall, part.certainty)) for hop in new for part in _onward(context, hop)
        ]
        pendings, same_part = _pendings(context, followed, onward)
    goes_on = _goes_on(context, pendings)
    going_on = {pending.number for pending in pendings if pending.name in goes_on}
    ends += [pending.part for pending in pendings if not going_on.intersection(same_part[pending.number])]
    return Trace(
        direction=TraceDirection.BACKWARD if context.backward else TraceDirection.FORWARD,
        start=tuple(map(context.datasets.shown, start)),
        hops=tuple(hops),
        ends=tuple(dict.fromkeys(map(context.datasets.shown, ends))),
        notes=tuple(context.notes),
        total=len(hops),
        max_hops=max((hop.depth for hop in hops), default=0),
        truncated=context.cut or bool(going_on),
    )


def _onward(context: Context, hop: Hop) -> tuple[Part, ...]:
    return hop.inputs if context.backward else hop.outputs


def _shown(context: Context, hop: Hop) -> Hop:
    """Translate a hop's datasets to the names that answers show."""
    inputs, outputs = (tuple(map(context.datasets.shown, parts)) for parts in (hop.inputs, hop.outputs))
    return (
        hop
        if (inputs, outputs) == (hop.inputs, hop.outputs)
        else replace(hop, inputs=join(inputs), outputs=join(outputs))
    )


def _pendings(
    context: Context, followed: _Followed, parts: Iterable[tuple[Part, int, Certainty]]
) -> tuple[list[PendingPart], dict[int, range]]:
    """Parts that haven't been followed yet, one for each name of their dataset.

    Also returns, by number of each part: the numbers of the same part under all names.
    """
    out: list[PendingPart] = []
    same_part: dict[int, range] = {}
    for part, after, worst in parts:
        fresh = followed.fresh(context.datasets.shown(part), backward=context.backward)
        if fresh is not None and not is_empty(fresh):
            begin = len(out)
            for name, named in context.datasets.names_of(fresh, backward=context.backward):
                out.append(PendingPart(len(out), name, named, after, worst))
            same_part |= dict.fromkeys(range(begin, len(out)), range(begin, len(out)))
    return out, same_part


def _goes_on(context: Context, pendings: Sequence[PendingPart]) -> set[str]:
    """Keys of those datasets of the parts that anything reads (backwards: writes)."""
    keys = {pending.name for pending in pendings}
    context.datasets.know(keys)
    return {key for key in keys if context.datasets.goes_on(key, backward=context.backward)}


def expand(context: Context, pendings: Sequence[PendingPart]) -> list[HopDraft]:
    """Find the steps that read these parts, with outputs. Backwards: the steps that wrote these parts, with inputs."""
    queries = context.queries_of(pending.name for pending in pendings)
    taken: list[PartUse] = []
    missing: list[PossibleUse] = []
    whole: list[tuple[Query, PendingPart, str]] = []
    of_summaries = _by_offsets(context, pendings, queries, taken, missing, whole)
    _by_index(context, pendings, queries, taken, whole)
    _conflicts(context, pendings, queries, taken)
    drafts = group_drafts(context, taken)
    drafts += of_summaries
    drafts += [missing_draft(context, each) for each in missing]
    drafts += whole_drafts(context, whole)
    drafts += run_drafts(context, pendings)
    return merged(drafts)


def _by_offsets(
    context: Context,
    pendings: Sequence[PendingPart],
    queries: dict[str, list[Query]],
    taken: list[PartUse],
    missing: list[PossibleUse],
    whole: list[tuple[Query, PendingPart, str]],
) -> list[HopDraft]:
    """Search micro-batches by offsets, and add them to `taken`, `missing` and `whole`; return the hops of summaries."""
    wants, owners = [], []
    asked = set()
    for pending in pendings:
        if spans := spans_of_part(pending.part):
            for query in queries[pending.name]:
                # A query may have the dataset under several names: search its offsets once.
                if (query.key, pending.part, pending.after) not in asked:
                    asked.add((query.key, pending.part, pending.after))
                    key = pending.part.dataset.key
                    wants.append(WantedOffsets(query, key, spans, pending.part.topic_id, produced=context.backward))
                    owners.append(pending)
    found = list(zip(owners, locate(context.tx, wants), strict=True))
    summaries = summarized(context, found)
    incarnations = Incarnations(context, found, queries)
    for pending, located in found:
        _take(context, incarnations, pending, located, taken, missing, whole)
    incarnations.note(found)
    archived, left = taken_from_archive(context, summaries)
    taken += archived
    return [summary_draft(context, each) for each in left]


def _take(
    context: Context,
    incarnations: Incarnations,
    pending: PendingPart,
    located: Located,
    taken: list[PartUse],
    missing: list[PossibleUse],
    whole: list[tuple[Query, PendingPart, str]],
) -> None:
    query, verb = located.want.query, "wrote" if context.backward else "read"
    if not located.recorded:
        # No batch records offsets of this dataset, so the batches are bounded only by time. Versions are found by
        # index.
        if pending.part.kind is PartKind.OFFSETS and located.left:
            if query.summarized:
                context.notes[_not_summarized(query, narrowed(pending.part, located.left), verb)] = None
            else:
                whole.append((query, pending, f"The query doesn't record which offsets of the topic it {verb}."))
        return
    for hit in located.hits:
        part = narrowed(pending.part, hit.spans)
        piece = sum(first <= hit.batch.first for first in located.rewinds)
        if (why := incarnations.why(located, hit)) is not None:
            part = replace(part, topic_id=min(ids(located, hit)))
        else:
            why = _rewound(located, piece)
        taken.append(PartUse(query, hit.batch, part, hit.certainty, why, pending, piece))
    if pending.after == 0 and pending.part.topic_id is not None and not _records_incarnation(located):
        name = query.name or query.query_id
        context.notes[f"{name} doesn't record which incarnation of the topic it {verb}."] = None
    for guess in located.guesses:
        part = narrowed(pending.part, located.left)
        why = f"The batch doesn't record what it {verb}; no batch around it {verb} these offsets."
        taken.append(PartUse(query, guess, part, Certainty.UPPER_BOUND, why, pending))
    left = located.left
    for hole in located.holes:
        left = difference(left, hole.spans)
        missing.append(PossibleUse(query, hole, narrowed(pending.part, hole.spans), pending))
    if left and not located.guesses and pending.after == 0 and pending.part.kind is PartKind.OFFSETS:
        context.notes[_not_used(context, query, narrowed(pending.part, left), verb)] = None


def _not_summarized(query: Query, left: Part, verb: str) -> str:
    name = query.name or query.query_id
    return f"No stored or summarized micro-batch of {name} {verb} {described(left)}."


def _records_incarnation(located: Located) -> bool:
    uses = [
        use
        for hit in located.hits
        for use in (hit.batch.writes if located.want.produced else hit.batch.reads)(located.want.dataset)
    ]
    return all(use.topic_id is not None for use in uses)


def _rewound(located: Located, piece: int) -> str:
    """Sentence on a query whose offsets went back, so that other records had the same offsets."""
    if not located.rewinds:
        return ""
    if piece:
        return f"The query's offsets had gone back at batch {located.rewinds[piece - 1]}."
    return f"The query's offsets go back later, at batch {located.rewinds[0]}."


def _not_used(context: Context, query: Query, left: Part, verb: str) -> str:
    """Note on offsets that a query hasn't reached yet or has skipped."""
    name, done = query.name or query.query_id, "written" if context.backward else "read"
    last = context.last_batch(query)
    ends: dict[int, int] = {}
    for use in (last.writes if context.backward else last.reads)(left.dataset.key) if last is not None else ():
        ends |= {partition: end for partition, (_, end) in listed(use.properties).items()}
    beyond = all(start >= ends.get(partition, 0) for partition, start, _ in flat_of(left))
    if beyond:
        partition = left.offsets[0].partition
        latest = f"{name}'s latest known micro-batch ({query.last_batch})"
        if partition in ends:
            return f"Not {done} yet: {latest} ends at offset {ends[partition]}, before {described(left)}."
        return f"Not {done} yet: {latest} has no offsets of partition {partition}."
    return f"No known micro-batch of {name} {verb} {described(left)}."


def flat_of(part: Part) -> list[tuple[int, int, int]]:
    """Partition, start and end of each of a part's offset ranges."""
    return flat(spans_of_part(part))


def _by_index(
    context: Context,
    pendings: Sequence[PendingPart],
    queries: dict[str, list[Query]],
    taken: list[PartUse],
    whole: list[tuple[Query, PendingPart, str]],
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
                    taken.append(PartUse(by_key[batch.query], batch, match.part, match.certainty, "", pending))
                    found.add((batch.query, pending.number))
    for pending in pendings:
        part = pending.part
        if part.kind is PartKind.OFFSETS:
            continue
        for query in queries[pending.name]:
            if (query.key, pending.number) in found or _lists_all(context, query, part):
                continue
            if query.summarized:
                name = query.name or query.query_id
                context.notes[
                    f"The graph no longer stores the micro-batches of {name} of earlier days individually, and their "
                    f"summaries don't list which part of {part.dataset.name} they {verb}. The archive of the events "
                    "topic does."
                ] = None
            why = (
                "It is unknown which part is meant."
                if part.kind is PartKind.UNKNOWN
                else f"The query doesn't list everything that it {verb}."
            )
            whole.append((query, pending, why))


def _lists_all(context: Context, query: Query, part: Part) -> bool:
    """Return whether the index finds every use of the part: the query's last batch lists all its files or versions."""
    last = context.last_batch(query)
    uses = (last.writes if context.backward else last.reads)(part.dataset.key) if last is not None else []
    if part.kind is PartKind.FILES and len(part.files) == part.file_count:
        return bool(uses) and all(use.lists_all for use in uses)
    if part.kind is PartKind.SNAPSHOT:
        return bool(uses) and all(use.kind in (PartKind.SNAPSHOT, PartKind.CHANGES) and use.spans for use in uses)
    return False


def _conflicts(
    context: Context, pendings: Sequence[PendingPart], queries: dict[str, list[Query]], taken: list[PartUse]
) -> None:
    by_key = {query.key: query for each in queries.values() for query in each if query.contested}
    if not by_key:
        return
    verb = "wrote" if context.backward else "read"
    contested = [
        (row["query"], batch_id)
        for row in context.tx.rows("trace/contested", queries=sorted(by_key), limit=context.limit)
        for batch_id in sorted(set(row["batches"]))
    ]
    reports = [row for each in at_batches(context.tx, contested[: context.limit]) for row in conflicts(each)]
    for row in reports:
        batch = read_batch(row)
        for pending in pendings:
            for use in (batch.writes if context.backward else batch.reads)(pending.part.dataset.key):
                match = matched(pending.part, use, batch, verb=verb)
                if match is not None and match.certainty is not Certainty.UNKNOWN:
                    why = "Later the checkpoint was set back, and the batch ran again with other offsets."
                    taken.append(PartUse(by_key[batch.query], batch, match.part, match.certainty, why, pending))


def run_drafts(context: Context, pendings: Sequence[PendingPart]) -> list[HopDraft]:
    """Build a hop for each run that used, or may have used, one of these parts."""
    of_runs = [pending for pending in pendings if context.is_of_runs(pending.name)]
    users = context.runs_of([(pending.name, pending.part.since, pending.part.until) for pending in of_runs])
    used = []
    for pending, runs in zip(of_runs, users, strict=True):
        matches = [(run, match) for run in runs if (match := _best(context, pending, run)) is not None]
        used += [(pending, run, match) for run, match in _not_replaced(context, pending, matches)]
    prefetch_others(context, [([run], run.job) for _, run, _ in used])
    return [_run_draft(context, *each) for each in used]


def _best(context: Context, pending: PendingPart, run: Run) -> PartMatch | None:
    """Surest match of the part with a use by the run; None if no use matches."""
    verb = "wrote" if context.backward else "read"
    uses = (run.writes if context.backward else run.reads)(pending.name)
    matches = [match for use in uses if (match := matched(pending.part, use, run, verb=verb)) is not None]
    if matches and not context.backward and read_before(context, pending.part, run, pending.name):
        return None
    return min(matches, key=lambda match: CERTAINTIES.index(match.certainty), default=None)


def _not_replaced(
    context: Context, pending: PendingPart, matches: Sequence[tuple[Run, PartMatch]]
) -> Iterable[tuple[Run, PartMatch]]:
    """Filter matches. Backwards, except for offsets, drop runs before the last one that replaced everything."""
    if not context.backward or pending.part.kind is PartKind.OFFSETS:
        return matches
    out = []
    for run, match in matches:  # the latest first
        out.append((run, match))
        if any(use.replaces for use in run.writes(pending.name)):
            break
    return out


def _run_draft(context: Context, pending: PendingPart, run: Run, match: PartMatch) -> HopDraft:
    used = [(run, frozenset({pending.name}))]
    others = given(used, context.datasets, backward=context.backward)
    others, dropped = without_drops(context, run.job, [run], others)
    return HopDraft(
        key=(f"{run.key} run", 0, 0),
        step=run_step(run),
        inputs=others if context.backward else (match.part,),
        outputs=(match.part,) if context.backward else others,
        certainty=match.certainty,
        overall=overall(match.certainty, [pending]),
        why=f"{match.why} {dropped}".rstrip(),
        pendings=(pending,),
    )
