"""Names of tables in Iceberg's catalogs, and in Glue in place of Hive's metastore, by the session's settings."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.iceberg.catalogs import iceberg_catalog
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_schemas.events import DatasetRef, Symlink

SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
ARN = "arn:aws:glue:eu-west-1:123456789012"


class Conf:
    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings

    def get(self, key: str, default: str | None) -> str | None:
        return self._settings.get(key, default)


class Session:
    def __init__(self, settings: dict[str, str]) -> None:
        self.conf = Conf(settings)


def context(settings: dict[str, str]) -> SessionContext:
    session: Any = Session(settings)
    return SessionContext(session, PlanSettings())


def of_lake(settings: dict[str, str]) -> dict[str, str]:
    short = {f"spark.sql.catalog.lake.{key}": value for key, value in settings.items() if not key.startswith("spark.")}
    return {
        "spark.sql.catalog.lake": SPARK_CATALOG,
        **short,
        **{key: value for key, value in settings.items() if key.startswith("spark.")},
    }


@pytest.fixture(autouse=True)
def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


CATALOGS: list[tuple[dict[str, str], tuple[str, str] | None]] = [
    ({"type": "rest", "uri": "https://catalog:8181"}, ("https://catalog:8181", "shop.orders")),
    # What is the same catalog, and what nobody may read.
    ({"type": "REST", "uri": "HTTPS://user:secret@catalog:8181/"}, ("https://catalog:8181", "shop.orders")),
    (
        {"catalog-impl": "org.apache.iceberg.rest.RESTCatalog", "uri": "http://c/api", "warehouse": "prod"},
        ("http://c/api", "shop.orders"),
    ),
    ({"type": "rest"}, None),
    ({"type": "hive", "uri": "thrift://b:9083,thrift://a:9083"}, ("hive://a:9083", "shop.orders")),
    ({"uri": "thrift://a:9083"}, ("hive://a:9083", "shop.orders")),
    (
        {"type": "hive", "spark.hadoop.hive.metastore.uris": "thrift://m:9083", "warehouse": "s3://b/w"},
        ("hive://m:9083", "shop.orders"),
    ),
    ({"type": "glue", "glue.id": "123456789012", "client.region": "eu-west-1"}, (ARN, "table/shop/orders")),
    (
        {
            "catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
            "client.region": "eu-west-1",
            "spark.glue.accountId": "123456789012",
        },
        (ARN, "table/shop/orders"),
    ),
    # Whose account it is, isn't known.
    ({"type": "glue", "client.region": "eu-west-1"}, None),
    # Folders.
    ({"type": "hadoop", "warehouse": "s3://b/w", "uri": "thrift://a:9083"}, None),
    ({"catalog-impl": "org.example.Ours", "uri": "x"}, None),
    ({"spark.sql.catalog.lake": "org.example.Catalog", "type": "rest", "uri": "http://c"}, None),
]


def test_a_table_by_its_catalogs_name(subtests: pytest.Subtests) -> None:
    for settings, expected in CATALOGS:
        with subtests.test(settings=settings):
            found = iceberg_catalog(context(of_lake(settings)), "lake")
            assert (None if found is None else found.ref("shop", "orders")) == (
                None if expected is None else DatasetRef(*expected)
            )


def test_where_it_lies_is_its_identity_and_the_catalogs_name_another() -> None:
    asked = context(of_lake({"type": "rest", "uri": "http://c"}))
    names = iceberg_catalog(asked, "lake")
    table = asked.table("shop.orders", "s3://b/w/orders-1", catalog="lake", names=names)
    assert (table.ref, table.symlinks) == (
        DatasetRef("s3://b", "w/orders-1"),
        (Symlink("http://c", "shop.orders", "TABLE"),),
    )
    assert asked.table("shop.orders", None, catalog="lake", names=names).ref == DatasetRef("http://c", "shop.orders")


def test_glue_in_place_of_hives_metastore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    asked = context(
        {
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.client.factory.class": "com.amazonaws.glue.catalog.metastore."
            "AWSGlueDataCatalogHiveClientFactory",
            "spark.hadoop.hive.metastore.glue.catalogid": "123456789012",
        }
    )
    assert asked.table("shop.orders", None).ref == DatasetRef(ARN, "table/shop/orders")
