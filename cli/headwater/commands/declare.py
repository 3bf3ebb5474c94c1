"""`headwater declare`: what people know of datasets, jobs and consumers, from reviewed files to the graph."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from headwater.asking import asking
from headwater.console import JsonOption, console
from headwater.errors import InputError, NotFoundError, UnreachableError
from headwater.lean_imports import without
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.show import declare as show

with without("numpy", "pandas"):
    from headwater_consumers.analysis.declared import (
        Declaration,
        SetState,
        contradictions,
        declarations,
        holding,
        merged,
        set_state,
        there,
        unknown_datasets,
    )
    from headwater_consumers.analysis.reader import Reader
    from headwater_consumers.declaring.difference import (
        ChangedDeclaration,
        SetResult,
        cycles,
        difference,
        made,
        named_datasets,
    )
    from headwater_consumers.declaring.files import read_file
    from headwater_consumers.declaring.model import json_schema
    from headwater_consumers.declaring.problems import DeclarationError, Problem
    from headwater_consumers.declaring.sets import DeclaredSet
from headwater_schemas.events import LineageEvent

_WAIT_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.25
STDIN: Final = "-"


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Declaration files, ODCS data contracts or dbt's manifest.json; - is the standard input.",
            show_default=False,
        ),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only look for mistakes in the files; needs no Kafka and no Neo4j.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change in the graph, and publish nothing.")] = (
        False
    ),
    withdraw: Annotated[
        list[str] | None,
        typer.Option("--withdraw", metavar="SET", help="Withdraw all of a set. Repeatable.", show_default=False),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option("--export", metavar="SET", help="Print the data contract of a set, whole.", show_default=False),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Of datasets of contracts and manifests that don't name theirs.", show_default=False),
    ] = None,
    catalog: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="dbt's catalog.json, for a manifest's columns.", show_default=False),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the files, for editors.")] = False,
    wait_seconds: Annotated[
        float, typer.Option("--wait", min=0.0, help="Seconds to wait until it is in the graph; 0: don't wait.")
    ] = _WAIT_SECONDS,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Declare what no job can report: owners, consumers, privacy, lineage of what isn't captured.

    A file is a declaration set with an id. What left the file since its last revision is withdrawn. Without --check and
    --diff, what changed is published, and the command waits until it is in the graph; Ctrl-C ends the waiting, not what
    was published. Two sets that contradict each other are both kept and reported. Exit status: 2: a file has mistakes;
    4: Kafka or Neo4j doesn't answer, or the graph doesn't get it in time.
    """
    if schema:
        console.result(json_schema())
        return
    if export is not None:
        _export(export, tenant)
        return
    sets = _read(files or [], withdraw or [], namespace, catalog)
    if check:
        _checked(sets)
        return
    settings = connected_settings({"analysis.tenant": tenant}, kafka=not diff, neo4j=True)
    with asking(tenant=tenant) as reader:
        changes = [_change(reader, declared) for declared in sets]
        if not diff:
            _publish(settings, reader, changes, wait_seconds)
        results = [_result(reader, change, published=not diff) for change in changes]
    console.result({"sets": [asdict(result) for result in results]}, show.view(results))
    for warning in show.warnings(results).splitlines():
        console.warning(warning)


@dataclass(slots=True)
class _Change:
    """A set, and what it changes.

    Attributes:
        declared: the set.
        before: what is in the graph of it.
        revision: its number.
        after: its declarations as they will be in the graph.
        differences: of declarations.
        events: that are published; none: nothing changes.
        unknown: datasets that it names and that weren't in the graph before.
    """

    declared: DeclaredSet
    before: SetState
    revision: int
    after: list[Declaration]
    differences: list[ChangedDeclaration]
    events: list[LineageEvent]
    unknown: list[str]


def _export(name: str, tenant: str | None) -> None:
    with asking(tenant=tenant) as reader:
        state = set_state(reader, name)
    if not state.revision:
        raise NotFoundError(f"There is no declaration set {name!r}.")
    if state.document is None:
        raise NotFoundError(f"Set {name!r} was declared as {state.format}, not as a data contract: it has no document.")
    if console.json_mode:
        console.result({"set": name, "revision": state.revision, "format": state.format, "document": state.document})
    else:
        sys.stdout.write(state.document)


