"""`headwater upstream` and `headwater downstream`, which differ only in direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from headwater.console import plain_table, shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import DatasetArgument, hops, parse_hops
from headwater.show import quality
from headwater.show.diagram import DiagramFormat, drawn, lineage_diagram
from headwater.show.names import asset_text, moment_text, transformation_text, via_text
from headwater.show.pages import FittedView, next_page
from headwater.times import time_if_given
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.lineage import (
    ColumnMapping,
    Filters,
    Influence,
    Lineage,
    LineageDirection,
    LineageEdge,
    LineageItem,
    LineageQuestion,
    Transformation,
    Via,
    lineage,
)

if TYPE_CHECKING:
    from headwater.remote.server import Server


class LineageFormat(StrEnum):
    """Output format for people."""

    TREE = "tree"
    TABLE = "table"
    MERMAID = "mermaid"
    DOT = "dot"


def _command(direction: LineageDirection, about: str) -> Callable[..., None]:
    """Make the function from which Typer builds the command."""

    def command(
        ask: Ask,
        dataset: DatasetArgument,
        *,
        column: Annotated[
            str | None, typer.Option("--column", "-c", help="Start from this column of the dataset: a field path.")
        ] = None,
        depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "1",
        columns: Annotated[bool, typer.Option("--columns", help="List the column edges of each hop.")] = False,
        influence: Annotated[
            Influence | None, typer.Option(case_sensitive=False, help="Only DIRECT or INDIRECT influence of a column.")
        ] = None,
        namespace: Annotated[
            list[str] | None, typer.Option(help="Only datasets in this namespace. Repeatable.")
        ] = None,
        type_: Annotated[
            list[str] | None, typer.Option("--type", help="Only datasets of this type, e.g. TOPIC. Repeatable.")
        ] = None,
        tag: Annotated[
            list[str] | None, typer.Option(help="Only items with this tag: key, or key=value. Repeatable.")
        ] = None,
        job: Annotated[list[str] | None, typer.Option(help="Only hops made by this job. Repeatable.")] = None,
        as_of: Annotated[
            str | None,
            typer.Option(
                metavar="TIME", help="The graph as it was then: 1h (ago), yesterday 14:00, 2025-01-31T12:00:00Z."
            ),
        ] = None,
        since: Annotated[str | None, typer.Option(metavar="TIME", help="Only hops seen at this time or later.")] = None,
        format_: Annotated[
            LineageFormat,
            typer.Option("--format", "-f", case_sensitive=False, help="Output for people, or the source of a diagram."),
        ] = LineageFormat.TREE,
    ) -> Shown:
        question = LineageQuestion(
            dataset,
            direction,
            column,
            parse_hops(depth),
            influence,
            columns,
            filters=Filters(tuple(namespace or ()), tuple(type_ or ()), tuple(tag or ()), tuple(job or ())),
            as_of=time_if_given(as_of),
            since=time_if_given(since),
            quality=True,
            **ask.page,
        )
        answer = ask(lambda reader: lineage(reader, question), lambda server: _at_server(server, question))
        if format_ in (LineageFormat.MERMAID, LineageFormat.DOT):
            drawing = drawn(lineage_diagram(answer), DiagramFormat(format_.value))
            return Shown(answer, summary=summary(answer), drawing=drawing)
        view = table(answer) if format_ is LineageFormat.TABLE else tree(answer)
        return Shown(answer, view, summary(answer))

    command.__doc__ = f"{about}\n\n{_ABOUT_FILTERS}"
    return graph_command(page=100)(command)


def _at_server(server: Server, question: LineageQuestion) -> Lineage:
    asset, column = question.asset, question.column
    if column is None and question.influence is not None:
        # Only columns have an influence; `#` separates the column from its dataset.
        asset, _, column = asset.partition("#")
    filters = question.filters
    given = {
        "depth": hops(question.depth),
        "influence": question.influence,
        "columns": question.columns or None,
        "namespace": filters.namespaces,
        "type": filters.types,
        "tag": filters.tags,
        "job": filters.jobs,
        "as_of": question.as_of,
        "since": question.since,
        "quality": question.quality,
        "limit": question.limit,
        "cursor": question.cursor,
    }
    of = ("columns", asset, column) if column else ("assets", asset)
    return server.get((*of, question.direction.value.lower()), Lineage, given)


_ABOUT_FILTERS = (
    "--namespace, --type and --tag filter the listed items. Lineage is followed through the other items, too."
)
upstream = _command(LineageDirection.UPSTREAM, "List what a dataset or column is derived from, and by which jobs.")
downstream = _command(LineageDirection.DOWNSTREAM, "List what is derived from a dataset or column, and by which jobs.")


_NodeKey = tuple[str, Influence | None]
"""Identity of a node in the tree: key of the asset, and its influence; None if the question is about a dataset."""

_MOST_TRANSFORMATIONS = 3
_MOST_MAPPINGS = 20
_MOST_NOTE = 600
_MOST_CONSUMERS = 20


def tree(answer: Lineage) -> FittedView:
    """Tree of the page along its hops, siblings by name; assets that aren't on the page are dim.

    If columns have DIRECT influence, the tree shows these, and counts the INDIRECT ones in one line. If no column has
    DIRECT influence, the tree shows the INDIRECT ones.
    """
    start = asset_text(answer.start).append(" (gone)" if answer.gone else "", "red")
    root = Tree(start.append(_loop_text(answer, answer.start.key), "dim"), guide_style="dim")
    if answer.direct is None:
        _Branches(answer).grow(root)
        return FittedView(root)
    direct = _Branches(answer, Influence.DIRECT)
    if direct.any:
        direct.grow(root.add(Text(Influence.DIRECT.value, style="italic")))
        if folded := sum(item.influence is Influence.INDIRECT for item in answer.items):
            line = f"{folded:,} more on this page only decide about rows or values: --influence indirect lists them"
            root.add(Text.assemble((Influence.INDIRECT.value, "italic"), (f"  {line}", "dim")))
    else:
        indirect = _Branches(answer, Influence.INDIRECT)
        if indirect.any:
            indirect.grow(root.add(Text(Influence.INDIRECT.value, style="italic")))
    return FittedView(root)


def table(answer: Lineage) -> FittedView:
    """Table of the page with a row for each item and job."""
    headings = ["hops", "asset", "by", "first seen", "last seen"]
    if answer.direct is not None:
        headings[1:1] = ["influence"]
        headings[4:4] = ["what it does"]
    out = plain_table(*headings, numbers=("hops",))
    for item in answer.items:
        for via in item.via or (None,):
            cells: list[str | Text] = [str(item.hops), _label(item)]
            cells.append("(column of a dataset reached as a whole)" if via is None else _made_by(via))
            times = ("", "") if via is None else (moment_text(via.first_seen), moment_text(via.last_seen))
            cells += times
            if item.influence is not None:
                cells.insert(1, item.influence.value)
                cells.insert(4, "" if via is None else _transformations_text(via))
            out.add_row(*cells)
    for loop, asset in _loops(answer):
        for via in loop.via:
            cells = ["↺", asset_text(asset), _made_by(via)]
            cells += [moment_text(via.first_seen), moment_text(via.last_seen)]
            if answer.direct is not None:
                cells.insert(1, "")
                cells.insert(4, _transformations_text(via))
            out.add_row(*cells)
    return FittedView(out)


def _made_by(via: Via) -> str:
    return shortened(via.job.name) + (" (possible)" if via.possible else "")


def _loops(answer: Lineage) -> Iterator[tuple[LineageEdge, Asset]]:
    """Yield hops from an asset to itself, each with the asset."""
    assets = {asset.key: asset for asset in (answer.start, *(item.asset for item in answer.items))}
    for loop in answer.loops:
        yield loop, assets[loop.source]


def summary(answer: Lineage) -> str:
    """Format the number of items, and the options that show further items."""
    direction = answer.direction.value.lower()
    if answer.unknown_until is not None and answer.as_of is not None:
        name, first = shortened(answer.start.spelling), moment_text(answer.unknown_until)
        return f"{name} wasn't known at {moment_text(answer.as_of)}: it was first seen at {first}."
    open_ = "UNKNOWN: " if not answer.total and not answer.complete else ""
    words = [f"{open_}{answer.total:,} {direction}{'' if answer.complete else ' known'}"]
    if answer.direct is not None:
        words.append(f"{answer.direct:,} DIRECT and {answer.indirect:,} INDIRECT")
    if answer.total:
        words.append(f"the farthest {amount(answer.max_hops, 'hop')} away")
    if len(answer.items) < answer.total:
        words.append(f"{len(answer.items):,} on this page")
    counted = ", ".join(words) + "."
    notes = _notes(answer)
    # If the count may be too low, the notes follow on the same line.
    lines = [counted] if answer.complete else [" ".join([counted, *notes])]
    if answer.known_as:
        lines.append(f"Known as {', '.join(map(shortened, answer.known_as))}, too.")
    if answer.truncated:
        lines.append(f"There is more beyond {amount(answer.depth or 0, 'hop')}: --depth all.")
    if answer.complete:
        lines += notes
    return "\n".join([*lines, *_further_lines(answer)])


def _further_lines(answer: Lineage) -> Iterator[str]:
    if answer.quality:
        yield quality.lines(answer.quality)
    if answer.consumers:
        yield _consumers(answer.consumers)
    if answer.next_cursor is not None:
        yield next_page(answer.next_cursor)


def _consumers(consumers: Sequence[ReadingConsumer]) -> str:
    """Format consumers with type and criticality: `delay-board (DASHBOARD, tier-1)`."""
    named = []
    for each in consumers:
        about = ", ".join(shortened(word) for word in (each.type, each.criticality) if word)
        named.append(shortened(each.name) + (f" ({about})" if about else ""))
    return f"Declared consumers of the listed assets and the start: {first_of(named, _MOST_CONSUMERS)}."


def _notes(answer: Lineage) -> list[str]:
    """List the answer's notes, and the reasons for incomplete column lineage of jobs along its hops."""
    reasons = {
        (via.job.name, via.incomplete)
        for item in (*answer.items, *answer.through)
        for via in item.via
        if via.incomplete is not None
    }
    lines = [shortened(note, _MOST_NOTE) for note in answer.notes]
    for job, reason in sorted(reasons):
        if not any(note.startswith(f"Column lineage of {job} is incomplete") for note in answer.notes):
            lines.append(f"Column lineage of {shortened(job)} is incomplete ({shortened(reason)}): there may be more.")
    return lines


