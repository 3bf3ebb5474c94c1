"""Normal form of dataset names that other producers build by OpenLineage's naming specification.

Producers spell one dataset in several ways: brokers in another order, a port left out, `s3a` for `s3`, a key with a
leading slash, a namespace with a trailing slash, `file:` for `file`, a partition's folder for the table's folder.
Headwater's producers have one spelling for each dataset; the normal form converts other producers' names to it:

| kind      | platforms                                                | one spelling                                |
|-----------|----------------------------------------------------------|---------------------------------------------|
| topics    | Kafka                                                    | brokers sorted, each with its port          |
| servers   | Postgres, MySQL, SQL Server, Trino, Hive, Cassandra, …   | hosts in lower case, sorted, with ports    |
| files     | local, S3, GCS, WASBS, ABFSS, HDFS, DBFS                 | as `paths.path` names them                  |
| warehouse | a directory on these file systems, `s3a://lake/wh/`      | as `tables.WarehouseCatalog` names it       |
| services  | Athena, Glue, BigQuery, Snowflake, Pub/Sub, Cosmos DB, … | unchanged: they have one spelling         |

https://openlineage.io/docs/spec/naming
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, Protocol

from headwater_schemas.events.common import DatasetRef
from headwater_schemas.naming.kafka import is_declared_cluster, kafka_topic
from headwater_schemas.naming.paths import path
from headwater_schemas.naming.tables import WarehouseCatalog

_SERVER: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/]+)/*")
_DEFAULT_FILES: Final = re.compile(r"(?P<scheme>file|dbfs|hdfs)(?::/*)?", re.IGNORECASE)
"""Root of the machine's, workspace's or cluster's default file system."""
_HOST: Final = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.%]+\])(?::\d+)?", re.ASCII)


class Platform(Protocol):
    """Spelling of dataset names of one technology."""

    def ref(self, scheme: str, authority: str, name: str) -> DatasetRef:
        """Return the dataset of a namespace `scheme://authority`."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of a Kafka cluster: `kafka://broker-1:9092,broker-2:9092`, `flights.departed`."""

    def ref(self, scheme: str, authority: str, name: str) -> DatasetRef:
        """Return the topic with the brokers sorted; a cluster's chosen name stays."""
        namespace = f"{scheme}://{authority}"
        return DatasetRef(namespace, name) if is_declared_cluster(namespace) else kafka_topic(authority, name)


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """Tables of a database server: `postgres://db:5432`, `shop.public.orders`.

    Attributes:
        port: the product's default port.
    """

    scheme: str
    port: int

    def ref(self, scheme: str, authority: str, name: str) -> DatasetRef:
        """Return the table, with hosts in lower case, sorted, with ports; any other authority stays unchanged."""
        hosts = [host.strip().rpartition("@")[2].lower() for host in authority.split(",")]
        if not all(_HOST.fullmatch(host) for host in hosts):
            return DatasetRef(f"{scheme}://{authority}", name)
        named = {host if ":" in host.rpartition("]")[2] else f"{host}:{self.port}" for host in hosts}
        return DatasetRef(f"{self.scheme}://{','.join(sorted(named))}", name)


@dataclass(frozen=True, slots=True)
class Files:
    """Directories and objects: `s3://lake`, `flights`."""

    schemes: ClassVar[tuple[str, ...]] = (
        "file",
        "s3",
        "s3a",
        "s3n",
        "gs",
        "wasb",
        "wasbs",
        "abfs",
        "abfss",
        "hdfs",
        "dbfs",
    )

    def ref(self, scheme: str, authority: str, name: str) -> DatasetRef:
        """Return the dataset as Headwater's own capture names the path."""
        return path(f"{scheme}://{authority}{'' if name.startswith('/') else '/'}{name}")


PLATFORMS: Final[dict[str, Platform]] = {
    # scheme of the namespace: platform
    "kafka": Topics(),
    "cassandra": DatabaseServer("cassandra", 9042),
    "crate": DatabaseServer("crate", 5432),
    "db2": DatabaseServer("db2", 50000),
    "hive": DatabaseServer("hive", 9083),
    "mariadb": DatabaseServer("mysql", 3306),
    "mssql": DatabaseServer("sqlserver", 1433),
    "mysql": DatabaseServer("mysql", 3306),
    "oceanbase": DatabaseServer("oceanbase", 2881),
    "oracle": DatabaseServer("oracle", 1521),
    "postgres": DatabaseServer("postgres", 5432),
    "postgresql": DatabaseServer("postgres", 5432),
    "redshift": DatabaseServer("redshift", 5439),
    "sqlserver": DatabaseServer("sqlserver", 1433),
    "teradata": DatabaseServer("teradata", 1025),
    "trino": DatabaseServer("trino", 8080),
    **dict.fromkeys(Files.schemes, Files()),
}
"""Platforms with several spellings. Any other platform has one spelling."""


@lru_cache(1 << 12)
def normal(namespace: str, name: str) -> DatasetRef:
    """Return the dataset of a namespace and name in a document, spelled as Headwater's own producers do. Never raises.

    Args:
        namespace: namespace by the specification, or with slashes after it.
        name: name of the dataset. An empty name of a bucket or file system becomes `/`, its root; any other empty name
            stays empty.
    """
    if found := _DEFAULT_FILES.fullmatch(namespace):
        return path(_uri_of_default(found["scheme"].lower(), name))
    if found := _SERVER.fullmatch(namespace):
        scheme, authority = found["scheme"].lower(), found["authority"]
        platform = PLATFORMS.get(scheme)
        if platform is not None:
            return platform.ref(scheme, authority, name)
    return DatasetRef(_namespace(namespace), name)


def _uri_of_default(scheme: str, name: str) -> str:
    if name.startswith("/"):
        return f"{scheme}://{name}"
    # A local path without a slash is relative to an unknown folder; other file systems have no relative paths.
    return f"{scheme}:{name}" if scheme == "file" else f"{scheme}:///{name}"


def _namespace(namespace: str) -> str:
    """Return a warehouse's directory, or the namespace of a platform with one spelling."""
    if namespace.partition(":")[0].lower() in Files.schemes and not namespace.endswith("://"):
        return WarehouseCatalog(namespace).namespace if ":" in namespace else namespace
    without_slash = namespace.rstrip("/")
    return without_slash if "://" in without_slash else namespace
