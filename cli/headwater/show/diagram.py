"""Lineage as text that other programs draw: Mermaid and Graphviz. Arrows point the way that data flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console import shortened
from headwater_consumers.analysis.lineage import Influence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater_consumers.analysis.lineage import Lineage, LineageEdge

_MOST_LABEL = 80
_MOST_JOBS = 3


def mermaid(answer: Lineage) -> str:
    """A flowchart from left to right; dotted what is only INDIRECT, dashed what is only passed through."""
    numbers = _numbers(answer)
    lines = ["flowchart LR"]
    lines += [f'  n{numbers[key]}["{_entities(label)}"]' for key, label in _labels(answer)]
    for edge in answer.edges:
        arrow = "-.->" if _indirect(edge) else "-->"
        words = _entities(_jobs(edge))
        said = f'|"{words}"|' if words else ""
        lines.append(f"  n{numbers[edge.source]} {arrow}{said} n{numbers[edge.target]}")
    lines.append(f"  style n{numbers[answer.start.key]} stroke-width:3px")
    lines += [f"  style n{numbers[key]} stroke-dasharray:4 4" for key in _passed_through(answer)]
    return "\n".join(lines) + "\n"


def dot(answer: Lineage) -> str:
    """A digraph from left to right; dotted what is only INDIRECT, dashed what is only passed through."""
    numbers, passed = _numbers(answer), set(_passed_through(answer))
    lines = ["digraph lineage {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for key, label in _labels(answer):
        style = ", penwidth=3" if key == answer.start.key else ", style=dashed" if key in passed else ""
        lines.append(f"  n{numbers[key]} [label={_quoted(label)}{style}];")
    for edge in answer.edges:
        style = ", style=dotted" if _indirect(edge) else ""
        ends = f"n{numbers[edge.source]} -> n{numbers[edge.target]}"
        lines.append(f"  {ends} [label={_quoted(_jobs(edge))}{style}];")
    return "\n".join([*lines, "}", ""])


def _numbers(answer: Lineage) -> dict[str, int]:
    """Nodes in the order of the page, each once: a column may have two places in it."""
    keys = [answer.start.key, *(item.asset.key for item in (*answer.items, *answer.through))]
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def _labels(answer: Lineage) -> Iterator[tuple[str, str]]:
    assets = [answer.start, *(item.asset for item in (*answer.items, *answer.through))]
    for asset in {asset.key: asset for asset in assets}.values():
        column = "" if asset.column is None else f"#{shortened(asset.column, _MOST_LABEL)}"
        yield asset.key, shortened(asset.title or asset.name, _MOST_LABEL) + column


def _passed_through(answer: Lineage) -> list[str]:
    listed = {answer.start.key, *(item.asset.key for item in answer.items)}
    return list(dict.fromkeys(item.asset.key for item in answer.through if item.asset.key not in listed))


def _jobs(edge: LineageEdge) -> str:
    names = [shortened(via.job.name, _MOST_LABEL) for via in edge.via[:_MOST_JOBS]]
    more = edge.via_total - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _indirect(edge: LineageEdge) -> bool:
    kinds = {each.type for via in edge.via for each in via.transformations}
    return bool(kinds) and Influence.DIRECT.value not in kinds


def _entities(text: str) -> str:
    """Mermaid's own escapes, of all but letters, digits and what can mean nothing to it."""
    return "".join(char if char.isalnum() or char in " .,_-/:" else f"#{ord(char)};" for char in text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
