"""Summary of a demo: a JSON document, or tables and next steps."""

from __future__ import annotations

import os
import shlex
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table
from headwater.demo.facts import Facts
from headwater.demo.jobs import YEAR_DAYS
from headwater.demo.scenario import DemoResult
from headwater.invocation import program
from headwater.stack import paths
from headwater_graph.statement_files import load, names

_BLANK = Text("")

QUESTIONS = (
    ("downstream flights.departed --depth all", "everything derived from a topic"),
    ("upstream daily_report --column mean_delay --depth all", "sources of a column, and its transformations"),
    ("impact flights.departed --column value.tailnum --change removed", "what breaks without a column"),
    ("trace flights.departed 0 1000", "where a record went"),
)
"""Commands to explore the demo's graph, each with a description."""


def document(outcome: DemoResult) -> dict[str, Any]:
    """Return the document that `--json` prints."""
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


def view(outcome: DemoResult, *, kept: bool) -> RenderableType:
    """Return the result as shown on a terminal."""
    parts: list[RenderableType] = [_figures(outcome), _dead_letters(outcome.facts), _checks(outcome)]
    if not outcome.failed:
        parts.append(_next_steps(outcome, kept=kept))
    return Group(*(line for part in parts for line in (_BLANK, part)))


def _figures(outcome: DemoResult) -> Table:
    facts = outcome.facts
    table = plain_table()
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
        table.add_row(letter.reason, letter.source, str(letter.size_bytes))
    return table


def _checks(outcome: DemoResult) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, title="Checks", title_justify="left", title_style="bold")
    for check in outcome.checks:
        table.add_row(Text("✓", "green") if check.holds else Text("✗", "red"), check.claim)
        for problem in check.problems:
            table.add_row("", Text(problem, "red"))
    return table


def _next_steps(outcome: DemoResult, *, kept: bool) -> RenderableType:
    info = outcome.info
    # Commands with the same HEADWATER_DATA_DIR as the demo find the stack that `--keep` left running. Without `--keep`,
    # the commands need the demo's folder as HEADWATER_DATA_DIR: it is a normal data folder, with remembered ports.
    folder = paths.demo_dir() if not kept else os.environ.get("HEADWATER_DATA_DIR")
    command = f"HEADWATER_DATA_DIR={shlex.quote(str(folder))} {program()}" if folder else program()
    browser = Table.grid(padding=(0, 2))
    browser.add_row("Neo4j Browser", info.browser_url)
    browser.add_row("User", info.neo4j_user)
    browser.add_row("Password", f"in {info.password_file}")
    commands = [] if kept else [("up", "start Kafka and Neo4j again, with their data")]
    commands += [
        *QUESTIONS,
        ("serve", "the same questions over HTTP, and a page that draws lineage"),
        ("status", "addresses of Kafka and Neo4j, and whether they answer"),
        ("graph dump -o graph.jsonl", "export the whole graph; equal events give an equal file"),
        ("down", "stop Kafka and Neo4j"),
    ]
    parts: list[RenderableType] = [Text("What next", style="bold"), browser, _BLANK]
    parts += [_line(f"{command} {arguments}", what) for arguments, what in commands]
    if outcome.days < YEAR_DAYS:
        parts.append(_line(f"{program()} demo --full", "the whole year"))
    parts += [_BLANK, f"Logs are in {paths.demo_dir() / 'logs'}. To paste into the Browser:"]
    for favourite in favourites():
        parts += [_BLANK, Text(f"// {favourite.title}", style="dim"), _to_copy(favourite.text)]
    return Group(*parts)


def _line(command: str, comment: str) -> Text:
    return _to_copy(command).append(f"  # {comment}", "dim")


def _to_copy(text: str) -> Text:
    # Never wrapped, so that people can copy the command.
    return Text(text, no_wrap=True, overflow="ignore")


class Favourite(NamedTuple):
    """A query worth pasting into Neo4j Browser."""

    title: str
    text: str


def favourites() -> list[Favourite]:
    """Queries worth pasting, in the order of their file; `text` is without the title line."""
    found = []
    for name in names("headwater.demo", "paste"):
        title, _, text = load("headwater.demo", f"paste/{name}").partition("\n")
        found.append(Favourite(title.removeprefix(f"// {name}: "), text.strip()))
    return found
