"""`headwater up`."""

from __future__ import annotations

from headwater.console import JsonOption, console
from headwater.stack import paths
from headwater.stack.health import kafka_answers, neo4j_answers
from headwater.stack.jars import fetch_jars
from headwater.stack.lifecycle import bring_up, revive
from headwater.stack.state import find_running_stack


def command(json_output: JsonOption = False) -> None:
    """Start Kafka and Neo4j and leave them running, until `headwater down`.

    The first time, 190 MB of jars are downloaded and verified. Data is kept from one `up` to the next, in files that
    only you can read, in the folder that HEADWATER_DATA_DIR names; default: headwater in XDG_DATA_HOME, else in
    ~/.local/share (on macOS in ~/Library/Application Support). Each folder has its own stack; a command finds the stack
    of the folder that its HEADWATER_DATA_DIR names.

    Both listen on 127.0.0.1: Kafka on the ports 9092 and 9093 (controller), Neo4j on 7687 (Bolt) and 7474 (Browser).
    A port that is taken is replaced by a free one; the ports are printed, and remembered for the next time.
    Neo4j has a password, Kafka has none: every user of this machine can read the topics and write to them.

    If the stack is up already, a server that has died or doesn't answer is started again; the other one goes on.
    """
    data_dir = paths.data_dir()
    running = find_running_stack(data_dir)
    if running:
        answers = {"Kafka": kafka_answers(running), "Neo4j": neo4j_answers(running)}
        silent = [name for name, answer in answers.items() if not answer]
        if not silent:
            console.message("Already up.")
        else:
            console.warning(f"The stack is up, but {' and '.join(silent)} doesn't answer: started again.")
            with console.status(f"Starting {' and '.join(silent)}"):
                revive(data_dir)
    # Downloads come first: a download shows a progress bar, and a terminal can show only one live line.
    fetch_jars("kafka", "neo4j")
    with console.status("Starting Kafka and Neo4j"):
        info = bring_up(data_dir)
    console.result(info.document(), info.table())
