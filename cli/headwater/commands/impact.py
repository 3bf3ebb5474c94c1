"""`headwater impact`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from headwater.console import console, plain_table, shortened
from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.graph_reader import in_words
from headwater.options import complete_dataset, hops, parse_hops
from headwater.show.declared import consumers_table
from headwater.show.diagram import DiagramFormat, drawn, impact_diagram
from headwater.show.names import asset_text, dataset_text
from headwater.show.pages import next_page
from headwater.times import time_if_given
from headwater.trace_options import RANGES_HELP, ReadTimeOption, arrived, range_option
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import (
    Cause,
    ChangeType,
    Extent,
    Impact,
    ImpactChange,
    ImpactedConsumer,
    ImpactItem,
    ImpactOwner,
    ImpactPage,
    Policy,
    SchemaChange,
    Severity,
    analyze,
    default_policy_text,
    load_policy,
)
from headwater_analysis.impact.wording import counted, headline, inputs_texts, left_open
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Part
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import partition_text

if TYPE_CHECKING:
    from headwater.remote.server import Server


class ImpactFormat(StrEnum):
    """Output format for people."""

    TREE = "tree"
    MARKDOWN = "markdown"
    MERMAID = "mermaid"
    DOT = "dot"


def _print_policy(value: bool) -> None:
    if value:
        console.raw(default_policy_text())
        raise typer.Exit


@graph_command(page=100)
def command(
    ask: Ask,
    dataset: Annotated[
        str,
        typer.Argument(
            help="Asset that changes: its name if it is unique, or namespace/name, or its key.",
            autocompletion=complete_dataset,
        ),
    ],
    *,
    column: Annotated[str | None, typer.Option("--column", "-c", help="Column that changes: a field path.")] = None,
    change: Annotated[SchemaChange | None, typer.Option(case_sensitive=False, help="Change of the column.")] = None,
    type_: Annotated[
        ChangeType | None,
        typer.Option("--type", case_sensitive=False, help="Kind of change. Default: derived from --change."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The new name of a renamed column, the new type of a retyped one.")
    ] = None,
    nullable: Annotated[
        bool | None, typer.Option("--nullable/--not-null", help="New nullability, with --change nullability.")
    ] = None,
    partition: Annotated[
        str | None, typer.Option(help="Only data of this partition: 3 of a topic, day=2025-01-31 of a table.")
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option(
            help=f"Only data at these offsets of a topic's partition: 120, 120..130, 120.., 0:120..130. {RANGES_HELP}"
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only data of a topic that arrived at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only data of a topic that arrived before this time.")] = None,
    read_time: ReadTimeOption = False,
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML) instead of Headwater's own.")] = None,
    default_policy: Annotated[
        bool,
        typer.Option("--default-policy", callback=_print_policy, is_eager=True, help="Print Headwater's own policy."),
    ] = False,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "all",
    why: Annotated[
        bool, typer.Option("--why", help="Show the path to each asset, why it is affected, and what to do.")
    ] = False,
    format_: Annotated[
        ImpactFormat,
        typer.Option("--format", "-f", case_sensitive=False, help="A tree, Markdown for a ticket, or a drawing."),
    ] = ImpactFormat.TREE,
) -> Shown:
    """Show what a change of a dataset or column does to everything derived from it, and how severely.

    headwater impact flights.departed --column value.dep_delay --change removed
    """
    asked = ImpactChange(
        dataset,
        column,
        type_,
        change,
        new_name=to if change is SchemaChange.RENAMED else None,
        new_type=to if change is not SchemaChange.RENAMED else None,
        nullable=nullable,
        extent=_extent(partition, offsets, since, until, read_time=read_time),
    )
    page = ImpactPage(parse_hops(depth), ask.limit, ask.cursor)
    with in_words(_in_words_of_options):
        loaded_policy: Policy | None = None if policy is None else load_policy(policy)

    def question(reader: Reader) -> Impact:
        with in_words(_in_words_of_options):
            return analyze(reader, asked, loaded_policy, page, arrived)

    def at_server(server: Server) -> Impact:
        if policy is not None:
            raise InputError("--policy works only with a database; a server uses its own policy.")
        with in_words(_in_words_of_options):
            given = {"depth": hops(page.depth), "limit": page.limit, "cursor": page.cursor}
            return server.post(("impact", "analyze"), Impact, asked, given)

    answer = ask(question, at_server)
    more = next_page(answer.next_cursor)
    if format_ is ImpactFormat.TREE:
        return Shown(answer, view(answer, why=why), more)
    if format_ is ImpactFormat.MARKDOWN:
        return Shown(answer, summary=more, drawing=answer.summary)
    drawing = drawn(impact_diagram(answer), DiagramFormat(format_.value))
    return Shown(answer, summary=more, drawing=drawing)


_EXTENT = "--partition, --offsets, --since, --until"
_OPTIONS = {"schema": "--change", "new_type": "--to", "new_name": "--to", "extent": _EXTENT, "offset": "--offsets"}


def _in_words_of_options(error: QuestionError) -> str:
    option = _OPTIONS.get(error.field, f"--{error.field.replace('_', '-')}")
    return str(error) if error.field == "policy" else f"{option}: {error}"


def _extent(
    partition: str | None, offsets: str | None, since: str | None, until: str | None, *, read_time: bool
) -> Extent | None:
    if partition is None and offsets is None and since is None and until is None:
        return None
    span = (time_if_given(since), time_if_given(until))
    if offsets is None:
        return Extent(partition, None, None, *span, read_time=read_time)
    found = range_option(offsets, of_partition=partition is None, hint="--offsets")
    named = partition if found.partition is None else str(found.partition)
    return Extent(named, found.start, found.end, *span)


_STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.BREAKING: "bold red",
    Severity.BLOCKING: "red",
    Severity.TAINTED: "red",
    Severity.RESTRICTED: "magenta",
    Severity.DEGRADED: "yellow",
    Severity.WARNING: "yellow",
    Severity.UNKNOWN: "yellow",
    Severity.COSMETIC: "cyan",
    Severity.INFO: "cyan",
    Severity.NONE: "green",
}
_MOST = 8
_MOST_NOTE = 600
_WIDEST = max(len(severity) for severity in Severity)


def view(impact: Impact, *, why: bool) -> RenderableType:
    """Build the view of an impact.

    Args:
        why: whether to show the path to each asset, the reason and the advice.
    """
    head = Text(headline(impact.change, impact.type, impact.start) + ": ", style="bold")
    head.append(impact.severity, _STYLES[impact.severity])
    head.append(shortened(left_open(impact), _MOST_NOTE), "not bold")
    parts: list[RenderableType] = [head, Text(f"{_capital(counted(impact))}.")]
    parts += [Text(shortened(note, _MOST_NOTE), style="dim") for note in impact.notes]
    if impact.jobs:
        parts += [Text(), _jobs(impact)]
    if impact.hit_consumers:
        parts += [Text(), *map(_consumer, impact.hit_consumers)]
    if impact.consumers:
        parts += [Text(), Text("whom to notify", style="bold"), consumers_table(impact.consumers)]
    if impact.items:
        parts += [Text(), _tree(impact, why=why)]
    return Group(*parts)


def _consumer(consumer: ImpactedConsumer) -> Text:
    return (
        _severity(consumer.severity, _WIDEST + 1)
        .append(shortened(consumer.name), "bold")
        .append(f"  {shortened(consumer.reason, _MOST_NOTE)}", "not bold")
    )


def _jobs(impact: Impact) -> Table:
    table = plain_table("job", "", "hops", "effect on the job", "owner")
    for job in impact.jobs:
        table.add_row(
            Text(shortened(job.job.name), style="bold"),
            _severity(job.severity),
            str(job.hops),
            Text(shortened(job.reason, _MOST_NOTE)),
            Text(_owners(job.owners)),
        )
    if impact.jobs_total > len(impact.jobs):
        table.add_row(Text(f"… and {impact.jobs_total - len(impact.jobs):,} more", style="dim"))
    return table


def _tree(impact: Impact, *, why: bool) -> Tree:
    tree = Tree(Text(asset_text(impact.start).plain), guide_style="dim")
    by_dataset: dict[tuple[str, str], list[ImpactItem]] = {}
    for item in impact.items:
        by_dataset.setdefault((item.asset.namespace, item.asset.name), []).append(item)
    nearest_first = sorted(by_dataset.values(), key=lambda items: min(item.hops for item in items))
    for items in nearest_first:
        first = items[0].asset
        name = Text(dataset_text(first), style="bold")
        owners = _owners(owner for item in items for owner in item.owners)
        branch = tree.add(name.append(f"  {owners}", "dim not bold") if owners else name)
        for item in items:
            leaf = branch.add(_line(item))
            if item.decision.text:
                leaf.add(Text(shortened(item.decision.text, _MOST_NOTE), style="bold"))
            if why:
                for part in item.parts:
                    leaf.add(Text(_part(part), style="dim"))
                leaf.add(Text(f"{_path_text(impact.start, item)}", style="dim"))
                leaf.add(Text(shortened(item.reason, _MOST_NOTE)))
                leaf.add(Text(shortened(item.action, _MOST_NOTE), style="italic"))
                leaf.add(Text(shortened(_inputs(item), _MOST_NOTE), style="dim"))
    return tree


def _inputs(item: ImpactItem) -> str:
    """Format the basis of a severity: the rule, and all known facts that could change it."""
    decision = item.decision
    known = "; ".join(inputs_texts(decision.inputs)) or "nothing is declared, and no publication or check is known"
    raised = "" if decision.raised_by is None else f", raise {decision.raised_by}"
    return f"decided by rule {decision.rule} ({decision.by_rule}){raised}; {known}"


def _line(item: ImpactItem) -> Text:
    text = _severity(item.severity, _WIDEST + 1)
    text.append(shortened(item.asset.column) if item.asset.column else _whole(item), "bold")
    last = item.path[-1]
    before = item.path[-2].asset if item.hops > 1 else None
    done = last.transformation
    how = "LOOKUP" if item.cause is Cause.LOOKUP else done.kind if done else ""
    by = f"{how} by {shortened(last.job.name)}"
    source = f", {shortened(_short_name(before))}" if before else ""
    maybe = ", possible" if item.possible else ""
    return text.append(f"  {item.influence} {item.hops}  {by.strip()}{source}{maybe}", "dim")


def _whole(item: ImpactItem) -> str:
    return "its rows" if item.cause is Cause.ROWS else "all of it"


def _path_text(start: Asset, item: ImpactItem) -> str:
    names = [shortened(_short_name(start))]
    for hop in item.path:
        done = f" {hop.transformation.kind}" if hop.transformation else " possible" if hop.possible else ""
        names.append(f"─{done} {shortened(hop.job.name)} ▸ {shortened(_short_name(hop.asset))}")
    return " ".join(names)


def _part(part: Part) -> str:
    """Format the known offsets, files or version of a part."""
    certainty = "" if part.certainty is Certainty.EXACT else f" ({part.certainty.value})"
    if part.offsets:
        spans = [partition_text(span.partition, span.start, span.end) for span in part.offsets]
        return f"offsets {first_of(spans, _MOST)}{certainty}"
    if part.file_count:
        return f"{amount(part.file_count, 'file')}{certainty}"
    if part.version is not None:
        return f"version {shortened(part.version)}{certainty}"
    return f"{shortened(part.text) if part.text else 'unknown part'}{certainty}"


def _short_name(asset: Asset) -> str:
    name = asset.title or asset.name
    return name if asset.column is None else f"{name}#{asset.column}"


def _severity(severity: Severity, width: int = 0) -> Text:
    return Text(severity.ljust(width), style=_STYLES[severity])


def _owners(owners: Iterable[ImpactOwner]) -> str:
    return shortened(", ".join(dict.fromkeys(owner.name for owner in owners)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
