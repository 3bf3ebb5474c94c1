"""`headwater up`."""

from __future__ import annotations

from headwater.console import JsonOption, console
from headwater.stack import describe, paths
from headwater.stack.health import kafka_answers, neo4j_answers
from headwater.stack.jars import fetch_jars
from headwater.stack.lifecycle import bring_down, bring_up
from headwater.stack.state import find_running_stack


def command(json_output: JsonOption = False) -> None:
    """Start Kafka and Neo4j and leave them running, until `headwater down`.

    The first time, 190 MB of jars are downloaded and verified. Data is kept from one `up` to the next.
    """
    data_dir = paths.data_dir()
    running = find_running_stack(data_dir)
    if running and not (kafka_answers(running) and neo4j_answers(running)):
        console.warning("The stack is up, but a server does not answer (see `headwater status`). Starting it anew.")
        bring_down(data_dir)
    elif running:
        console.message("Already up.")
    # First: a download shows a progress bar of its own, and a terminal has room for one live line.
    fetch_jars("kafka", "neo4j")
    with console.status("Starting Kafka and Neo4j"):
        info = bring_up(data_dir)
    console.result(describe.document(info), describe.table(info))
