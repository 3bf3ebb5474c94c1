"""`headwater graph restored`: sets the consumer group back to the end of a restored graph."""

from __future__ import annotations

from headwater.commands.graph.rebuild import GroupOption
from headwater.confirming import YesOption, confirm
from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console
from headwater.errors import CheckFailedError
from headwater.graph_driver import current_graph
from headwater.kafka_errors import asking_kafka
from headwater.settings import connected_settings
from headwater.stopped import require_stopped
from headwater_consumers.kafka.group import commit
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_consumers.kafka.records import Partition
from headwater_graph.schema import graph_offsets, writing_groups
from headwater_schemas.kafka.client import quiet

_REQUEST_SECONDS = 10.0


def restored(
    yes: YesOption = False,
    group: GroupOption = None,
    json_output: JsonOption = False,
) -> None:
    """After a restore of Neo4j, set the consumer group back to the end of the restored graph.

    Kafka keeps the group's offsets, a backup of Neo4j the graph's: without this command, events applied after the
    backup stay missing. Stop the group's consumers before; start them afterwards. Events that are applied again change
    nothing. Exit status 5: records that the graph lacks have expired on the topic; `headwater graph rebuild --archive`
    brings them back.
    """
    settings = connected_settings({"materializer.group": group}, kafka=True, neo4j=True)
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    with asking_kafka(require_servers(settings.kafka), doing=f"setting the offsets of group {group}"):
        with current_graph(settings.neo4j) as driver:
            for name in {group, *writing_groups(driver, settings.neo4j.database)}:
                require_stopped(client, name)
            holds = graph_offsets(driver, settings.neo4j.database, topic)
        positions = OffsetReader(quiet(client), group=group).positions(topic, timeout_seconds=_REQUEST_SECONDS)
        back: dict[Partition, int] = {}
        expired = records = 0
        for each in positions:
            # Nothing of a partition that the graph doesn't know, or knows of an incarnation of the topic that is gone.
            holds_until = holds.get((each.partition.number, each.partition.topic_id), 0)
            expired += max(0, each.begin - holds_until)
            if each.committed is not None and holds_until < each.committed:
                back[each.partition] = max(each.begin, holds_until)
                records += each.committed - back[each.partition]
        if back:
            confirm(f"Set group {group} back by {records:,} records of {topic}, as far as the graph goes?", yes=yes)
            commit(client, group, back)
    console.result(
        {
            "group": group,
            "topic": topic,
            "records": records,
            "expired": expired,
            "partitions": {str(partition): offset for partition, offset in sorted(back.items())},
        },
        f"{records:,} records will be applied again: start the consumers."
        if back
        else "The group stands at the graph's end.",
    )
    if expired:
        raise CheckFailedError(
            f"{expired:,} records that the graph lacks have expired on {topic}.",
            fix="`headwater graph rebuild --archive …` makes the graph from an archive of the topic.",
        )
