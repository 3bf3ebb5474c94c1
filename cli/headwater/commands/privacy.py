"""`headwater privacy`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.console import shortened
from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.graph_reader import in_words
from headwater.options import complete_dataset, hops, parse_hops
from headwater.show.declared import consumers_table
from headwater.show.names import dataset_text
from headwater.show.pages import next_page
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.privacy import (
    DEFAULT_THRESHOLD,
    Exposure,
    Privacy,
    PrivacyPage,
    PrivacyQuestion,
    privacy,
)
from headwater_analysis.privacy.exposed_data import PrivacyItem
from headwater_analysis.reader import Reader
from headwater_schemas.events import Sensitivity

if TYPE_CHECKING:
    from headwater.remote.server import Server


@graph_command(page=100)
def command(
    ask: Ask,
    asset: Annotated[
        str | None, typer.Argument(help="A dataset, or a column of it: dataset#path.", autocompletion=complete_dataset)
    ] = None,
    *,
    column: Annotated[str | None, typer.Option("--column", "-c", help="A column of the dataset: a field path.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Start from every column that is declared sensitive.")] = False,
    as_: Annotated[
        Sensitivity | None, typer.Option("--as", case_sensitive=False, help="Assume this sensitivity.")
    ] = None,
    readable: Annotated[bool, typer.Option("--readable", help="Only columns whose values can be read.")] = False,
    lower: Annotated[
        bool, typer.Option("--lower", help="Only columns that are classified lower than their sources, or not at all.")
    ] = False,
    threshold: Annotated[
        int, typer.Option(min=1, help="Minimum number of rows in a group, so that its statistics hide each row.")
    ] = DEFAULT_THRESHOLD,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "all",
    why: Annotated[bool, typer.Option("--why", help="Show the path to each column.")] = False,
) -> Shown:
    """Show where sensitive columns went, where they can be read, and which columns are classified too low.

    headwater privacy flights.departed --column value.tailnum

    headwater privacy --all --lower
    """
    if every == (asset is not None):
        raise InputError(
            "Name a dataset or a column, or ask with --all for every column that is declared sensitive.",
            fix="headwater privacy DATASET --column PATH, or headwater privacy --all.",
        )
    question = PrivacyQuestion(asset, column, as_, threshold, readable, lower)

    page = PrivacyPage(parse_hops(depth), ask.limit, ask.cursor)

    def at_database(reader: Reader) -> Privacy:
        with in_words(_in_words_of_options):
            return privacy(reader, question, datetime.now(UTC).date(), page)

    def at_server(server: Server) -> Privacy:
        with in_words(_in_words_of_options):
            given = {
                "dataset": asset,
                "column": column,
                "as": as_,
                "readable": readable,
                "lower": lower,
                "threshold": threshold,
                "depth": hops(page.depth),
                "limit": page.limit,
                "cursor": page.cursor,
            }
            return server.get(("privacy",), Privacy, given)

    answer = ask(at_database, at_server)
    return Shown(answer, view(answer, why=why), next_page(answer.next_cursor))


def _in_words_of_options(error: QuestionError) -> str:
    return f"--{error.field}: {error}"


_STYLES = {
    Exposure.READABLE: "red",
    Exposure.LINKABLE: "yellow",
    Exposure.MASKED: "cyan",
    Exposure.ENCRYPTED: "cyan",
}
_WIDEST = max(map(len, (*Exposure, "INDIRECT", "ENDED"))) + 2
_MOST_SOURCES = 10
_MOST_LINES = 20
_MOST_JOBS = 3


def view(found: Privacy, *, why: bool) -> RenderableType:
    """Build the view of the answer."""
    parts: list[RenderableType] = [_sources(found), Text(_counted(found))]
    parts += [Text(shortened(note), style="dim") for note in found.notes]
    if found.unknown:
        parts += [
            Text(),
            Text(
                "Not known: these jobs read sensitive columns, and their column lineage is missing or incomplete.",
                "bold",
            ),
            *_lines(
                (
                    f"{_called(each.read)} ─ {shortened(each.job.name)} ▸ {_called(each.written)}"
                    for each in found.unknown
                ),
                found.unknown_total,
            ),
        ]
    if found.items:
        parts += [Text(), _tree(found, why=why)]
    if found.consumers:
        parts += [Text(), Text("Read by, unmasked", "bold"), consumers_table(found.consumers)]
    if found.protected_consumers:
        parts += [Text(), Text("Read by, only masked or hashed", "bold"), consumers_table(found.protected_consumers)]
    if found.exits:
        parts += [
            Text(),
            Text("Leaves what is captured, unmasked", "bold"),
            *_lines((_exit(each.dataset, each.jobs, each.columns) for each in found.exits), found.exits_total),
        ]
    if found.drops:
        parts += [
            Text(),
            Text("Left out by", "bold"),
            *_lines(
                (
                    f"DROP  {_called(each.read)} ─ {shortened(each.job.name)} ▸ {_called(each.written)}"
                    for each in found.drops
                ),
                found.drops_total,
            ),
        ]
    return Group(*parts)


def _sources(found: Privacy) -> Text:
    named = [f"{_called(each.asset)} ({each.sensitivity.value})" for each in found.sources]
    listed = first_of(named, _MOST_SOURCES, total=found.sources_total)
    return Text(listed or "No column is declared CONFIDENTIAL, PII or RESTRICTED", style="bold")


def _counted(found: Privacy) -> str:
    held = found.readable + found.protected
    columns = "1 column or dataset has" if held == 1 else f"{held:,} columns and datasets have"
    farthest = f", up to {amount(found.max_hops, 'hop')} away" if held else ""
    text = f"{columns} sensitive values{farthest}: {found.readable:,} readable, {found.protected:,} masked or hashed."
    if found.unknown:
        jobs = list(dict.fromkeys(shortened(each.job.name) for each in found.unknown))
        verb = "makes" if len(jobs) == 1 else "make"
        open_ = f"what {first_of(jobs, _MOST_JOBS)} {verb} of them: column lineage is missing or incomplete."
        text = f"{text} UNKNOWN is {open_}" if held else f"UNKNOWN: {open_} {text}"
    if ending := list(dict.fromkeys(shortened(job.name) for each in found.exits for job in each.jobs)):
        verb = "reads" if len(ending) == 1 else "read"
        read = f"{first_of(ending, _MOST_JOBS)} {verb} sensitive values"
        open_ = f"UNKNOWN: {read}, but no output derived from them is known."
        text = f"{text} {open_}" if held or found.unknown else f"{open_} {text}"
    if found.indirect:
        text += f" {found.indirect:,} depend on sensitive values without having any."
    if found.ended:
        text += f" Sensitivity ends at {found.ended:,}."
    if found.lower:
        text += f" {found.lower:,} are classified lower than their sources, or not at all."
    if found.truncated:
        text += " There is more beyond that depth."
    return text


def _tree(found: Privacy, *, why: bool) -> Tree:
    tree = Tree(Text("by dataset", style="dim"), guide_style="dim", hide_root=True)
    by_dataset: dict[tuple[str, str], list[PrivacyItem]] = {}
    for item in found.items:
        by_dataset.setdefault((item.asset.namespace, item.asset.name), []).append(item)
    for items in sorted(by_dataset.values(), key=lambda items: min(item.hops for item in items)):
        first = items[0].asset
        branch = tree.add(Text(dataset_text(first), style="bold"))
        for item in items:
            leaf = branch.add(_line(item))
            if why:
                leaf.add(Text(_path_text(item), style="dim"))
                if item.approval is not None:
                    leaf.add(Text(_approval(item)))
    return tree


def _line(item: PrivacyItem) -> Text:
    if item.ending is not None:
        text = Text("ENDED".ljust(_WIDEST), style="green")
    elif item.influence is Influence.INDIRECT:
        text = Text("INDIRECT".ljust(_WIDEST), style="dim")
    else:
        text = Text(item.exposure.value.ljust(_WIDEST), style=_STYLES[item.exposure])
    text.append(shortened(item.asset.column) if item.asset.column else "its rows", "bold")
    last = item.path[-1]
    how = last.transformation.kind.value if item.influence is Influence.INDIRECT else last.operation.value
    text.append(f"  {item.sensitivity.value}, {how} by {shortened(last.job.name)}", "dim")
    marks = [
        word for word, holds in (("possible", item.possible), ("former", item.former), ("gone", item.gone)) if holds
    ]
    if item.ending is not None:
        marks.append(_why_ended(item))
    if item.lower:
        marks.append(f"declared {item.declared.value}" if item.declared else _undeclared(item))
    return text.append("".join(f", {mark}" for mark in marks), "yellow" if item.lower else "dim")


def _undeclared(item: PrivacyItem) -> str:
    return "declared only with a classification" if item.classified else "not declared"


def _why_ended(item: PrivacyItem) -> str:
    if item.approval is not None and item.approval.holds and item.ending == "APPROVAL":
        return f"approved as {item.approval.sensitivity.value} by {shortened(item.approval.by)}"
    return f"groups of {item.smallest_group:,} rows or more"


def _approval(item: PrivacyItem) -> str:
    given = item.approval
    if given is None:
        return ""
    until = f" until {shortened(given.until)}" if given.until else ""
    state = "" if given.holds else ", which doesn't apply here"
    return (
        f"approved as {given.sensitivity.value}, of sources up to {given.covers.value}, "
        f"by {shortened(given.by)}{until}{state}: {shortened(given.reason)}"
    )


def _path_text(item: PrivacyItem) -> str:
    words = [_called(item.source)]
    for hop in item.path:
        done = hop.transformation
        text = f" {shortened(done.expression)}" if done.expression else ""
        words.append(f"─ {hop.operation.value} {shortened(hop.job.name)}{text} ▸ {_called(hop.asset)}")
    return " ".join(words)


def _exit(dataset: Asset, jobs: tuple[Asset, ...], columns: int) -> str:
    by = ", ".join(shortened(job.name) for job in jobs)
    return f"{dataset_text(dataset)}  {amount(columns, 'column')}  " + (
        f"read by {by}, with no known output of it" if by else "nobody is known to read it"
    )


def _lines(texts: Iterable[str], total: int) -> list[Text]:
    shown = [Text(f"  {text}") for text in list(texts)[:_MOST_LINES]]
    if total > len(shown):
        shown.append(Text(f"  … and {total - len(shown):,} more", style="dim"))
    return shown


def _called(asset: Asset) -> str:
    name = shortened(asset.title or asset.name)
    return name if asset.column is None else f"{name}#{shortened(asset.column)}"
