"""Everything that the bad data of an incident reached, computed from the graph as it is now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from headwater_analysis.blast.blast_radius import LIMIT, blast_in
from headwater_analysis.blast.superseded import Replacements
from headwater_analysis.blast.tainted import Superseded, Tainted
from headwater_analysis.incidents.answers import IncidentReach, ResolvedPart
from headwater_analysis.incidents.columns import ColumnReach, reached_columns
from headwater_analysis.incidents.first_bad_run import bad_since
from headwater_analysis.incidents.origins import Origin, origin_of
from headwater_analysis.incidents.repairs import DeclaredRepairs
from headwater_analysis.incidents.scope import scope_part
from headwater_analysis.incidents.spreading import spreading
from headwater_analysis.incidents.unknown import with_unknown
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import Datasets, is_empty, join
from headwater_analysis.trace.traced_parts import Hop, Part, surest
from headwater_graph.incidents import IncidentState
from headwater_graph.scope_difference import lies_within
from headwater_schemas.events import Certainty, IncidentAction
from headwater_schemas.identity import scope_text


def reach_of(
    tx: Transaction,
    state: IncidentState,
    *,
    limit: int = LIMIT,
    arrivals: Arrivals | None = None,
    detailed: bool = False,
) -> IncidentReach:
    """Compute the reach of an incident from the graph as it is now.

    Args:
        state: state of the incident, with its scope and its repairs.
        limit: maximum number of steps that bad data passed through.
        arrivals: as in `trace`.
        detailed: whether to find also the reached columns, and the first bad and last good runs.
    """
    now = datetime.now(UTC)
    context = Context(tx, Datasets(tx), backward=False, horizon=None, limit=limit, arrivals=arrivals)
    origins = [origin_of(context, part, now=now) for part in state.scope.values()]
    hops, numbers = _numbered(origins)
    parts = join(part for origin in origins for part in origin.parts)
    repairs = DeclaredRepairs(context, state)
    start = _start(context, origins, state, repairs)
    bad_start = [one.dataset.key for one in start if one.parts]
    found = blast_in(context, parts, hops, limit=limit, repairs=repairs.split, bad_start=bad_start)
    columns = ColumnReach()
    if detailed:
        columns = reached_columns(context, state, origins, found.hops, (*start, *found.tainted))
    reach = IncidentReach(
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
        start=start,
        blast=found,
        spreading=spreading(context, found.hops),
        complete=not found.truncated
        and not context.cut
        and all(origin.certainty is not Certainty.UNKNOWN for origin in origins),
        undeclared_consumers=state.undeclared_consumers,
        columns=columns.columns,
        columns_unknown=columns.unknown,
        columns_truncated=columns.truncated,
        all_columns=columns.all_columns,
        restricts=columns.restricts,
        since=bad_since(context, origins, found.hops, limit=limit) if detailed else (),
    )
    return with_unknown(reach)


def _start(
    context: Context, origins: list[Origin], state: IncidentState, repairs: DeclaredRepairs
) -> tuple[Tainted, ...]:
    """Datasets in which bad data began, with the bad data that is left there.

    The bad data existed when its part was added to the scope. So only a write that began later can have replaced it.
    """
    added = _added(state)
    parts = [
        (context.datasets.shown(part), added.get(scope_text(origin.part)))
        for origin in origins
        for part in origin.parts
        if not is_empty(part)
    ]
    known = [replace(part, until=min(filter(None, (part.until, time)), default=None)) for part, time in parts]
    replacements = Replacements(context, known)
    found: dict[str, tuple[list[Part], list[Superseded]]] = {}
    for (part, _), dated in zip(parts, known, strict=True):
        left, gone = replacements.split(dated)
        if left is not None:
            left, repaired = repairs.split(None, left)
            gone = [*gone, *repaired]
        kept, replaced = found.setdefault(part.dataset.key, ([], []))
        kept += [] if left is None else [replace(left, until=part.until)]
        replaced += gone
    return tuple(
        Tainted(
            dataset=context.datasets[key],
            depth=0,
            parts=join(kept),
            superseded=tuple(dict.fromkeys(replaced)),
            hops=(),
            certainty=surest(each.certainty for each in kept or [gone.part for gone in replaced]),
        )
        for key, (kept, replaced) in found.items()
    )


def _added(state: IncidentState) -> dict[str, datetime]:
    """For each part, as text: time at which it was last added to the scope; the rest of a part has the part's time."""
    found: dict[str, datetime] = {}
    for record in state.history:
        if record.event.action is IncidentAction.REPAIRED:
            continue
        for part in record.event.scope or ():
            cut = [scope_text(one) for one in record.event.removed or () if lies_within(part, one)]
            found[scope_text(part)] = min((found[text] for text in cut if text in found), default=record.time)
    return found


def _numbered(origins: list[Origin]) -> tuple[list[Hop], list[tuple[int, ...]]]:
    """Number the hops of all origins from 1. Return the hops, and for each origin the numbers of its hops.

    A step that belongs to two origins is one hop.
    """
    hops: dict[Hop, Hop] = {}
    numbers: list[tuple[int, ...]] = []
    for origin in origins:
        own_numbers = []
        for hop in origin.hops:
            step = replace(hop, number=0, why="")
            hops.setdefault(step, replace(hop, number=len(hops) + 1))
            own_numbers.append(hops[step].number)
        numbers.append(tuple(own_numbers))
    return list(hops.values()), numbers
