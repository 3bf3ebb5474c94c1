"""`headwater declare`: publishes facts on datasets, jobs and consumers from reviewed files."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from headwater.console import JsonOption, console, shortened
from headwater.errors import InputError, SubjectNotFoundError, UnreachableError
from headwater.graph_reader import asking
from headwater.lean_imports import without
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.show.declared import BESIDE, contradiction_text, value_text
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.declaring.difference import ChangedDeclaration, ChangedValue, SetResult
from headwater_schemas.events import LineageEvent

with without("numpy", "pandas"):
    from headwater_analysis.declared import set_state
    from headwater_analysis.declaring.contract import contract_of
    from headwater_analysis.declaring.files import read_file
    from headwater_analysis.declaring.model import json_schema
    from headwater_analysis.declaring.names import Names, found_in
    from headwater_analysis.declaring.problems import DeclarationError, FileProblem
    from headwater_analysis.declaring.revising import (
        NextRevision,
        OlderRevisionError,
        next_revision,
        progress,
        result,
    )
    from headwater_analysis.declaring.sets import DeclaredSet
    from headwater_analysis.reader import Reader


_WAIT_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.25
STDIN: Final = "-"
_MOST_BYTES: Final = 64 << 20


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Declaration files, ODCS data contracts or dbt's manifest.json; - is the standard input."),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only look for mistakes in the files; needs no Kafka and no Neo4j.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change in the graph, and publish nothing.")] = (
        False
    ),
    withdraw: Annotated[
        list[str] | None, typer.Option("--withdraw", metavar="SET", help="Withdraw a whole set. Repeatable.")
    ] = None,
    export: Annotated[
        str | None, typer.Option("--export", metavar="SET", help="Print the whole data contract of a set.")
    ] = None,
    as_contract: Annotated[
        bool, typer.Option("--as-contract", help="Print each file as an ODCS data contract, and publish nothing.")
    ] = False,
    namespace: Annotated[
        str | None, typer.Option(help="Namespace of datasets, for contracts and manifests without one.")
    ] = None,
    catalog: Annotated[
        str | None, typer.Option(metavar="FILE", help="dbt's catalog.json, for a manifest's columns.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the files, for editors.")] = False,
    wait_seconds: Annotated[
        float,
        typer.Option("--wait", min=0.0, help="Seconds to wait until the declarations are in the graph; 0: don't wait."),
    ] = _WAIT_SECONDS,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Declare facts that no job can report: owners, consumers, privacy, lineage of jobs that aren't captured.

    A file is a declaration set with an id. Declarations that were removed from the file since its last revision are
    withdrawn. Without --check and --diff, changes are published, and the command waits until they are in the graph;
    Ctrl-C ends only the waiting. Two sets that contradict each other are both kept and reported. Exit status 2: a file
    has mistakes; 4: Kafka or Neo4j doesn't answer, or the changes aren't in the graph in time.
    """
    if schema:
        console.result(json_schema())
        return
    if export is not None:
        _export(export, tenant)
        return
    unchecked = Names(None)
    given = [(file, _text(file)) for file in files or []]
    sets = _read(given, withdraw or [], namespace, catalog, unchecked)
    if as_contract:
        _contracts(sets, list(unchecked.unchecked))
        return
    if check:
        _checked(sets, list(unchecked.unchecked))
        return
    settings = connected_settings({"analysis.tenant": tenant}, kafka=not diff, neo4j=True)
    with asking(tenant=tenant) as reader:
        if unchecked.unchecked:
            sets = _read(given, withdraw or [], namespace, catalog, found_in(reader))
        revisions = [_next(reader, declared) for declared in sets]
        for one in revisions:
            if one.declared.name in (withdraw or ()) and not one.number:
                raise SubjectNotFoundError(
                    f"There is no declaration set {one.declared.name!r} to withdraw; nothing was sent.",
                    fix="The id of a set is `set` in its file; `headwater show` of a declared dataset has it, too.",
                )
        if not diff:
            _publish(settings, reader, revisions, wait_seconds)
        results = [
            result(reader, one, published=not diff, in_graph=not one.events or bool(wait_seconds and not diff))
            for one in revisions
        ]
    console.result({"sets": [asdict(result) for result in results]}, view(results))
    for warning in warnings(results).splitlines():
        console.warning(warning)


