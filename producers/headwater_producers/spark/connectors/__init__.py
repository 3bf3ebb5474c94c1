"""Connectors: one file or folder for each storage technology.

A connector implements methods of `Connector` (connector.py). To add a connector, write its file, and add the connector
to the list below.
"""

from __future__ import annotations

from headwater_producers.spark.connectors.catalog.connector import Catalogs
from headwater_producers.spark.connectors.delta.connector import Delta
from headwater_producers.spark.connectors.files.connector import FileFolders
from headwater_producers.spark.connectors.hive import Hive
from headwater_producers.spark.connectors.iceberg.connector import Iceberg
from headwater_producers.spark.connectors.jdbc import Jdbc
from headwater_producers.spark.connectors.kafka.connector import Kafka
from headwater_producers.spark.connectors.memory import Generated
from headwater_producers.spark.connectors.python_source import PythonSource
from headwater_producers.spark.connectors.rdd import Rdds
from headwater_producers.spark.connectors.registry import REGISTRY

for connector in (
    Catalogs(),
    Delta(),
    FileFolders(),
    Generated(),
    Hive(),
    Iceberg(),
    Jdbc(),
    Kafka(),
    PythonSource(),
    Rdds(),
):
    REGISTRY.add(connector)
