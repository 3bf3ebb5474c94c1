"""Everything that the bad data of an incident reached, computed from the graph as it is now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from headwater_analysis.blast.blast_radius import LIMIT, blast_in
from headwater_analysis.incidents.answers import Reach, ResolvedPart
from headwater_analysis.incidents.origins import Origin, origin_of
from headwater_analysis.incidents.repairs import DeclaredRepairs
from headwater_analysis.incidents.scope import scope_part
from headwater_analysis.incidents.spreading import spreading
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import Datasets, join
from headwater_analysis.trace.traced_parts import Hop
from headwater_graph.incidents import IncidentState
from headwater_schemas.events import Certainty


def reach_of(tx: Transaction, state: IncidentState, *, limit: int = LIMIT, arrivals: Arrivals | None = None) -> Reach:
    """Find what an incident reached.

    Args:
        state: state of the incident; its scope and its repairs count.
        limit: maximum number of steps that bad data passed through.
        arrivals: as in `trace`.
    """
    now = datetime.now(UTC)
    context = Context(tx, Datasets(tx), backward=False, horizon=None, limit=limit, arrivals=arrivals)
    origins = [origin_of(context, part, now=now) for part in state.scope.values()]
    hops, numbers = _numbered(origins)
    parts = join(part for origin in origins for part in origin.parts)
    repairs = DeclaredRepairs(context, state).split if state.repaired else None
    found = blast_in(context, parts, hops, limit=limit, repairs=repairs)
    return Reach(
        as_of=now,
        scope=tuple(
            ResolvedPart(
                part=scope_part(origin.part),
                parts=tuple(map(context.datasets.shown, origin.parts)),
                hops=numbered,
                certainty=origin.certainty,
                why=origin.why,
            )
            for origin, numbered in zip(origins, numbers, strict=True)
        ),
        blast=found,
        spreading=spreading(context, found.hops),
        complete=not found.truncated
        and not context.cut
        and all(origin.certainty is not Certainty.UNKNOWN for origin in origins),
    )


def _numbered(origins: list[Origin]) -> tuple[list[Hop], list[tuple[int, ...]]]:
    """Number the hops of all parts from 1; a step that two parts lead to is one hop."""
    hops: dict[Hop, Hop] = {}
    numbers: list[tuple[int, ...]] = []
    for origin in origins:
        mine = []
        for hop in origin.hops:
            known = replace(hop, number=0, why="")
            hops.setdefault(known, replace(hop, number=len(hops) + 1))
            mine.append(hops[known].number)
        numbers.append(tuple(mine))
    return list(hops.values()), numbers