def _export(name: str, tenant: str | None) -> None:
    with asking(tenant=tenant) as reader:
        state = set_state(reader, name)
    if not state.revision:
        raise SubjectNotFoundError(f"There is no declaration set {name!r}.")
    if state.document is None:
        raise SubjectNotFoundError(
            f"Set {name!r} was declared as {state.format}, not as a data contract: it has no document.",
            fix="`headwater declare --as-contract FILE` makes a contract of its file.",
        )
    if console.json_mode:
        console.result({"set": name, "revision": state.revision, "format": state.format, "document": state.document})
    else:
        sys.stdout.write(state.document)


def _read(
    files: list[tuple[str, str]], withdrawn: list[str], namespace: str | None, catalog: str | None, names: Names
) -> list[DeclaredSet]:
    """Parse the sets of files, given as name and text; report the mistakes of all files together."""
    columns = None if catalog is None else _text(catalog)
    if not files and not withdrawn:
        raise InputError("There is nothing to declare.", fix="Name a file, or a set with --withdraw.")
    sets: dict[str, tuple[str, DeclaredSet]] = {}
    problems: list[FileProblem] = []
    for file, text in files:
        try:
            declared = read_file(file, text, namespace=namespace, catalog=columns, names=names)
        except DeclarationError as error:
            problems += error.problems
            continue
        if declared.name in sets:
            other = sets[declared.name][0]
            problems.append(
                FileProblem(file, 1, ("set",), f"{other} has the set {declared.name!r} too; a set is one file")
            )
        sets[declared.name] = file, declared
    for name in withdrawn:
        if name in sets:
            raise InputError(f"Set {name!r} is both declared by {sets[name][0]} and withdrawn.")
        sets[name] = "--withdraw", DeclaredSet(name, {})
    if problems:
        _report(problems)
    return [declared for _, declared in sets.values()]


def _text(file: str) -> str:
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if file == STDIN else Path(file).open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except OSError as error:
        raise InputError(f"File {file} can't be read: {error.strerror}.") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{file} is longer than {_MOST_BYTES >> 20} MiB.", fix="Split it into several sets.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{file}, line {line}: not UTF-8.", fix="Save the file as UTF-8.") from None


def _report(problems: list[FileProblem]) -> None:
    if console.json_mode:
        shown = [{"file": one.file, "line": one.line, "field": one.field, "message": one.message} for one in problems]
        console.result({"problems": shown})
    elif len(problems) > 1:
        for problem in problems:
            console.warning(str(problem))
    first, count = problems[0], len(problems)
    if count == 1:
        raise InputError(str(first), fix="Correct it; nothing was sent.")
    raise InputError(f"{count:,} mistakes in the files, the first: {first}", fix="Correct them; nothing was sent.")


def _contracts(sets: list[DeclaredSet], unchecked: list[str]) -> None:
    if unchecked:
        raise InputError(
            f"A contract needs datasets with their namespaces, but {len(unchecked):,} "
            f"name{'s have' if len(unchecked) > 1 else ' has'} no namespace: {', '.join(unchecked[:5])}.",
            fix="Add `namespace` to the file, or a namespace to each name.",
        )
    contracts = [{"set": one.name, "contract": contract_of(one)} for one in sets]
    if console.json_mode:
        console.result({"contracts": contracts})
    else:
        sys.stdout.write("---\n".join(one["contract"] for one in contracts))


def _checked(sets: list[DeclaredSet], unchecked: list[str]) -> None:
    documents = [{"set": one.name, "declarations": len(one.declarations)} for one in sets]
    counts = [(one.name, len(one.declarations)) for one in sets]
    text = "\n".join(f"{name}: {amount(count, 'declaration')}, no mistakes." for name, count in counts)
    console.result({"sets": documents, "unchecked_names": unchecked}, text)
    if unchecked:
        console.warning(not_looked_up(unchecked))


def _next(reader: Reader, declared: DeclaredSet) -> NextRevision:
    try:
        return next_revision(reader, declared, now=datetime.now(UTC))
    except OlderRevisionError as error:
        raise InputError(str(error), fix="Raise `revision`, or leave it out.") from error


def _publish(settings: Settings, reader: Reader, revisions: list[NextRevision], wait_seconds: float) -> None:
    """Publish the changes, and wait until they are in the graph."""
    changed = [revision for revision in revisions if revision.events]
    total = sum(len(revision.events) for revision in changed)
    if not total:
        return
    with console.progress() as shown:
        task = shown.add_task("Publishing", total=total)

        def events() -> Iterator[LineageEvent]:
            for revision in changed:
                for event in revision.events:
                    yield event
                    shown.advance(task)

        publish(settings, events())
        if wait_seconds:
            shown.update(task, description="Waiting for the graph", completed=0, total=total)
            _wait(reader, changed, wait_seconds, lambda done: shown.update(task, completed=done))


