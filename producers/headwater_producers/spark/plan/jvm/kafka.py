"""Kafka's options as datasets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.jvm.scala import setting
from headwater_producers.spark.plan.leaves import Leaf

if TYPE_CHECKING:
    from collections.abc import Collection

    from headwater_producers.spark.plan.jvm.context import Context
    from headwater_schemas.events import SchemaDefinition

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


def source(options: Any, context: Context, *, index: int | None, schema: SchemaDefinition) -> Leaf:
    """The topics that a reader's options name; those of a pattern as far as the context knows them."""
    servers = setting(options, SERVERS) or ""
    pattern = setting(options, "subscribePattern")
    topics = _topics(options, context.topics.get(index, ()) if index is not None else ())
    inputs = tuple(
        PlanInput(
            dataset=context.topic(servers, topic),
            kind=SourceKind.KAFKA,
            type="TOPIC",
            schema=schema,
            source_index=index,
            bootstrap_servers=servers,
            topic_pattern=pattern,
        )
        for topic in topics
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
    outputs = [
        PlanOutput(
            dataset=context.topic(servers, name),
            kind=SourceKind.KAFKA,
            type="TOPIC",
            mode=mode,
            format="kafka",
            connection=connection,
        )
        for name in names
    ]
    return outputs, None if names else CHOSEN_BY_ROWS
