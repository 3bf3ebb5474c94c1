"""The last word of a demo: as a JSON document, and as tables with what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from headwater.demo.queries import favourites
from headwater.stack import paths

if TYPE_CHECKING:
    from rich.console import RenderableType

    from headwater.demo.facts import Facts
    from headwater.demo.run import Outcome

_BLANK = Text("")


def document(outcome: Outcome) -> dict[str, Any]:
    """What `--json` prints."""
    facts = outcome.facts
    return {
        "events": {
            "acknowledged": facts.acknowledged,
            "applied": facts.applied,
            "dead_lettered": facts.dead_lettered,
        },
        "nodes": dict(facts.nodes),
        "relationships": dict(facts.relationships),
        "intervals": {
            query: {"count": chain.intervals, "gaps": chain.gaps, "overlaps": chain.overlaps}
            for query, chain in facts.chains.items()
        },
        "seconds": outcome.seconds,
    }


def view(outcome: Outcome, *, kept: bool) -> RenderableType:
    """What is shown on a terminal."""
    parts: list[RenderableType] = [_figures(outcome), _dead_letters(outcome.facts), _checks(outcome)]
    if not outcome.failed:
        parts.append(_next_steps(outcome, kept=kept))
    return Group(*(line for part in parts for line in (_BLANK, part)))


def _figures(outcome: Outcome) -> Table:
    facts = outcome.facts
    table = Table(box=None, show_header=False, pad_edge=False)
    flights = sum(facts.departed_ends.values())
    table.add_row("flights", f"{flights:,} of {outcome.days} days, in {outcome.seconds['total']:.0f} s")
    table.add_row(
        "lineage events",
        f"{facts.acknowledged:,} acknowledged = {facts.applied:,} applied + {facts.dead_lettered:,} dead-lettered",
    )
    for query, chain in facts.chains.items():
        table.add_row(f"query {query}", f"{chain.intervals} intervals, {chain.gaps} gaps, {chain.overlaps} overlaps")
    table.add_row("nodes", _counts(facts.nodes))
    table.add_row("relationships", _counts(facts.relationships))
    return table


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _dead_letters(facts: Facts) -> Table:
    table = Table(box=None, pad_edge=False, title="Dead letters", title_justify="left", title_style="bold")
    for name in ("reason", "read from", "bytes"):
        table.add_column(name)
    for letter in facts.dead_letters:
        table.add_row(escape(letter.reason), escape(letter.source), str(letter.size_bytes))
    return table


def _checks(outcome: Outcome) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, title="Checks", title_justify="left", title_style="bold")
    for check in outcome.checks:
        table.add_row("[green]✓[/green]" if check.holds else "[red]✗[/red]", escape(check.claim))
        for problem in check.problems:
            table.add_row("", f"[red]{escape(problem)}[/red]")
    return table


def _next_steps(outcome: Outcome, *, kept: bool) -> RenderableType:
    info = outcome.info
    grid = Table.grid(padding=(0, 2))
    if kept:
        again, end = "", "headwater down"
    else:
        # The demo's folder is a data folder like any other; its ports are remembered.
        prefix = f"HEADWATER_DATA_DIR={shlex.quote(str(paths.demo_dir()))} "
        again, end = f"{prefix}headwater up", f"{prefix}headwater down"
        grid.add_row("Look around", again)
    grid.add_row("Neo4j Browser", info.browser_url)
    grid.add_row("User", info.neo4j_user)
    grid.add_row("Password", f"in {info.password_file}")
    grid.add_row("Bolt", info.neo4j_uri)
    grid.add_row("Kafka", info.bootstrap_servers)
    grid.add_row("Logs", str(paths.demo_dir() / "logs"))
    grid.add_row("End it", end)
    parts: list[RenderableType] = [Text("What next", style="bold"), grid]
    for favourite in favourites():
        # Never wrapped, so that what is copied is what was written.
        text = Text(favourite.text, no_wrap=True, overflow="ignore")
        parts += [_BLANK, Text(f"// {favourite.title}", style="dim"), text]
    return Group(*parts)