@dataclass(frozen=True, slots=True)
class _Hop:
    """A hop to a drawn node, with the jobs of the hop."""

    node: _NodeKey
    via: tuple[Via, ...]
    via_total: int


class _Branches:
    """Every hop between the items of a page and the start.

    Each node is drawn completely below its first predecessor on a shortest path. Other hops to the node show only its
    name and the hop's jobs.

    Args:
        influence: influence of the items to show; None if the question is about a dataset.
    """

    def __init__(self, answer: Lineage, influence: Influence | None = None) -> None:
        self._answer = answer
        self._influence = influence
        self._start: _NodeKey = (answer.start.key, None)
        self._items = {_node_key(item): item for item in (*answer.through, *answer.items)}
        shown = [item for item in answer.items if item.influence is influence]
        self._listed = {_node_key(item) for item in shown}
        self.any = bool(shown)
        self._hops: dict[_NodeKey, dict[_NodeKey, _Hop]] = defaultdict(dict)
        self._nodes: set[_NodeKey] = set()
        for item in shown:
            node: _NodeKey | None = _node_key(item)
            while node in self._items and node not in self._nodes:
                self._nodes.add(node)
                found = self._items[node]
                self._hops[_parent(found)][node] = _Hop(node, found.via, found.via_total)
                node = _parent(found)
        for edge in answer.edges:
            self._add_edge(edge)

    def _add_edge(self, edge: LineageEdge) -> None:
        """Add a hop between each pair of nodes of the edge's two assets: an asset has a node for each influence."""
        downstream = self._answer.direction is LineageDirection.DOWNSTREAM
        near, far = (edge.source, edge.target) if downstream else (edge.target, edge.source)
        if near == far:
            return
        node = self._start if far == self._start[0] else (far, self._influence)
        if node != self._start and node not in self._nodes:
            return
        for from_ in ((near, None), (near, Influence.DIRECT), (near, Influence.INDIRECT)):
            if from_ != self._start and from_ not in self._nodes:
                continue
            via = _by_influence(edge.via, from_[1], self._influence)
            if node not in self._hops[from_] and (via or not edge.via):
                self._hops[from_][node] = _Hop(node, via, edge.via_total)

    def grow(self, root: Tree) -> None:
        """Add everything below the start, with an explicit stack: lineage may exceed Python's recursion limit."""
        drawn = {self._start}
        waiting = self._leaving(root, self._start, drawn)
        while waiting:
            branch, hop, near = waiting.pop()
            whole = hop.node not in drawn and self._depth(hop.node) == self._depth(near) + bool(hop.via)
            grown = self._add(branch, hop, "" if whole else "above" if hop.node in drawn else "below")
            if whole:
                drawn.add(hop.node)
                waiting += self._leaving(grown, hop.node, drawn)

    def _leaving(self, branch: Tree, node: _NodeKey, drawn: set[_NodeKey]) -> list[tuple[Tree, _Hop, _NodeKey]]:
        """Hops from a node, the last one first; columns without successors share one line."""
        hops = sorted(self._hops.get(node, {}).values(), key=lambda hop: (self._spelling(hop.node), hop.node))
        # Hops without a job lead from a dataset, which was reached as a whole, to its columns.
        members = [hop.node for hop in hops if not hop.via and not self._hops.get(hop.node)]
        drawn.update(members)
        if members:
            names = ", ".join(str(self._items[member].asset.column) for member in members)
            branch.add(Text(f"every column: {shortened(names, 1_000)}"))
        return [(branch, hop, node) for hop in reversed(hops) if hop.node not in members]

    def _depth(self, node: _NodeKey) -> int:
        return 0 if node == self._start else self._items[node].hops

    def _spelling(self, node: _NodeKey) -> str:
        return self._answer.start.spelling if node == self._start else self._items[node].asset.spelling

    def _add(self, branch: Tree, hop: _Hop, where: str) -> Tree:
        """Add a node; if `where` is "above" or "below", only a reference to the node's complete drawing there."""
        if hop.node == self._start:
            label, item = asset_text(self._answer.start), None
        else:
            item = self._items[hop.node]
            label = _label(item)
        if where or hop.node not in self._listed:
            label.stylize("dim")
        if item is not None and item.influence is not self._influence:
            # The item isn't one to show: it is only on the path to an INDIRECT item.
            return branch.add(label.append("  DIRECT", style="dim"))
        loop = "" if where else _loop_text(self._answer, hop.node[0])
        label.append(f"{_by(hop)}{loop}{f'  see {where}' if where else ''}", style="dim")
        grown = branch.add(label)
        done: set[tuple[str, Transformation]] = set()
        for via in hop.via:
            # Several plans of a job may have the same hop.
            own = [each for each in via.transformations if (via.job.key, each) not in done]
            done.update((via.job.key, each) for each in own)
            for each in own[:_MOST_TRANSFORMATIONS]:
                label.append(f"\n{transformation_text(each)}", style="cyan")
            if len(own) > _MOST_TRANSFORMATIONS:
                label.append(f"\nand {len(own) - _MOST_TRANSFORMATIONS:,} more", style="cyan")
        if item is not None and not where:
            label.append(_mappings(item.columns, item.columns_total or 0), style="cyan")
        return grown


