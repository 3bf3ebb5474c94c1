"""Incarnations of a topic. A topic that was deleted and created again has other records at the same offsets.

A question with only offsets means records of any incarnation. If several incarnations are known, the answer names:

- the incarnation of each hit (a micro-batch that used some of the offsets);
- the offsets of the latest incarnation that no known step used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from headwater_analysis.trace.batches import Query, before, same_topic
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import PendingPart
from headwater_analysis.trace.locate import Located, OffsetHit
from headwater_analysis.trace.match import described, narrowed
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_graph.facts.spans import Spans, difference, flat, union

_MOST_REWINDS = 8
"""Maximum number of a query's rewinds (points where its offsets go back) to examine: the latest rewinds."""


class Incarnations:
    """Incarnations of topics for which a trace gives offsets without an incarnation.

    Args:
        found: parts, each with the result of the search for its offsets in one query.
        queries: queries that use the topics, by key of the topic.
    """

    def __init__(
        self, context: Context, found: Sequence[tuple[PendingPart, Located]], queries: Mapping[str, Sequence[Query]]
    ) -> None:
        self._context = context
        self._latest: dict[str, str] = {}
        """Topic id of the latest incarnation, by key of the topic; only topics with several known incarnations."""
        asked = {p.part.dataset.key: p for p, _ in found if p.after == 0 and p.part.topic_id is None}
        for key, pending in asked.items():
            used = {
                query.key: query for name in context.datasets.keys_of(key) for query in queries.get(name, ())
            }.values()
            last = _last_used(context, key, used)
            known = {topic_id for _, _, topic_id in last}
            known |= {id_ for p, each in found if p.part == pending.part for hit in each.hits for id_ in ids(each, hit)}
            known |= self._before_rewinds(key, [each for p, each in found if p.part == pending.part and each.hits])
            if len(known) > 1 and last:
                self._latest[key] = max(last)[2]

    def _before_rewinds(self, key: str, found: Sequence[Located]) -> set[str]:
        """Topic ids that queries used before each point where their offsets went back."""
        rewound = [(each.want.query.key, first) for each in found for first in each.rewinds[-_MOST_REWINDS:]]
        batches = [batch for earlier in before(self._context.tx, rewound) for batch in earlier] if rewound else []
        uses = [use for each in batches for use in (each.writes if self._context.backward else each.reads)(key)]
        return {use.topic_id for use in uses if use.topic_id is not None}

    def why(self, located: Located, hit: OffsetHit) -> str | None:
        """Sentence about a hit; None if no other incarnation of its topic is known."""
        latest = self._latest.get(located.want.dataset)
        found = sorted(ids(located, hit))
        if latest is None or not found:
            return None
        topic_ids = ", ".join(found)
        return f"These offsets are of topic id {topic_ids}, " + (
            "the latest incarnation." if found == [latest] else f"an earlier incarnation: the latest is {latest}."
        )

    def note(self, found: Iterable[tuple[PendingPart, Located]]) -> None:
        """Add a note on the offsets of the latest incarnation that no known micro-batch used."""
        left: dict[str, tuple[Part, Spans]] = {}
        for pending, located in found:
            key = located.want.dataset
            if key in self._latest and pending.after == 0 and pending.part.kind is PartKind.OFFSETS:
                of_latest = [
                    span
                    for hit in located.hits
                    if any(same_topic(self._latest[key], topic_id) for topic_id in ids(located, hit) or [None])
                    for span in flat(hit.spans)
                ]
                _, spans = left.get(key, (pending.part, located.want.spans))
                left[key] = pending.part, difference(spans, union(of_latest))
        verb = "wrote" if self._context.backward else "read"
        for key, (part, spans) in left.items():
            if spans:
                what = described(narrowed(replace(part, topic_id=self._latest[key]), spans))
                self._context.notes[
                    f"The topic was deleted and created again: no known micro-batch {verb} {what} of its latest "
                    f"incarnation, {self._latest[key]}."
                ] = None


def ids(located: Located, hit: OffsetHit) -> set[str]:
    """Topic ids that a hit's micro-batch recorded."""
    uses = (hit.batch.writes if located.want.produced else hit.batch.reads)(located.want.dataset)
    return {use.topic_id for use in uses if use.topic_id is not None}


def _last_used(context: Context, key: str, queries: Iterable[Query]) -> list[tuple[bool, datetime | int, str]]:
    """Topic ids that each query's last micro-batch used.

    Each item begins with two sort keys: whether the batch's start is known, and the start, or else the batch id.
    """
    out: list[tuple[bool, datetime | int, str]] = []
    for query in queries:
        last = context.last_batch(query)
        for use in () if last is None else (last.writes if context.backward else last.reads)(key):
            if last is not None and use.topic_id is not None:
                time = last.started_at
                out.append((time is not None, last.first if time is None else time, use.topic_id))
    return out
