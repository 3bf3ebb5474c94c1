"""Administration of a consumer group: its members, and deleting or setting its committed offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from headwater_consumers.kafka.offsets import committable
from headwater_consumers.kafka.records import Partition
from headwater_schemas.kafka.client import answer, quiet

_REQUEST_SECONDS = 15.0


def members(client: Mapping[str, Any], group: str) -> list[str]:
    """Return the client ids and hosts of the consumers in the group.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
    """
    admin = AdminClient(quiet(client))
    future = admin.describe_consumer_groups([group], request_timeout=_REQUEST_SECONDS)[group]
    try:
        description = answer(future, _REQUEST_SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            return []
        raise
    return [f"{member.client_id} on {member.host}" for member in description.members]


def forget(client: Mapping[str, Any], group: str) -> None:
    """Delete the group and its committed offsets: its next consumer begins at the topic's beginning.

    Raises:
        KafkaException: the group has members (`NON_EMPTY_GROUP`), or the brokers don't answer in time or refuse.
    """
    admin = AdminClient(quiet(client))
    try:
        answer(admin.delete_consumer_groups([group], request_timeout=_REQUEST_SECONDS)[group], _REQUEST_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
            raise


def commit(client: Mapping[str, Any], group: str, offsets: Mapping[Partition, int]) -> None:
    """Commit offsets for a group without members: its next consumer begins at these offsets.

    Raises:
        KafkaException: the group has members, or the brokers don't answer in time or refuse.
    """
    consumer = Consumer({**quiet(client), "group.id": group, "enable.auto.commit": False})
    try:
        for partition in consumer.commit(offsets=committable(offsets), asynchronous=False) or ():
            if partition.error is not None:
                raise KafkaException(partition.error)
    finally:
        consumer.close()
