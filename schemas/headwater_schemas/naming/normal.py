"""The one spelling of a name that another producer made by OpenLineage's naming specification."""

from __future__ import annotations

from headwater_schemas.events.common import DatasetRef
from headwater_schemas.naming.kafka import is_declared_cluster, kafka_topic


def normal(namespace: str, name: str) -> DatasetRef:
    """A dataset by its namespace and name in a document, whatever order its brokers are in. Never raises."""
    if namespace.startswith("kafka://") and not is_declared_cluster(namespace):
        return kafka_topic(namespace.removeprefix("kafka://"), name)
    return DatasetRef(namespace, name)
