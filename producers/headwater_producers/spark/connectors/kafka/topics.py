"""Topics in the options of a reader or a writer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any, Final

from py4j.java_collections import JavaMap

from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.jvm.scala import option, pairs, private, setting
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas.naming import NamedTable

SERVERS = "kafka.bootstrap.servers"
CONNECTION = (
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "ssl.endpoint.identification.algorithm",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.certificate.chain",
    "acks",
)
"""Kafka's options of a source's or sink's connection, and of the acknowledgement of a sink's records."""
CHOSEN_BY_ROWS = "rows choose their topic, so the plan doesn't show the written topics"
PAYLOADS = frozenset({"key", "value"})
_CONNECTS: Final = ("bootstrap.servers", "client.dns.lookup", "security.", "sasl.", "ssl.")


def connection_of(options: Any, *, prefix: str = "kafka.") -> dict[str, str]:
    """Return the connection settings among a source's or sink's options (a Scala or Java map), by Kafka's own names."""
    # Py4J makes a mapping of a java.util.Map, and knows nothing of Scala's.
    found = ((str(key), options[key]) for key in options) if isinstance(options, JavaMap) else pairs(options)
    named = ((key[len(prefix) :].lower(), value) for key, value in found if key.lower().startswith(prefix))
    return {name: str(value) for name, value in named if name.startswith(_CONNECTS)}


def read_topics(leaf: JvmLeaf, options: Any) -> Leaf:
    """Return the topics that a reader's options name; for a pattern, the topics that the context knows."""
    context, index = leaf.context, leaf.index
    servers = setting(options, SERVERS) or ""
    pattern = setting(options, "subscribePattern")
    topics = _topics(options, context.topics.get(index, ()) if index is not None else ())
    cluster_id = context.cluster_id(servers, lambda: connection_of(options))
    named = (context.topic(servers, topic, cluster_id) for topic in topics)
    connection = _connection(options)
    schema = leaf.batch().schema() if not leaf.is_streamed else leaf.schema()
    inputs = tuple(
        PlanInput(
            dataset=topic.ref,
            kind=SourceKind.KAFKA,
            type="TOPIC",
            schema=schema,
            source_index=index,
            bootstrap_servers=servers,
            topic_pattern=pattern,
            symlinks=topic.symlinks,
            connection=connection,
        )
        for topic in named
    )
    problem = None if topics else f"which topics match {pattern!r} isn't known yet"
    return Leaf(inputs=inputs, payloads=PAYLOADS, problem=problem)


def _topics(options: Any, known: Collection[str]) -> list[str]:
    subscribed, assigned = setting(options, "subscribe"), setting(options, "assign")
    if subscribed:
        return sorted({topic.strip() for topic in subscribed.split(",") if topic.strip()})
    return sorted(json.loads(assigned)) if assigned else sorted(known)


def write_topics(command: JvmCommand) -> WrittenOutputs:
    """Describe a write to the topic in the options, else to the topics that the column `topic` can hold."""
    topic = setting(command.options, "topic")
    names = [topic] if topic else sorted(command.topics or ())
    outputs = topics_written(command.options, command.context, names, command.mode)
    return WrittenOutputs(outputs, None if names else CHOSEN_BY_ROWS)


def topics_written(
    options: Any, context: SessionContext, names: Iterable[str], mode: WriteMode = WriteMode.UNKNOWN
) -> tuple[PlanOutput, ...]:
    """Build the outputs for the topics that a writer with these options (a Scala map) writes."""
    servers = setting(options, SERVERS) or ""
    connection = _connection(options)
    cluster_id = context.cluster_id(servers, lambda: connection_of(options))
    return tuple(_written(context.topic(servers, name, cluster_id), mode, connection) for name in names)


def _connection(options: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in CONNECTION if (value := setting(options, f"kafka.{name}")) is not None)


def write_continuously(command: JvmCommand) -> WrittenOutputs:
    """Describe the write of a query with a continuous trigger, whose plan has the write, but no options."""
    write, context = command.subject, command.context
    params = private(write, "producerParams")
    servers = str(params.get("bootstrap.servers"))
    cluster_id = context.cluster_id(servers, lambda: connection_of(params, prefix=""))
    topic = option(private(write, "topic"))
    names = [str(topic)] if topic is not None else sorted(command.topics or ())
    outputs = tuple(_written(context.topic(servers, name, cluster_id), WriteMode.APPEND) for name in names)
    link = StreamingLink(sink="Kafka", sink_kind=SourceKind.KAFKA)
    return WrittenOutputs(outputs, None if names else CHOSEN_BY_ROWS, streaming=link)


def _written(topic: NamedTable, mode: WriteMode, connection: tuple[tuple[str, str], ...] = ()) -> PlanOutput:
    return PlanOutput(
        dataset=topic.ref,
        kind=SourceKind.KAFKA,
        type="TOPIC",
        mode=mode,
        format="kafka",
        connection=connection,
        symlinks=topic.symlinks,
    )
