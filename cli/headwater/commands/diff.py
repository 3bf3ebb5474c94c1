"""`headwater diff`: changes in lineage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.console import shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.show.names import asset_text, moment_text, short_version, transformation_text
from headwater.show.pages import next_page
from headwater.show.schemas import retyped_text
from headwater.times import time_if_given
from headwater_analysis.amounts import amount
from headwater_analysis.assets import Asset
from headwater_analysis.diff import ColumnChange, Diff, EdgeChange, Point, Side, diff
from headwater_analysis.lineage import Transformation
from headwater_analysis.reader import Reader
from headwater_analysis.runs import Role
from headwater_analysis.schemas import DiffChange
from headwater_schemas.naming import spelling

if TYPE_CHECKING:
    from headwater.remote.server import Server


@graph_command(page=100)
def command(
    ask: Ask,
    job: Annotated[str | None, typer.Argument(help="Job to compare. Default: all jobs that changed.")] = None,
    *,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="A time to compare from: 1d (ago), yesterday 14:00, 2025-01-31.")
    ] = None,
    after: Annotated[str | None, typer.Option(metavar="TIME", help="A time to compare with. Default: now.")] = None,
    before_run: Annotated[str | None, typer.Option(help="A run to compare from: its id.")] = None,
    after_run: Annotated[str | None, typer.Option(help="A run to compare with.")] = None,
    before_code: Annotated[str | None, typer.Option(help="A code version of JOB to compare from.")] = None,
    after_code: Annotated[str | None, typer.Option(help="A code version to compare with.")] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Compare the lineage of this dataset, by all jobs that write it.")
    ] = None,
) -> Shown:
    """Show what changed in lineage between two times, two runs, or two code versions of a job.

    Lists columns with other sources or transformations, datasets read or written, and columns of schemas.
    """
    if before is None and before_run is None and before_code is None:
        raise typer.BadParameter("no start of the comparison: give --before, --before-run or --before-code")
    times = [time_if_given(text) for text in (before, after)]

    def sides() -> tuple[Point, Point]:
        return Point(times[0], before_run, before_code), Point(times[1], after_run, after_code)

    def question(reader: Reader) -> Diff:
        return diff(reader, *sides(), job=job, dataset=dataset, **ask.page)

    def at_server(server: Server) -> Diff:
        begin, end = sides()
        given = {
            "before": begin.time,
            "before_run": begin.run,
            "before_version": begin.code_version,
            "after": end.time,
            "after_run": end.run,
            "after_version": end.code_version,
            "job": job,
            "dataset": dataset,
            **ask.page,
        }
        return server.get(("diff",), Diff, given)

    answer = ask(question, at_server)
    return Shown(answer, view(answer), summary(answer))


_ROLES = {Role.READ: "as read", Role.WROTE: "as written"}
_SIGNS = {DiffChange.ADDED: ("+ ", "green"), DiffChange.REMOVED: ("- ", "red"), DiffChange.CHANGED: ("~ ", "yellow")}


def view(answer: Diff) -> RenderableType:
    """Tree of the changed datasets, the changed schemas, and the changed column lineage by target."""
    root = Tree(f"{_side(answer.before)} → {_side(answer.after)}", guide_style="dim")
    if answer.datasets:
        branch = root.add("datasets")
        for one in answer.datasets:
            verb = "reads" if one.role.value == "READ" else "writes"
            branch.add(_line(one.change, Text(f"{shortened(one.job.name)} {verb} "), asset_text(one.dataset)))
    if answer.columns:
        branch = root.add("schemas")
        for (dataset, change, when), names in _by_dataset(answer.columns).items():
            branch.add(_line(change, Text(f"{dataset}: {', '.join(names)}"), Text(f" ({when})", "dim")))
    if answer.edges:
        branch = root.add("column lineage")
        targets: dict[tuple[str, str], Tree] = {}
        for edge in answer.edges:
            target = (edge.target.key, edge.job.key)
            if target not in targets:
                targets[target] = branch.add(_target(edge))
            _add_edge(targets[target], edge)
    return root


def summary(answer: Diff) -> str:
    """Format the number of differences, and the option for the next page."""
    parts = (
        (answer.datasets_total, "dataset"),
        (answer.columns_total, "schema column"),
        (answer.edges_total, "lineage edge"),
    )
    changes = [amount(count, word) for count, word in parts if count]
    lines = [f"{', '.join(changes)} changed." if changes else "Nothing changed."]
    if answer.truncated:
        lines.append("There is more lineage than one question compares: name a job or a dataset.")
    if answer.unknown_schemas:
        names = ", ".join(shortened(each.spelling) for each in answer.unknown_schemas)
        lines.append(f"Columns may differ, because only the digest of a schema is known: {names}.")
    if answer.before.incomplete or answer.after.incomplete:
        lines.append("Some column lineage is incomplete: an edge that is missing here may exist.")
    if answer.next_cursor is not None:
        lines.append(next_page(answer.next_cursor))
    return "\n".join(lines)


def _side(side: Side) -> str:
    if side.run_id is not None:
        return f"run {shortened(side.run_id)}"
    if side.code_version is not None:
        return f"code {short_version(side.code_version)}"
    return "now" if side.time is None else moment_text(side.time)


def _by_dataset(columns: Iterable[ColumnChange]) -> dict[tuple[str, DiffChange, str], list[str]]:
    """Group changed columns for people: (dataset, kind of change, time of the change and roles) ⇒ names of columns."""
    out: dict[tuple[str, DiffChange, str], list[str]] = {}
    for one in columns:
        dataset = spelling(one.column.namespace, one.column.name)
        name = shortened(one.column.column or "")
        if one.before is not None and one.after is not None:
            name += f" {retyped_text(one.before, one.after)}"
        when = ", ".join((moment_text(one.time), *(_ROLES[role] for role in one.roles)))
        out.setdefault((shortened(dataset), one.change, when), []).append(name)
    return out


def _target(edge: EdgeChange) -> Text:
    return asset_text(edge.target).append(f"{_every(edge.target)} by {shortened(edge.job.name)}", "dim")


def _every(target: Asset) -> str:
    return ", every column," if target.column is None else ""


def _add_edge(tree: Tree, edge: EdgeChange) -> None:
    source = Text("no input") if edge.source is None else asset_text(edge.source)
    if edge.change is not DiffChange.CHANGED:
        transformations = edge.after or edge.before
        tree.add(_line(edge.change, source, Text(f": {_transformations_text(transformations)}")))
        return
    branch = tree.add(_line(edge.change, source))
    for one in _only_in_first(edge.before, edge.after):
        branch.add(_line(DiffChange.REMOVED, Text(transformation_text(one))))
    for one in _only_in_first(edge.after, edge.before):
        branch.add(_line(DiffChange.ADDED, Text(transformation_text(one))))


def _only_in_first(first: tuple[Transformation, ...], second: tuple[Transformation, ...]) -> list[Transformation]:
    return [one for one in first if one not in second]


def _transformations_text(transformations: tuple[Transformation, ...]) -> str:
    return "; ".join(transformation_text(one) for one in transformations)


def _line(change: DiffChange, *parts: Text) -> Text:
    sign, style = _SIGNS[change]
    return Text.assemble(Text(sign, style), *parts)
