"""`headwater status`."""

from __future__ import annotations

import typer
from confluent_kafka import KafkaException
from rich.text import Text

from headwater.console import JsonOption, console, plain_table
from headwater.errors import ExitCode
from headwater.events_topic import EventsTopicState, topic_state
from headwater.invocation import as_called
from headwater.settings import load_settings
from headwater.stack import StackInfo, health, paths, state


def command(json_output: JsonOption = False) -> None:
    """Show where the embedded stack runs, whether its servers answer, and how far the graph is behind the events.

    Exit status 0: all servers answer. 3: the stack is not up. 4: a server does not answer.
    """
    data_dir = state.active_dir()
    record = state.read(data_dir)
    if record is None:
        console.result({"running": False, "data_dir": str(data_dir)}, as_called("Not up. `headwater up` starts it."))
        raise typer.Exit(ExitCode.NOT_FOUND)
    info = record.info
    answers = {"Kafka": health.kafka_answers(info), "Neo4j": health.neo4j_answers(info)}
    events = _events(info) if answers["Kafka"] else None
    document = info.document()
    document |= {
        "running": True,
        "healthy": {name.lower(): healthy for name, healthy in answers.items()},
        "events": None if events is None else events.document(),
        "supervisor": {"pid": record.supervisor.pid, "started": record.supervisor.started},
        "logs": {
            "kafka": str(info.kafka.log),
            "neo4j": str(info.neo4j.log),
            "supervisor": str(data_dir / "supervisor.log"),
        },
        "cache_dir": str(paths.cache_dir()),
    }
    table = plain_table("", "address", "answers", "version", "pid", "log")
    for name, address, member in (
        ("Kafka", info.bootstrap_servers, info.kafka),
        ("Neo4j", info.neo4j_uri, info.neo4j),
    ):
        healthy = Text("yes", "green") if answers[name] else Text("no", "red")
        table.add_row(name, address, healthy, member.version, str(member.pid), str(member.log))
    console.result(document, table)
    if events is not None:
        last = f", the last at {events.last_event:%Y-%m-%d %H:%M:%S} UTC" if events.last_event else ""
        console.message(
            f"Topic {events.topic}: {events.records:,} events{last}; group {events.group} is {events.lag:,} behind"
        )
    console.message(
        f"Browser {info.browser_url}, user {info.neo4j_user}, password in {info.password_file}\n"
        f"Java {info.java}, data {info.data_dir}, supervisor pid {record.supervisor.pid}"
    )
    if not all(answers.values()):
        raise typer.Exit(ExitCode.UNREACHABLE)


def _events(info: StackInfo) -> EventsTopicState | None:
    """Events topic on this stack; None if it doesn't exist."""
    settings = load_settings()
    try:
        return topic_state(
            {"bootstrap.servers": info.bootstrap_servers}, settings.topic.names().events, settings.materializer.group
        )
    except (KafkaException, TimeoutError) as error:
        console.warning(f"The events topic can't be read: {error}.")
        return None
