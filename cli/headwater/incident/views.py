"""Views of incidents: the list, and one incident in the order in which somebody on call works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.incident.details import (
    LONGEST,
    MOST_ROWS,
    column_parts,
    job_parts,
    owners_text,
    since_parts,
    titled,
    version_parts,
)
from headwater.lean_imports import without
from headwater.show.declared import consumers_table
from headwater.show.names import asset_text, moment_text
from headwater.show.pages import FittedView, pairs, part
from headwater.show.trace import CERTAINTY_STYLES, certainty_words, gone_words, part_words, step_words
from headwater_schemas.events import IncidentAction
from headwater_schemas.visible import visible

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.incidents.answers import (
        Incident,
        IncidentBrief,
        IncidentPage,
        IncidentReach,
        ReachChange,
        RecordedReach,
    )
    from headwater_analysis.incidents.gate import GateAnswer
    from headwater_analysis.incidents.recorded import CollectedDataset, collected
    from headwater_analysis.incidents.unknown import undeclared_words, unknown_parts
    from headwater_analysis.owners import OwnerName
    from headwater_analysis.trace.traced_parts import Part

_MOST_PARTS: Final = 20
_MOST_ACTIONS: Final = 50
_MOST_NAMED: Final = 5
_MOST_STEPS: Final = 3
_WORDS: Final = {
    IncidentAction.OPENED: "opened",
    IncidentAction.ACKNOWLEDGED: "acknowledged",
    IncidentAction.ASSIGNED: "assigned",
    IncidentAction.SCOPE_CHANGED: "scope changed",
    IncidentAction.MERGED: "merged",
    IncidentAction.SUPERSEDED: "superseded",
    IncidentAction.REPAIRED: "declared repaired",
    IncidentAction.RESOLVED: "resolved",
    IncidentAction.REOPENED: "reopened",
    IncidentAction.NOTED: "noted",
    IncidentAction.REACHED: "reach recorded",
    IncidentAction.NOTIFIED: "notified",
}
_CHANGES: Final = {
    "REACHED": "reached {} more",
    "CLEARED": "{} cleared",
    "CHANGED": "other parts in {}",
    "NOT_REACHED": "{} not reached any more",
}


def action_words(action: IncidentAction) -> str:
    """Name an action: `scope changed`."""
    return _WORDS.get(action, action.value)


def status_words(brief: IncidentBrief) -> str:
    """Status of an incident as text, also for an incident without its opening."""
    return "without its opening, which isn't in the graph" if brief.status is None else brief.status.value


def incidents_table(page: IncidentPage) -> Table:
    """Table with a row for each incident."""
    out = plain_table("incident", "severity", "status", "title", "since", "reached", "assigned to")
    for brief in page.items:
        out.add_row(
            Text(shortened(brief.incident), style="bold"),
            Text(brief.severity or "–"),
            Text(brief.status or "not opened"),
            Text(shortened(brief.title or "")),
            moment_text(brief.opened_at),
            Text(_reached_words(brief)),
            Text(shortened(brief.assignee or "")),
        )
    return out


def _reached_words(brief: IncidentBrief) -> str:
    if brief.reached_as_of is None or brief.reached_datasets is None:
        return "not recorded yet"
    least = "" if brief.reached_complete else "at least "
    return f"{least}{amount(brief.reached_datasets, 'dataset')} as of {moment_text(brief.reached_as_of)}"


def incident_view(found: Incident) -> RenderableType:
    """View of an incident: its state, scope and reach, consumers of bad data, messages, and all actions."""
    parts: list[RenderableType] = [_header(found), *_scope(found)]
    if found.reach is not None:
        parts += _reach(found.reach)
    if found.recorded is not None:
        parts += ["", Text(recorded_words(found.recorded, asked=found.reach is not None))]
        parts += map(Text, changed_lines(found.recorded))
    elif found.reach is not None:
        parts += [
            "",
            Text(
                f"The reach isn't recorded yet: `headwater incident refresh {shortened(found.brief.incident)}` "
                "records it."
            ),
        ]
    parts += [_list("Notified", notified_lines(found)), _history(found)]
    return Group(*parts)


def _header(found: Incident) -> RenderableType:
    brief = found.brief
    resolved = "" if brief.resolved_at is None else moment_text(brief.resolved_at)
    rows: tuple[tuple[str, str | Text | None], ...] = (
        ("status", status_words(brief)),
        ("severity", brief.severity),
        ("type", brief.type),
        ("since", None if brief.opened_at is None else moment_text(brief.opened_at)),
        ("cause", brief.cause and shortened(brief.cause, LONGEST)),
        ("assigned to", brief.assignee and shortened(brief.assignee)),
        ("resolved", " ".join(filter(None, (resolved, brief.resolution and brief.resolution.value)))),
        ("continued in", brief.continued_in and shortened(brief.continued_in)),
        ("description", found.description and shortened(found.description, LONGEST)),
    )
    title = Text.assemble((shortened(brief.incident), "bold"), f"  {shortened(brief.title or '')}")
    return Group(title, pairs(rows))


def _scope(found: Incident) -> Iterator[RenderableType]:
    reach = found.reach
    if reach is None:
        yield _list("Scope", found.brief.scope)
    else:
        table = plain_table()
        for each in reach.scope:
            certainty = Text(each.certainty.value, style=CERTAINTY_STYLES[each.certainty])
            table.add_row(shortened(each.part.text, LONGEST), certainty, shortened(each.why, LONGEST))
        yield part("Scope", FittedView(table), len(reach.scope), len(reach.scope))
    yield _list("Declared repaired", [each.text for each in found.repaired])


def _list(heading: str, lines: Sequence[str]) -> RenderableType:
    shown = Text("\n".join(shortened(line, LONGEST) for line in lines[:MOST_ROWS]))
    return part(heading, shown, min(len(lines), MOST_ROWS), len(lines))


def _reach(reach: IncidentReach) -> Iterator[RenderableType]:
    assets = collected(reach)
    bad = [each for each in assets if each.parts]
    caveat = f"; {unknown_words(reach)}" if unknown_words(reach) else ""
    consumers = reach.blast.consumers
    yield titled(f"Consumers that read bad data: {len(consumers):,}{caveat}")
    if consumers:
        yield FittedView(consumers_table(consumers))
    yield titled(f"Datasets with bad data: {len(bad):,}{caveat}")
    if bad:
        yield FittedView(_bad_table(bad, {each.dataset.key: each.owners for each in reach.owners if each.owners}))
    yield from job_parts(reach, unknown_words(reach))
    yield from since_parts(reach)
    yield from version_parts(reach)
    yield from column_parts(reach, unknown_words(reach))
    gone = [each for each in assets if each.gone]
    if gone:
        clean = sum(not each.parts for each in gone)
        yield titled(f"Replaced, dropped or repaired: parts of {amount(len(gone), 'dataset')}, {clean:,} clean again")
        yield FittedView(_gone_table(gone))
    yield _list("May still spread", [each.text for each in reach.may_spread])
    yield _list("Not known to be reached", reach.not_known_to_be_reached)
    yield _list("Can't be known", reach.cannot_be_known)


def _bad_table(assets: Sequence[CollectedDataset], owners: Mapping[str, tuple[OwnerName, ...]]) -> Table:
    names = ("hops", "dataset", "since", "bad data", "certainty", *(("owner",) if owners else ()))
    out = plain_table(*names, numbers=("hops",))
    for each in assets[:MOST_ROWS]:
        for n, held in enumerate(each.parts[:_MOST_PARTS]):
            out.add_row(
                str(each.depth) if n == 0 else "",
                asset_text(each.asset) if n == 0 else "",
                moment_text(each.since) if n == 0 else "",
                part_words(held),
                Text(certainty_words(held), style=CERTAINTY_STYLES[held.certainty]),
                *([owners_text(owners.get(each.asset.key, ()) if n == 0 else ())] if owners else []),
            )
        _more(out, len(each.parts) - _MOST_PARTS, "part", before=3)
    _more(out, len(assets) - MOST_ROWS, "dataset", before=1)
    return out


def _gone_table(assets: Sequence[CollectedDataset]) -> Table:
    out = plain_table("dataset", "", "part, and why")
    for each in assets[:MOST_ROWS]:
        for n, gone in enumerate(each.gone[:_MOST_PARTS]):
            state = "some bad data is left" if each.parts else "clean again"
            out.add_row(asset_text(each.asset) if n == 0 else "", state if n == 0 else "", gone_words(gone))
        _more(out, len(each.gone) - _MOST_PARTS, "part", before=2)
    _more(out, len(assets) - MOST_ROWS, "dataset", before=0)
    return out


def _more(out: Table, number: int, what: str, *, before: int) -> None:
    if number > 0:
        out.add_row(*[""] * before, Text(f"… and {amount(number, f'more {what}')}; --json lists all", style="dim"))


def unknown_words(reach: IncidentReach) -> str:
    """Format the unknown parts of a reach for the line with its totals; empty: the whole reach is known."""
    found = unknown_parts(reach)
    return f"not known: {', '.join(found)}" if found else ""


def reach_summary(found: Incident) -> str:
    """Last line of an incident: totals of its reach, and what isn't known; empty: the reach wasn't asked for."""
    if found.reach is None:
        return ""
    bad = found.reach.bad_datasets
    clean = len({(each.dataset.namespace, each.dataset.name) for each in found.reach.tainted}) - len(bad)
    words = f"{amount(len(bad), 'dataset')} with bad data, {clean:,} clean again"
    words += f", {amount(len(found.reach.blast.consumers), 'consumer')} to notify"
    further = filter(None, (undeclared_words(found.reach), unknown_words(found.reach)))
    return visible(f"{'; '.join((words, *further))}.")


def recorded_words(recorded: RecordedReach, *, asked: bool = True) -> str:
    """Format the latest recorded reach, and the changes since.

    Args:
        recorded: latest recorded reach.
        asked: whether the current reach was computed, so that the changes are known.
    """
    incomplete = "" if recorded.complete else ", which wasn't complete"
    if not asked:
        counts = f"{amount(recorded.datasets, 'dataset')} with bad data, {recorded.cleared:,} clean again"
        return f"Recorded as of {moment_text(recorded.as_of)}{incomplete}: {counts}."
    changed = changes_words([each.change for each in recorded.changes])
    names = [shortened(each.dataset) for each in recorded.changes]
    listed = f" ({first_of(names, _MOST_NAMED)})" if names else ""
    return f"Since the record of {moment_text(recorded.as_of)}{incomplete}: {changed}{listed}."


def changed_lines(recorded: RecordedReach) -> list[str]:
    """Format changed parts and who wrote them: `n/orders: new: part-2, by enrich batch 7; gone: part-1`."""
    changed = [each for each in recorded.changes if each.change == "CHANGED" or each.by]
    more = len(changed) - MOST_ROWS
    lines = [f"  {shortened(each.dataset)}: {_changed_words(each)}" for each in changed[:MOST_ROWS]]
    return [*lines, f"  … and {amount(more, 'more dataset')}; --json lists all"] if more > 0 else lines


def _changed_words(change: ReachChange) -> str:
    by = f"by {first_of(list(map(step_words, change.by)), _MOST_STEPS, total=change.by_total)}" if change.by else ""
    if change.change != "CHANGED":
        return f"reached {by}{'; clean again' if change.change == 'CLEARED' else ''}"
    words = [f"new: {', '.join(filter(None, (_listed(change.new), by)))}"] if change.new else []
    words += [f"gone: {_listed(change.gone)}"] if change.gone else []
    if not change.exact:
        words.append("not exact: some parts aren't listed in full")
    return "; ".join(words) or "only the certainty of some parts changed"


def _listed(parts: Sequence[Part]) -> str:
    return first_of(list(map(part_words, parts)), _MOST_NAMED)


def notified_lines(found: Incident) -> list[str]:
    """Format the latest notification of each recipient: name, channel, reason and time."""
    return [
        f"{shortened(each.recipient)} by {shortened(each.channel)}: {each.change} at {moment_text(each.at)}"
        for each in found.notified
    ]


def changes_words(changes: Sequence[str]) -> str:
    """Format changes of a reach: `reached 2 more, 1 cleared`."""
    counts = Counter(changes)
    found = [words.format(f"{counts[change]:,}") for change, words in _CHANGES.items() if counts[change]]
    return ", ".join(found) or "nothing changed"


def _history(found: Incident) -> RenderableType:
    table = plain_table("at", "action", "by", "")
    shown = found.history[-_MOST_ACTIONS:]
    for each in shown:
        table.add_row(
            moment_text(each.at), action_words(each.action), shortened(each.by), shortened(each.text, LONGEST)
        )
    return part("History", FittedView(table), len(shown), len(found.history))


def gate_view(found: GateAnswer) -> RenderableType:
    """View of the gate's answer: the incidents that hold a dataset, or that none holds it."""
    name = asset_text(found.dataset)
    if found.partition is not None:
        name.append(f"  {shortened(found.partition)}")
    if found.is_free:
        return name.append(f" is free: none of {amount(found.checked, 'open incident')} covers it.", style="green")
    table = plain_table("held by", "severity", "certainty", "title", "why")
    for hold in found.holds:
        table.add_row(
            Text(shortened(hold.incident), style="bold"),
            Text(hold.severity or "–"),
            Text(hold.certainty.value, style=CERTAINTY_STYLES[hold.certainty]),
            Text(shortened(hold.title or "")),
            Text(shortened(hold.why, LONGEST)),
        )
    more = "More incidents are open than the gate checks, so the dataset isn't free." if found.truncated else ""
    return Group(name.append(" is held.", style="bold red"), FittedView(table), *([Text(more)] if more else []))
