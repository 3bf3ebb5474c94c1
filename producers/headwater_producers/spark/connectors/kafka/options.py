"""Kafka's options as datasets."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Final

from py4j.java_collections import JavaMap

from headwater_producers.spark.jvm.scala import pairs, setting
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.leaves import Leaf

if TYPE_CHECKING:
    from collections.abc import Collection

    from headwater_producers.spark.connectors.context import Context
    from headwater_schemas.events import SchemaDefinition

logger = logging.getLogger(__name__)

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
"""What of Kafka's own options says how a sink connects, and when it takes a record as written."""
CHOSEN_BY_ROWS = "rows choose their topic, so which are written isn't in the plan"
PAYLOADS = frozenset({"key", "value"})
_CONNECTS: Final = ("bootstrap.servers", "client.dns.lookup", "security.", "sasl.", "ssl.")


def connection_of(options: Any, *, prefix: str = "kafka.") -> dict[str, str]:
    """What of a source's or sink's options, a Scala or Java map, says how to connect; by Kafka's own names."""
    # Py4J makes a mapping of a java.util.Map, and knows nothing of Scala's.
    found = ((str(key), options[key]) for key in options) if isinstance(options, JavaMap) else pairs(options)
    named = ((key[len(prefix) :].lower(), value) for key, value in found if key.lower().startswith(prefix))
    return {name: str(value) for name, value in named if name.startswith(_CONNECTS)}


def source(options: Any, context: Context, *, index: int | None, schema: SchemaDefinition) -> Leaf:
    """The topics that a reader's options name; those of a pattern as far as the context knows them."""
    servers = setting(options, SERVERS) or ""
    pattern = setting(options, "subscribePattern")
    topics = _topics(options, context.topics.get(index, ()) if index is not None else ())
    cluster_id = context.cluster_id(servers, lambda: connection_of(options))
    named = (context.topic(servers, topic, cluster_id) for topic in topics)
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


def sinks(
    options: Any, context: Context, *, mode: WriteMode, topics: frozenset[str] | None
) -> tuple[list[PlanOutput], str | None]:
    """The topics written: the option's, else those that the column `topic` can hold; and what isn't known of it."""
    servers = setting(options, SERVERS) or ""
    option = setting(options, "topic")
    names = [option] if option else sorted(topics or ())
    connection = tuple((name, value) for name in CONNECTION if (value := setting(options, f"kafka.{name}")) is not None)
    cluster_id = context.cluster_id(servers, lambda: connection_of(options))
    named = (context.topic(servers, name, cluster_id) for name in names)
    outputs = [
        PlanOutput(
            dataset=each.ref,
            kind=SourceKind.KAFKA,
            type="TOPIC",
            mode=mode,
            format="kafka",
            connection=connection,
            symlinks=each.symlinks,
        )
        for each in named
    ]
    return outputs, None if names else CHOSEN_BY_ROWS
