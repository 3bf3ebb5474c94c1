"""Lineage for people: a tree along the hops, or a table."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from headwater.console import shortened
from headwater.show.fitting import Fitted
from headwater.show.names import asset_text, moment_text, transformation_text, via_text
from headwater_consumers.analysis.assets import AssetKind
from headwater_consumers.analysis.lineage import Influence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater_consumers.analysis.assets import Asset
    from headwater_consumers.analysis.lineage import ColumnMapping, Lineage, LineageEdge, LineageItem, Via

Place = tuple[str, Influence | None]

_MOST_TRANSFORMATIONS = 3
_MOST_MAPPINGS = 20


def tree(answer: Lineage) -> Fitted:
    """The page along its hops, siblings by name; dim is what is only passed through."""
    root = Tree(asset_text(answer.start).append(_itself(answer, answer.start.key), "dim"), guide_style="dim")
    if answer.direct is None:
        _Branches(answer).grow(root, (answer.start.key, None), 0)
        return Fitted(root)
    for influence in Influence:
        branches = _Branches(answer, influence)
        if branches.any:
            branches.grow(root.add(Text(influence.value, style="italic")), (answer.start.key, None), 0)
    return Fitted(root)


def table(answer: Lineage) -> Fitted:
    """The page, a row for each item and job."""
    out = Table(box=None, pad_edge=False)
    headings = ["hops", "asset", "by", "first seen", "last seen"]
    if answer.direct is not None:
        headings[1:1] = ["influence"]
        headings[4:4] = ["what it does"]
    for heading in headings:
        out.add_column(heading, overflow="fold", justify="right" if heading == "hops" else "left")
    for item in answer.items:
        for via in item.via or (None,):
            cells: list[str | Text] = [str(item.hops), _label(item)]
            cells.append("every column of it" if via is None else shortened(via.job.name))
            times = ("", "") if via is None else (moment_text(via.first_seen), moment_text(via.last_seen))
            cells += times
            if item.influence is not None:
                cells.insert(1, item.influence.value)
                cells.insert(4, "" if via is None else _done(via))
            out.add_row(*cells)
    for loop, asset in _loops(answer):
        for via in loop.via:
            cells = ["↺", asset_text(asset), shortened(via.job.name)]
            cells += [moment_text(via.first_seen), moment_text(via.last_seen)]
            if answer.direct is not None:
                cells.insert(1, "")
                cells.insert(4, _done(via))
            out.add_row(*cells)
    return Fitted(out)


def _loops(answer: Lineage) -> Iterator[tuple[LineageEdge, Asset]]:
    """Hops from an asset to itself, and which asset that is."""
    assets = {asset.key: asset for asset in (answer.start, *(item.asset for item in answer.items))}
    for loop in answer.loops:
        yield loop, assets[loop.source]


def summary(answer: Lineage) -> str:
    """How much there is, what is left out, and how to get it."""
    way = answer.direction.value.lower()
    words = [f"{answer.total:,} {way}"]
    if answer.direct is not None:
        words.append(f"{answer.direct:,} DIRECT and {answer.indirect:,} INDIRECT")
    if answer.total:
        words.append(f"the farthest {_hops(answer.max_hops)} away")
    if len(answer.items) < answer.total:
        words.append(f"{len(answer.items):,} of them here")
    lines = [", ".join(words) + "."]
    if answer.truncated:
        lines.append(f"There is more beyond {_hops(answer.depth or 0)}: --depth all.")
    reasons = {
        (via.job.name, via.incomplete)
        for item in (*answer.items, *answer.through)
        for via in item.via
        if via.incomplete is not None
    }
    for job, reason in sorted(reasons):
        lines.append(f"Column lineage of {shortened(job)} is incomplete ({shortened(reason)}): there may be more.")
    if answer.next_cursor is not None:
        lines.append(f"Next page: --cursor {answer.next_cursor}")
    return escape("\n".join(lines))


def _hops(number: int) -> str:
    return f"{number:,} hop" + ("" if number == 1 else "s")


class _Branches:
    """Items by their parents; of one influence, with what lies between them and the start.

    Args:
        answer: the page.
        influence: of columns, which of them to show.
    """

    def __init__(self, answer: Lineage, influence: Influence | None = None) -> None:
        self._answer = answer
        self._items = {_place(item): item for item in (*answer.through, *answer.items)}
        shown = [item for item in answer.items if item.influence is influence]
        self._listed = {_place(item) for item in shown}
        self.any = bool(shown)
        self._children: dict[Place, list[LineageItem]] = defaultdict(list)
        kept: set[Place] = set()
        for item in shown:
            place: Place | None = _place(item)
            while place in self._items and place not in kept:
                kept.add(place)
                self._children[_parent(self._items[place])].append(self._items[place])
                place = _parent(self._items[place])

    def grow(self, branch: Tree, place: Place, hops: int) -> None:
        """Add what hangs on a place, with a stack of its own: lineage may be deeper than Python's."""
        waiting = [(branch, place, hops)]
        while waiting:
            branch, place, hops = waiting.pop()
            children = sorted(self._children.get(place, ()), key=lambda item: item.asset.spelling)
            # Columns of a dataset that is meant as a whole, from which nothing more comes: one line for all.
            members = [item for item in children if item.hops == hops and _place(item) not in self._children]
            if members:
                branch.add(
                    Text("every column: " + shortened(", ".join(str(item.asset.column) for item in members), 1_000))
                )
            waiting += [(self._add(branch, item), _place(item), item.hops) for item in children if item not in members]

    def _add(self, branch: Tree, item: LineageItem) -> Tree:
        label = _label(item)
        if _place(item) not in self._listed:
            label.stylize("dim")
        label.append(_by(item) + _itself(self._answer, item.asset.key), style="dim")
        grown = branch.add(label)
        for via in item.via:
            for each in via.transformations[:_MOST_TRANSFORMATIONS]:
                label.append(f"\n{transformation_text(each)}", style="cyan")
            if len(via.transformations) > _MOST_TRANSFORMATIONS:
                label.append(f"\nand {len(via.transformations) - _MOST_TRANSFORMATIONS:,} more", style="cyan")
        label.append(_mappings(item.columns, item.columns_total or 0), style="cyan")
        return grown


def _label(item: LineageItem) -> Text:
    text = asset_text(item.asset)
    if item.influence is not None and item.asset.kind is AssetKind.DATASET:
        text.append(" (its rows)", style="dim")
    if item.gone:
        text.append(" (gone)", style="red")
    return text


def _by(item: LineageItem) -> str:
    if not item.via:
        return ""
    more = f" and {item.via_total - 1:,} more" if item.via_total > 1 else ""
    return f"  by {via_text(item.via[0])}{more}"


def _itself(answer: Lineage, key: str) -> str:
    """That it is made of itself, too, and by whom."""
    for loop in answer.loops:
        if loop.source == key:
            more = f" and {loop.via_total - 1:,} more" if loop.via_total > 1 else ""
            return f"  ↺ of itself by {via_text(loop.via[0])}{more}"
    return ""


def _done(via: Via) -> str:
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


def _place(item: LineageItem) -> Place:
    return item.asset.key, item.influence


def _parent(item: LineageItem) -> Place:
    return item.parent, item.parent_influence
