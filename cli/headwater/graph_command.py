"""Decorator of commands that ask the graph: their common options, and printing the answer.

    @graph_command(page=20)
    def command(ask: Ask, name: …, *, column: … = None) -> Shown:
        answer = ask(
            lambda reader: question(reader, name, column, **ask.page),
            lambda server: remote.question(server, name, column, **ask.page),
        )
        return Shown(answer, view(answer), summary(answer))

Typer gets the function without `ask`, with the options `--limit`, `--cursor`, `--tenant`, `--timeout` and `--json`
added.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import TypeAdapter
from rich.console import RenderableType

from headwater.console import JsonOption, console, shortened
from headwater.graph_reader import Answered, answer_of
from headwater.lean_imports import without
from headwater.options import CursorOption, LimitOption, StepsOption, TenantOption, TimeoutOption

with without("numpy", "pandas"):
    from headwater.show.names import moment_text
    from headwater_analysis.freshness import NOT_REPORTED, GraphState
    from headwater_analysis.incidents.answers import IncidentMark, IncidentMarks
    from headwater_analysis.reader import Reader

if TYPE_CHECKING:
    from headwater.remote.server import Server

T = TypeVar("T")
Command: TypeAlias = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Ask:
    """Callable that asks the graph for a command, with the common options.

    Attributes:
        tenant: tenant of the lineage; None: as configured.
        timeout_seconds: time limit of the answer; None: as configured.
        limit: maximum number of items on a page, or of steps; 0 for commands without a limit.
        cursor: cursor of the page; None: the first page.
    """

    tenant: str | None
    timeout_seconds: float | None
    limit: int = 0
    cursor: str | None = None
    answered: list[Answered[Any]] = field(default_factory=list)

    @property
    def page(self) -> dict[str, Any]:
        """Arguments `limit` and `cursor` of a question with pages."""
        return {"limit": self.limit, "cursor": self.cursor}

    def __call__(self, question: Callable[[Reader], T], remote: Callable[[Server], T]) -> T:
        """Ask `question` to the graph, or `remote` to a server; return the answer.

        Raises:
            HeadwaterError: see `answer_of`.
        """
        found = answer_of(question, remote, tenant=self.tenant, timeout_seconds=self.timeout_seconds)
        self.answered.append(found)
        return found.answer


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as a command prints it.

    Attributes:
        answer: a dataclass, the document of `--json`.
        view: answer for people, on stdout.
        summary: text below the view, on stderr: totals, caveats, option for the next page; may be empty.
        warnings: warnings on stderr, before the summary.
        drawing: text for another program, on stdout instead of the view.
    """

    answer: Any
    view: RenderableType | None = None
    summary: str = ""
    warnings: tuple[str, ...] = ()
    drawing: str | None = None


def show(shown: Shown, graph: GraphState, *, filtered: bool = False, incidents: IncidentMarks | None = None) -> None:
    """Print an answer. `--json` always contains the graph's lag; for people, a stale graph gets a warning."""
    if shown.drawing is not None and not console.json_mode:
        console.raw(shown.drawing)
    else:
        console.result(document(shown.answer, graph, filtered=filtered, incidents=incidents), shown.view)
    for warning in shown.warnings:
        console.warning(warning)
    if incidents is not None:
        console.warning(marked(incidents))
    if shown.summary:
        console.message(dated(shown.summary, graph, filtered=filtered))
        return
    if graph.stale is not None:
        console.warning(f"The graph is stale: {graph.stale}.")
    if filtered:
        console.warning(f"The answer is filtered: {FILTERED}.")


_MOST_MARKED = 5


def marked(incidents: IncidentMarks) -> str:
    """Format the datasets of an answer that hold bad data, each with its incident, time and certainty."""
    items = incidents.items[:_MOST_MARKED]
    listed = "; ".join(f"{shortened(one.dataset)} ({', '.join(_about(one))})" for one in items)
    more = f"; and {incidents.total - len(items):,} more" if incidents.total > len(items) else ""
    return f"Open incidents reached datasets of this answer: {listed}{more}."


def _about(mark: IncidentMark) -> Iterator[str]:
    yield shortened(mark.incident)
    if mark.severity is not None:
        yield str(mark.severity)
    if mark.as_of is None:
        yield "in the scope of the incident, whose reach isn't recorded"
        return
    if mark.since is not None:
        yield f"since {moment_text(mark.since)}"
    yield f"{mark.certainty} as of {moment_text(mark.as_of)}"


FILTERED = "what you may not see is left out"


def dated(summary: str, graph: GraphState, *, filtered: bool = False) -> str:
    """Add to a summary why data may be missing: a stale graph, or assets that the asker may not see."""
    why = [] if graph.stale is None else [f"the graph is stale: {graph.stale}"]
    why += [f"filtered: {FILTERED}"] if filtered else []
    return f"{'; '.join([summary.removesuffix('.'), *why])}." if why else summary


def graph_command(*, page: int | None = None, steps: int | None = None) -> Callable[[Callable[..., Shown]], Command]:
    """Decorator that turns a function which asks the graph and returns a `Shown` into a command.

    Args:
        page: default number of items on a page, with `--limit` and `--cursor`; None: no pages.
        steps: default number of steps, with `--limit` but no `--cursor`; None: the answer has no steps.
    """
    shared: dict[str, tuple[Any, Any]] = {}
    if page is not None:
        shared |= {"limit": (LimitOption, page), "cursor": (CursorOption, None)}
    if steps is not None:
        shared["limit"] = (StepsOption, steps)
    shared |= {"tenant": (TenantOption, None), "timeout": (TimeoutOption, None), "json_output": (JsonOption, False)}

    def decorate(function: Callable[..., Shown]) -> Command:
        def command(**given: Any) -> None:
            common = {name: given.pop(name) for name in shared}
            limits = {name: common[name] for name in ("limit", "cursor") if name in common}
            ask = Ask(common["tenant"], common["timeout"], **limits)
            shown = function(ask, **given)
            last = ask.answered[-1] if ask.answered else Answered(shown.answer, NOT_REPORTED)
            show(shown, last.graph, filtered=last.filtered, incidents=last.incidents)

        signature = inspect.signature(function, eval_str=True)
        _, *own = signature.parameters.values()
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
            for name, (option, default) in shared.items()
        ]
        # Attributes of a function that Typer reads.
        command.__signature__ = signature.replace(parameters=[*own, *added], return_annotation=None)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
        command.__doc__, command.__name__ = function.__doc__, function.__name__
        return command

    return decorate


def document(answer: Any, graph: GraphState, *, filtered: bool = False, incidents: IncidentMarks | None = None) -> Any:
    """Convert an answer (a dataclass) to the document of `--json`, which equals the HTTP API's."""
    found = _plain(answer)
    if filtered:
        found = {**found, "filtered": True}
    if incidents is not None:
        found = {**found, "incidents": _plain(incidents)}
    return found if graph == NOT_REPORTED else {**found, "graph": _plain(graph)}


def _plain(value: Any) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(type(value))
    return adapter.dump_python(value, mode="json")