def _read(files: list[str], withdrawn: list[str], namespace: str | None, catalog: str | None) -> list[DeclaredSet]:
    """The sets of files; all mistakes of all files at once."""
    columns = None if catalog is None else _text(catalog)
    if not files and not withdrawn:
        raise InputError("There is nothing to declare.", fix="Name a file, or a set with --withdraw.")
    sets: dict[str, tuple[str, DeclaredSet]] = {}
    problems: list[Problem] = []
    for file in files:
        try:
            declared = read_file(file, _text(file), namespace=namespace, catalog=columns)
        except DeclarationError as error:
            problems += error.problems
            continue
        if declared.name in sets:
            other = sets[declared.name][0]
            problems.append(Problem(file, 1, ("set",), f"{other} has the set {declared.name!r} too; a set is one file"))
        sets[declared.name] = file, declared
    for name in withdrawn:
        if name in sets:
            raise InputError(f"Set {name!r} is declared by {sets[name][0]} and withdrawn at once.")
        sets[name] = "--withdraw", DeclaredSet(name, {})
    if problems:
        _report(problems)
    return [declared for _, declared in sets.values()]


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except OSError as error:
        raise InputError(f"File {file} can't be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{file}, line {line}: not UTF-8.", fix="Save the file as UTF-8.") from None


def _report(problems: list[Problem]) -> None:
    if console.json_mode:
        shown = [{"file": one.file, "line": one.line, "field": one.field, "message": one.message} for one in problems]
        console.result({"problems": shown})
    else:
        for problem in problems:
            console.warning(str(problem))
    first, count = problems[0], len(problems)
    raise InputError(
        f"{count:,} mistake{'s' * (count > 1)} in the files, the first: {first}.", fix="Correct them; nothing was sent."
    )


def _checked(sets: list[DeclaredSet]) -> None:
    documents = [{"set": one.name, "declarations": len(one.declarations)} for one in sets]
    text = "\n".join(f"{one.name}: {len(one.declarations):,} declarations, no mistakes." for one in sets)
    console.result({"sets": documents}, text)


def _change(reader: Reader, declared: DeclaredSet) -> _Change:
    keys = declared.keys(reader.tenant)
    state = set_state(reader, declared.name)
    revision = declared.revision or state.revision + 1
    is_same = state.items == keys.keys() and (state.format, state.source, state.document) == (
        declared.format if state.revision else None,
        declared.source,
        declared.document,
    )
    if declared.revision is not None and declared.revision <= state.revision and not is_same:
        raise InputError(
            f"Set {declared.name!r} is at revision {state.revision} in the graph, and this file is revision "
            f"{declared.revision} with other content.",
            fix="Raise `revision`, or leave it out.",
        )
    before = declarations(reader, state.items - state.missing)
    after = made(declared, tenant=reader.tenant)
    differences = difference(after, before)
    unknown = unknown_datasets(reader, named_datasets(declared.declarations.values()))
    nothing = is_same or (not state.revision and not declared.declarations)
    events: list[LineageEvent] = []
    if not nothing or state.missing:
        known = there(reader, keys)
        events = list(declared.events(revision, tenant=reader.tenant, event_time=datetime.now(UTC), there=known))
    return _Change(
        declared,
        state,
        revision if events else state.revision,
        after,
        differences,
        events,
        [f"{one.namespace} {one.name}" for one in unknown],
    )


def _publish(settings: Settings, reader: Reader, changes: list[_Change], wait_seconds: float) -> None:
    changed = [change for change in changes if change.events]
    total = sum(len(change.events) for change in changed)
    if not total:
        return
    with console.progress() as progress:
        task = progress.add_task("Publishing", total=total)

        def events() -> Iterator[LineageEvent]:
            for change in changed:
                for event in change.events:
                    yield event
                    progress.advance(task)

        publish(settings, events())
        if wait_seconds:
            progress.update(task, description="Waiting for the graph", completed=0, total=total)
            _wait(reader, changed, wait_seconds, lambda done: progress.update(task, completed=done))


def _wait(reader: Reader, changes: Iterable[_Change], seconds: float, show: Any) -> None:
    ends = time.monotonic() + seconds
    done = 0
    for change in changes:
        keys = list(change.declared.keys(reader.tenant))
        while True:
            state = set_state(reader, change.declared.name, keys)
            if state.revision > change.revision or (state.items == set(keys) and not state.missing):
                break
            show(done + min(len(change.events) - 1, state.there))
            if time.monotonic() > ends:
                raise UnreachableError(
                    f"Set {change.declared.name!r} is on the topic, but after {seconds:g} s the graph has "
                    f"{state.there:,} of its {len(keys):,} declarations, of revision {state.revision}.",
                    fix="Start a consumer with `headwater consume`; nothing has to be declared again.",
                )
            time.sleep(_POLL_SECONDS)
        done += len(change.events)
        show(done)


def _result(reader: Reader, change: _Change, *, published: bool) -> SetResult:
    own = change.after
    others = [one for one in holding(reader, {one.subject for one in own}) if one.set != change.declared.name]
    return SetResult(
        change.declared.name,
        change.revision,
        len(change.declared.declarations),
        len(change.events) if published else 0,
        change.differences,
        change.unknown,
        contradictions(merged([*own, *others]).values()),
        cycles(change.declared.declarations.values()),
    )