def _wait(reader: Reader, revisions: Iterable[NextRevision], seconds: float, show: Callable[[int], None]) -> None:
    deadline = time.monotonic() + seconds
    done = 0
    for revision in revisions:
        while True:
            is_there, count = progress(reader, revision)
            show(done + count)
            if is_there:
                break
            if time.monotonic() > deadline:
                raise UnreachableError(
                    f"Set {revision.declared.name!r} is on the topic, but after {seconds:g} s the graph has "
                    f"about {count:,} of its {len(revision.events):,} events.",
                    fix="Start a consumer with `headwater consume`; nothing has to be declared again.",
                )
            time.sleep(_POLL_SECONDS)
        done += len(revision.events)


_MOST: Final = 50
_MOST_NAMED: Final = 5
_LONGEST: Final = 300
_SIGNS: Final = {"added": "+", "withdrawn": "-", "changed": "~"}


def view(results: Sequence[SetResult]) -> str:
    """Format the changes of each set, one per line."""
    return "\n".join(line for result in results for line in _lines(result))


def warnings(results: Sequence[SetResult]) -> str:
    """Format warnings, one per line: unknown datasets, cycles, contradictions; empty if there are none."""
    return "\n".join(line for result in results for line in _warnings(result))


def not_looked_up(names: Sequence[str]) -> str:
    """Format a note on names without a namespace, which weren't looked up in the graph."""
    return (
        f"{amount(len(names), 'name')} without a namespace {'were' if len(names) != 1 else 'was'} not "
        f"checked, since --check doesn't ask the graph: {first_of(list(map(shortened, names)), _MOST_NAMED)}. "
        "--diff looks them up."
    )


def _lines(result: SetResult) -> Iterator[str]:
    counts = ", ".join(
        f"{number:,} {change}" for change in _SIGNS if (number := sum(one.change == change for one in result.changes))
    )
    yield (
        f"{shortened(result.set)}: revision {result.revision}, {result.declarations:,} "
        f"declaration{'s' * (result.declarations != 1)}, {counts or 'nothing changes'}"
    )
    for one in result.changes[:_MOST]:
        yield f"  {_SIGNS.get(one.change, '~')} {shortened(one.subject_type)} {_name(one)}"
        for value in [each for each in one.values if _is_shown(each)][:_MOST]:
            column = "" if value.column is None else f"{shortened(value.column)}: "
            yield from (f"      {column}{line}" for line in _change(value))
    if len(result.changes) > _MOST:
        yield f"  … and {len(result.changes) - _MOST:,} more; --json lists all"


def _is_shown(value: ChangedValue) -> bool:
    """Return True, except for types of owners or values of tags that are all empty before and after."""
    return value.property not in BESIDE.values() or any(map(any, (value.before or (), value.after or ())))


def _change(value: ChangedValue) -> Iterator[str]:
    if value.property == "plan":
        yield "column lineage: changed"
    elif value.property == "column_lineage":
        edges = [*(f"- {edge}" for edge in value.before), *(f"+ {edge}" for edge in value.after)]
        yield from (f"column lineage {shortened(edge, _LONGEST)}" for edge in edges[:_MOST])
        if len(edges) > _MOST:
            yield f"column lineage: … and {len(edges) - _MOST:,} more edges; --json lists all"
    else:
        yield f"{shortened(value.property)}: {value_text(value.before)} → {value_text(value.after)}"


def _name(one: ChangedDeclaration) -> str:
    return shortened(one.name) if one.namespace is None else f"{shortened(one.namespace)} {shortened(one.name)}"


def _warnings(result: SetResult) -> Iterator[str]:
    name = shortened(result.set)
    unknown = result.unknown_datasets
    if unknown:
        yield (
            f"{name} names {amount(len(unknown), 'dataset')} that no event has named: "
            f"{first_of(list(map(shortened, unknown)), _MOST_NAMED)}. Check their namespaces and names."
        )
    for cycle in result.cycles:
        yield f"{name} declares datasets that are made from each other: {' → '.join(map(shortened, cycle))}."
    for one in result.contradictions[:_MOST]:
        about = f"{shortened(one.subject_type)} {shortened(one.name)}"
        yield f"Sets contradict each other about {about}, {contradiction_text(one)}"
