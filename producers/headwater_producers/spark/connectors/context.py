"""Context for reading a plan: the session, its catalogs, its settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef
from headwater_schemas.naming.tables import Catalog, GlueCatalog, HiveCatalog, NamedTable, WarehouseCatalog


@dataclass
class SessionContext:
    """Session of a plan, and the naming of datasets in it.

    Attributes:
        session: the `SparkSession`.
        topics: known topics of sources that subscribe to a pattern, by source index in the progress.
        frames: cache of frames whose rows continue in an RDD or a new plan.
        execution: the JVM's `QueryExecution` of the plan, if it has run.
        declared: declared streams of a running query in Spark 3.5, see `jvm.versions.declared_streams`.
    """

    session: Any
    settings: PlanSettings
    topics: Mapping[int, Collection[str]] = field(default_factory=dict)
    frames: KnownFrames | None = None
    execution: Any = None
    declared: Mapping[int, Any] = field(default_factory=dict)
    _conf: dict[str, str | None] = field(default_factory=dict)

    def conf(self, key: str) -> str | None:
        """Return a setting of the session; None if it isn't set."""
        if key not in self._conf:
            value = self.session.conf.get(key, None)
            self._conf[key] = None if value is None else str(value)
        return self._conf[key]

    @cached_property
    def application(self) -> str:
        """Name of the application, equal in every run."""
        return str(self.session.sparkContext.appName)

    @cached_property
    def session_catalog(self) -> Catalog | None:
        """Naming of tables in Spark's session catalog (`spark_catalog`)."""
        if self.conf("spark.sql.catalogImplementation") == "hive" and self.metastore is not None:
            return self.metastore
        warehouse = self.conf("spark.sql.warehouse.dir")
        return WarehouseCatalog(warehouse) if warehouse else None

    @cached_property
    def metastore(self) -> Catalog | None:
        """Hive's metastore in this session, or Glue in its place."""
        factory = self.hive_conf("hive.metastore.client.factory.class") or ""
        if "glue" in factory.lower():
            return self.glue(self.hive_conf("hive.metastore.glue.catalogid"))
        uris = self.hive_conf("hive.metastore.uris")
        return HiveCatalog(uris) if uris else None

    def hive_conf(self, key: str) -> str | None:
        """Return a setting of Hive."""
        return self.conf(f"spark.hadoop.{key}") or self.conf(key)

    def glue(self, account: str | None, region: str | None = None) -> Catalog | None:
        """Return AWS Glue, if account and region are known.

        Args:
            account: account id; None: from OpenLineage's setting `spark.glue.accountId`.
            region: AWS region; None: the region of the environment.
        """
        account = account or self.conf("spark.glue.accountId")
        region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        return GlueCatalog(region, account) if account and region else None

    @property
    def catalog(self) -> Any:
        """JVM's `SessionCatalog`: Spark's own catalog of the session."""
        return self.session._jsparkSession.sessionState().catalog()

    def cluster_id(self, bootstrap: str, connection: Callable[[], Mapping[str, str]]) -> str | None:
        """Return the id that a Kafka cluster's brokers report; None if it isn't known.

        Args:
            connection: returns connection settings by Kafka's own names, the brokers included; called only to ask the
                brokers.
        """
        clusters = self.settings.kafka_clusters
        return clusters.id_of(self.session, bootstrap, connection) if clusters is not None and bootstrap else None

    def topic(self, bootstrap: str, topic: str, cluster_id: str | None = None) -> NamedTable:
        """Name a topic, also by the cluster's id if known."""
        name = naming.declared_cluster(self.settings.kafka_cluster_names, bootstrap, cluster_id)
        links = (naming.kafka_symlink(cluster_id, topic),) if cluster_id is not None else ()
        return NamedTable(naming.kafka_topic(bootstrap, topic, name), links)

    def table(
        self, name: str, location: str | None, *, catalog: str | None = None, names: Catalog | None = None
    ) -> NamedTable:
        """Name a catalog's table.

        Args:
            location: location of its data; None if unknown.
            catalog: name of the catalog in the session; None or `spark_catalog`: Spark's own.
            names: naming of the catalog's tables; None: by its warehouse.
        """
        if names is not None:
            return naming.table(name, location=location, catalog=names)
        if catalog in (None, "spark_catalog"):
            return naming.table(name, location=location, catalog=self.session_catalog)
        warehouse = self.conf(f"spark.sql.catalog.{catalog}.warehouse")
        return naming.table(name, location=location, catalog=WarehouseCatalog(warehouse) if warehouse else None)

    def catalog_table(self, table: Any) -> NamedTable:
        """Name a JVM `CatalogTable`."""
        identifier = table.identifier()
        location = table.storage().locationUri()
        uri = of_uri(location.get()) if location.isDefined() else None
        database = identifier.database()
        name = f"{database.get()}.{identifier.table()}" if database.isDefined() else str(identifier.table())
        return self.table(name, uri)

    def in_memory(self, name: str) -> DatasetRef:
        """Name a dataset that lives in this application only."""
        return naming.in_memory("spark", self.application, name)
