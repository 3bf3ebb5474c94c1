"""`headwater graph rebuild`: the graph anew, from the topic."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.connection import client_config
from headwater.console import JsonOption, console
from headwater.consuming import consume, totals_table
from headwater.errors import CheckFailedError, InputError
from headwater.graph_driver import graph_driver
from headwater.kafka_errors import asking_kafka
from headwater.settings import load_settings, running_stack
from headwater_consumers.graph.wipe import wipe
from headwater_consumers.materializer.group import forget, members
from headwater_consumers.materializer.truth import committed_offsets


def rebuild(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    group: Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Delete the graph and make it again from the events topic: the same graph, byte for byte.

    Stop the group's consumers before. What it has committed is forgotten, what Headwater wrote into Neo4j is deleted,
    and the topic is consumed from its beginning. Interrupted, it is done again by running it again; a consumer that is
    started instead goes on where it stopped. Needed after an upgrade that changes the graph's model.
    """
    settings = load_settings({"materializer.group": group, "materializer.http_port": 0}, running=running_stack())
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    with asking_kafka(settings.kafka.bootstrap_servers, doing=f"looking at group {group}"):
        if running := members(client, group):
            raise InputError(f"Group {group} has consumers: {', '.join(running)}.", fix="Stop them first.")
        _confirm(f"Delete the graph in {settings.neo4j.uri} and make it again from {topic}?", yes=yes)
        # In this order, an end half-way leaves a graph that the next consumer completes.
        forget(client, group)
        with graph_driver(settings.neo4j) as driver, console.status("Deleting the graph"):
            deleted = wipe(driver, settings.neo4j.database)
        if any(committed_offsets(client, topic, group).values()):
            raise CheckFailedError(
                f"A consumer of group {group} wrote while the graph was being deleted.",
                fix="Stop it, and run this again.",
            )
    console.message(f"{deleted:,} nodes deleted; reading {topic} from its beginning")
    totals = consume(settings, until_caught_up=True)
    console.result(totals.document() | {"nodes_deleted": deleted}, totals_table(totals))


def _confirm(question: str, *, yes: bool) -> None:
    if not yes and not (console.err.is_terminal and typer.confirm(question, err=True)):
        raise InputError("Nothing was changed.", fix="--yes does it without asking.")
