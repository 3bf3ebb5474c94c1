"""`headwater consume`: the materializer, from the events topic into the graph."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from headwater.connection import client_config
from headwater.console import JsonOption, console
from headwater.errors import ConfigurationError, InputError
from headwater.lean_imports import without
from headwater.settings import load_settings, running_stack
from headwater.stopping import stopped_by_signals
from headwater_consumers.materializer.errors import DeadLetterLimitError, FatalError

with without("numpy", "pandas"):
    from headwater_consumers.materializer.app import Target, assemble
    from headwater_consumers.materializer.neo4j_graph import Neo4jTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater_consumers.materializer.totals import Totals


def command(
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Stop once what is on the topic now is committed.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Where /metrics, /livez and /readyz are served; 0 takes a free port.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="The consumer group.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Write what the events topic holds into the graph, and go on until stopped.

    Start it more than once and the processes share the topic's partitions. Ctrl-C or SIGTERM finishes the batch being
    written, commits its offsets and exits 0. While Kafka or Neo4j is away it waits and says so once a minute.
    """
    settings = load_settings({"materializer.http_port": port, "materializer.group": group}, running=running_stack())
    neo4j = settings.neo4j
    target = Target(
        client_config(settings.kafka),
        Neo4jTarget(neo4j.uri, neo4j.user, neo4j.password.get_secret_value(), neo4j.database),
        settings.topic.names(),
        settings.topic.specs(),
        settings.registry,
    )
    with _progress() as watch:
        try:
            materializer = assemble(
                target, settings.materializer, until_caught_up=until_caught_up, say=console.warning, watch=watch
            )
        except OSError as error:
            where = f"{settings.materializer.http_host}:{settings.materializer.http_port}"
            raise InputError(
                f"Metrics and health can't be served on {where}: {error.strerror}.",
                fix="Choose another HEADWATER_MATERIALIZER_HTTP_PORT or --port; 0 takes a free one.",
            ) from error
        except FatalError as error:
            raise _fatal(error) from error
        console.message(f"Metrics and health on http://{settings.materializer.http_host}:{materializer.port}")
        with stopped_by_signals(materializer.stop):
            try:
                totals = materializer.run()
            except FatalError as error:
                raise _fatal(error) from error
    console.result(totals.document(), _table(totals))


def _fatal(error: FatalError) -> ConfigurationError:
    if isinstance(error, DeadLetterLimitError):
        fix = f"Look at the dead letters' reasons; {error.setting} sets the limit."
    else:
        fix = f"Check {error.setting}." if error.setting else ""
    return ConfigurationError(str(error), fix=fix)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Totals], None]]:
    """A line that is kept up to date, on a terminal."""
    if console.json_mode or not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.err.status("Starting") as status:

        def watch(totals: Totals) -> None:
            behind = "" if totals.behind is None else f", {totals.behind:,} behind"
            status.update(f"{totals.applied:,} applied, {totals.dead_lettered.total():,} dead-lettered{behind}")

        yield watch


def _table(totals: Totals) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    rows: dict[str, Any] = {
        "consumed": totals.consumed,
        "applied": totals.applied,
        "dead-lettered": totals.dead_lettered.total(),
        **{f"  {reason.value}": count for reason, count in sorted(totals.dead_lettered.items())},
        "transactions": totals.transactions,
    }
    for name, count in rows.items():
        table.add_row(name, f"{count:,}")
    table.add_row("seconds", f"{totals.seconds:,.1f}")
    return table
