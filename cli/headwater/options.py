"""Common options of commands that ask the graph, and their shell completion."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.console import shortened

if TYPE_CHECKING:
    from headwater_analysis.search import Hit

_SECONDS = 2.0
_MOST = 30
_LAST_WORD = re.compile(r"[^\W_]*$")


def words_typed(environment: Mapping[str, str]) -> list[str] | None:
    """Parse the words before the cursor during shell completion, without the program's name; None if not completing.

    Typer's script for bash sets COMP_WORDS and the number of the current word. Scripts for other shells set the line.
    """
    if not environment.get("_HEADWATER_COMPLETE", "").startswith("complete"):
        return None
    if "COMP_WORDS" in environment:
        words = environment["COMP_WORDS"].split()
        number = environment.get("COMP_CWORD", "")
        return words[1 : int(number)] if number.isdecimal() else words[1:]
    line = environment.get("_TYPER_COMPLETE_ARGS", "")
    words = line.split()
    return words[1:] if line.endswith(" ") else words[1:-1]


def complete_dataset(incomplete: str) -> list[str]:
    """Names of datasets that begin with this text; if there are none, namespace and name of such datasets."""
    with contextlib.suppress(Exception):
        from headwater_schemas.visible import visible

        # If the last word has one letter, the search may have too many hits. So a second search leaves this word out.
        for text in dict.fromkeys((incomplete, _LAST_WORD.sub("", incomplete))):
            hits = _datasets(text)
            for names in ({hit.asset.name for hit in hits}, {hit.asset.spelling for hit in hits}):
                # A name with control characters can't be typed.
                if matching := sorted(name for name in names if name.startswith(incomplete) and visible(name) == name):
                    return matching
    return []


def _datasets(text: str) -> Sequence[Hit]:
    from headwater.graph_reader import answer_of
    from headwater_analysis.assets import AssetKind
    from headwater_analysis.search import SearchPage, search

    kind = AssetKind.DATASET
    found = answer_of(
        lambda reader: search(reader, text, kinds=(kind,), limit=_MOST),
        lambda server: server.get(("search",), SearchPage, {"q": text, "kind": kind, "limit": _MOST}),
        timeout_seconds=_SECONDS,
        silently=True,
    )
    return found.answer.items


TenantOption = Annotated[
    str | None, typer.Option("--tenant", help="Tenant of the lineage. Default: HEADWATER_ANALYSIS_TENANT.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", min=0.001, help="Time limit in seconds. Default: HEADWATER_ANALYSIS_TIMEOUT_SECONDS."),
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Maximum number of items on a page.")]
StepsOption = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Maximum number of steps.")]
CursorOption = Annotated[str | None, typer.Option("--cursor", help="Next page: `next_cursor` of the page before.")]
DatasetArgument = Annotated[
    str,
    typer.Argument(
        help="Name of the dataset if it is unique, or namespace/name, or key.", autocompletion=complete_dataset
    ),
]


def hops(depth: int | None) -> int | str:
    """Convert a maximum number of hops to the parameter `depth` of a request; None: all hops."""
    return "all" if depth is None else depth


def parse_hops(text: str) -> int | None:
    """Parse a maximum number of hops: a number from 1 on, or `all`, for which None is returned.

    Raises:
        typer.BadParameter: the text is neither.
    """
    if text.lower() == "all":
        return None
    if text.isdecimal() and int(text):
        return int(text)
    raise typer.BadParameter(f"{shortened(text)!r} isn't a number of hops from 1 on, nor all.", param_hint="--depth")
