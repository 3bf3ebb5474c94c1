"""`headwater serve`: the graph's questions over HTTP, and the page that draws lineage."""

from __future__ import annotations

import contextlib
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from headwater.asking import translated
from headwater.console import JsonOption, console
from headwater.errors import InputError
from headwater.settings import load_settings, running_stack
from headwater.stopping import stopped_by_signals
from headwater_consumers.analysis.errors import AnalysisError
from headwater_consumers.analysis.impact import load_policy
from headwater_consumers.analysis.reader import reading_driver
from headwater_consumers.api.asking import Graph
from headwater_consumers.api.server import Server
from headwater_consumers.materializer.neo4j_graph import Neo4jTarget


def command(
    host: Annotated[str | None, typer.Option(help="The address to listen on. There is no log-in.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one and says which.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose lineage. Default: HEADWATER_ANALYSIS_TENANT.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="A policy file (TOML) for impacts, instead of the one that comes with Headwater.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Answer questions to the graph over HTTP, and draw lineage on a page, until stopped.

    /openapi.json describes the API, /livez and /readyz say how it is, /metrics counts. Ctrl-C or SIGTERM lets requests
    under way finish and exits 0. While Neo4j is away questions are answered 503.
    """
    settings = load_settings(
        {"serve.host": host, "serve.port": port, "serve.policy": policy, "analysis.tenant": tenant},
        running=running_stack(),
    )
    try:
        judged_by = None if settings.serve.policy is None else load_policy(Path(settings.serve.policy))
    except AnalysisError as error:
        raise translated(error) from error
    neo4j = settings.neo4j
    target = Neo4jTarget(neo4j.uri, neo4j.user, neo4j.password.get_secret_value(), neo4j.database)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    try:
        driver = reading_driver(target)
    except AnalysisError as error:
        raise translated(error) from error
    try:
        server = Server(Graph(driver, target, settings.analysis, settings.serve, judged_by))
    except OSError as error:
        driver.close()
        raise InputError(
            f"Nothing can be served on {settings.serve.host}:{settings.serve.port}: {error.strerror}.",
            fix="Choose another HEADWATER_SERVE_PORT or --port (0 takes a free one), or HEADWATER_SERVE_HOST.",
        ) from error
    with contextlib.closing(server):
        try:
            answers = server.check()
        except AnalysisError as error:
            raise translated(error) from error
        if not answers:
            console.warning(f"Neo4j doesn't answer at {neo4j.uri} yet; questions are answered 503 until it does.")
        url = server.url
        console.message(f"Lineage on {url}/, the API described on {url}/openapi.json")
        with stopped_by_signals(server.stop):
            server.run()
    console.result({"stopped": True, "url": url}, "Stopped.")
