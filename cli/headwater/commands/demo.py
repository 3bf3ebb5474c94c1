"""`headwater demo`."""

from __future__ import annotations

from typing import Annotated

import typer
from confluent_kafka import KafkaException
from neo4j.exceptions import DriverError, Neo4jError

from headwater.console import JsonOption, console
from headwater.demo import summary
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import MONTH_DAYS, YEAR_DAYS
from headwater.demo.scenario import run
from headwater.demo.view import View
from headwater.errors import CheckFailedError, InputError, UnreachableError
from headwater.stack.jars import fetch_jars
from headwater_schemas.errors import LineageError


def command(
    full: Annotated[bool, typer.Option("--full", help="All of 2013: 336,776 flights instead of January's.")] = False,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=YEAR_DAYS, help="Number of days from 1 January instead of 31.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave Kafka and Neo4j running; `headwater down` stops both.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Run a real pipeline and follow its lineage: Spark on real flights, Kafka, Neo4j. Then check the result.

    The demo has its own Kafka, Neo4j and folder, and always begins with empty ones. Exit status 5: a check failed.
    """
    if full and days is not None:
        raise InputError("--full and --days contradict each other.", fix="Give one of them.")
    folder = DemoFolder.default()
    try:
        # Downloads come first: a download shows a progress bar, and a terminal can show only one live display.
        fetch_jars("kafka", "neo4j", "spark")
        with View() as view:
            outcome = run(folder, view, days=YEAR_DAYS if full else days or MONTH_DAYS, keep=keep)
    except KafkaException as error:
        raise UnreachableError(f"The demo's Kafka: {error.args[0].str()}.", fix=f"See {folder.root}/kafka.") from error
    except (Neo4jError, DriverError) as error:
        raise UnreachableError(f"The demo's Neo4j: {error}.", fix=f"See {folder.root}/neo4j.") from error
    except (LineageError, TimeoutError) as error:
        raise UnreachableError(f"The demo's Kafka or Neo4j: {error}.", fix=f"See {folder.root}.") from error
    console.result(summary.document(outcome), summary.view(outcome, kept=keep))
    if outcome.failed:
        names = "; ".join(check.claim for check in outcome.failed)
        raise CheckFailedError(f"Checks failed: {names}.", fix=f"Logs: {folder.logs}")
