"""A lineage explanation as a table: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import html
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater_producers.spark.explain import LineageExplanation

HEAD: Final = ("output", "input", "field", "type", "kind", "expression")
MAX_HTML_ROWS: Final = 500
"""A notebook keeps what it shows, and a browser lays all of it out; text has all rows."""

# The page's own colours, so that it is read in a light and in a dark theme; a notebook would set text to the right.
_TABLE: Final = "color:inherit;font-size:inherit"
_CELL: Final = "text-align:left;vertical-align:top;white-space:pre-wrap;padding:2px 8px"
_EXPRESSION: Final = f"{_CELL};overflow-wrap:anywhere;min-width:20em"


def text_table(explanation: LineageExplanation) -> str:
    """Aligned text, one line for each source; `*` stands for all outputs."""
    rows = [HEAD, *(tuple(_one_line(cell) for cell in row.cells) for row in _rows(explanation))]
    # The last column may be as wide as it likes.
    widths = [max(_width(row[column]) for row in rows) for column in range(len(HEAD) - 1)]
    rows.insert(1, (*("-" * width for width in widths), "-" * len(HEAD[-1])))
    lines = [_aligned(row, widths) for row in rows]
    if not explanation.complete:
        lines.append(_one_line(f"Incomplete: {explanation.incomplete_reason}"))
    return "\n".join(lines)


def html_table(explanation: LineageExplanation) -> str:
    """The same as HTML: an output named once, the namespace of an input when pointed at."""
    head = "".join(f'<th style="{_CELL}">{cell}</th>' for cell in HEAD)
    rows = list(_rows(explanation))
    body = "".join(_html_row(row) for row in rows[:MAX_HTML_ROWS])
    notes = []
    if len(rows) > MAX_HTML_ROWS:
        notes.append(f"{len(rows) - MAX_HTML_ROWS:,} more rows: to_table() has all of them.")
    if not explanation.complete:
        notes.append(f"Incomplete: {explanation.incomplete_reason}")
    told = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{told}'


@dataclass(frozen=True, slots=True)
class _Row:
    """One source of an output.

    Attributes:
        cells: as in `HEAD`.
        namespace: of the input.
        first: whether it is the output's first.
    """

    cells: tuple[str, ...]
    namespace: str | None = None
    first: bool = True


def _rows(explanation: LineageExplanation) -> Iterator[_Row]:
    outputs = [(output.path, output.sources) for output in explanation.outputs]
    for path, sources in [*outputs, *([("*", explanation.influences)] if explanation.influences else [])]:
        if not sources:
            yield _Row((path, *("",) * (len(HEAD) - 1)))
        for number, source in enumerate(sources):
            kind = f"{source.kind} (masked)" if source.masking else source.kind
            where = (source.name or "", source.path or "")
            yield _Row((path, *where, source.type, kind, source.expression or ""), source.namespace, first=not number)


def _html_row(row: _Row) -> str:
    output, name, *between, expression = (html.escape(cell) for cell in row.cells)
    where = f' title="{html.escape(row.namespace)}"' if row.namespace else ""
    cells = [
        f'<td style="{_CELL}">{output if row.first else ""}</td>',
        f'<td style="{_CELL}"{where}>{name}</td>',
        *(f'<td style="{_CELL}">{cell}</td>' for cell in between),
        f'<td style="{_EXPRESSION}">{f"<code>{expression}</code>" if expression else ""}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _one_line(cell: str) -> str:
    # A line break or a terminal's escape in a name would be obeyed.
    return visible(cell)


def _width(cell: str) -> int:
    """How many places a terminal gives it: two to each wide character, none to what stands above another."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
    return "  ".join([*padded, row[-1]]).rstrip()