def _by_influence(vias: Iterable[Via], near: Influence | None, far: Influence | None) -> tuple[Via, ...]:
    """Filter the jobs of a hop by the influences of its near and its far node; empty if it doesn't connect these nodes.

    The near node is closer to the start.
    """
    if far is None:
        return tuple(vias)
    if near is Influence.INDIRECT:
        return tuple(vias) if far is Influence.INDIRECT else ()
    found = []
    for via in vias:
        matching = tuple(
            each for each in via.transformations if (each.type == Influence.DIRECT.value) == (far is Influence.DIRECT)
        )
        found += [replace(via, transformations=matching)] if matching else []
    return tuple(found)


def _label(item: LineageItem) -> Text:
    text = asset_text(item.asset)
    if item.influence is not None and item.asset.kind is AssetKind.DATASET:
        text.append(" (its rows)", style="dim")
    if item.gone:
        text.append(" (gone)", style="red")
    return text


def _by(hop: _Hop) -> str:
    if not hop.via:
        return ""
    return f"  by {first_of([via_text(hop.via[0])], 1, total=hop.via_total)}"


def _loop_text(answer: Lineage, key: str) -> str:
    """Describe a hop from an asset to itself, with its jobs; empty if there is no such hop."""
    for loop in answer.loops:
        if loop.source == key:
            return f"  ↺ derived from itself by {first_of([via_text(loop.via[0])], 1, total=loop.via_total)}"
    return ""


def _transformations_text(via: Via) -> str:
    shown = [transformation_text(each) for each in via.transformations[:_MOST_TRANSFORMATIONS]]
    more = len(via.transformations) - len(shown)
    return "\n".join([*shown, *([f"and {more:,} more"] if more else [])])


def _mappings(mappings: Sequence[ColumnMapping], total: int) -> str:
    lines = [
        f"\n{shortened(each.source or '(rows)')} → {shortened(each.target or '(every column)')}"
        f"  {transformation_text(each.transformation)}"
        for each in mappings[:_MOST_MAPPINGS]
    ]
    if total > len(lines):
        lines.append(f"\nand {total - len(lines):,} more")
    return "".join(lines)


def _node_key(item: LineageItem) -> _NodeKey:
    return item.asset.key, item.influence


def _parent(item: LineageItem) -> _NodeKey:
    return item.parent, item.parent_influence
