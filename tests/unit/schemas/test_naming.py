"""Names, platform by platform: input beside output. Interop with other producers of OpenLineage stands on these."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_schemas import naming
from headwater_schemas.events import DatasetRef, Symlink
from headwater_schemas.naming.tables import HiveCatalog, WarehouseCatalog

PATHS = {
    # as a job names it: (namespace, name)
    "/data/flights": ("file", "/data/flights"),
    "/data/flights/": ("file", "/data/flights"),
    "/data//flights/./x": ("file", "/data/flights/x"),
    "file:/data/x.parquet": ("file", "/data/x.parquet"),
    "file:///data/x": ("file", "/data/x"),
    "file://localhost/data/x": ("file", "/data/x"),
    "file://NAS/data/x": ("file://nas", "/data/x"),
    "C:\\data\\x": ("file", "/C:/data/x"),
    "/": ("file", "/"),
    "s3://lake/flights": ("s3://lake", "flights"),
    "s3a://lake/flights/": ("s3://lake", "flights"),
    "s3n://lake/a/b": ("s3://lake", "a/b"),
    "s3a://KEY:SECRET@lake/flights": ("s3://lake", "flights"),
    "s3://lake": ("s3://lake", "/"),
    "gs://lake/a": ("gs://lake", "a"),
    "wasb://c@acct.blob.core.windows.net/a": ("wasbs://c@acct.blob.core.windows.net", "a"),
    "abfss://c@acct.dfs.core.windows.net/a/b": ("abfss://c@acct.dfs.core.windows.net", "/a/b"),
    "abfs://c@acct.dfs.core.windows.net/a?sv=1&sig=SECRET": ("abfss://c@acct.dfs.core.windows.net", "/a"),
    "hdfs://NameNode:8020/a": ("hdfs://namenode:8020", "/a"),
    "hdfs:///a": ("hdfs", "/a"),
    "dbfs:/mnt/a": ("dbfs", "/mnt/a"),
    # what of a dataset is a part of it
    "/f/dt=2013-01-01": ("file", "/f"),
    "/f/year=2013/month=01/day=1": ("file", "/f"),
    "/f/origin=JFK/part-00000-6a.c000.snappy.parquet": ("file", "/f"),
    "/f/part-r-00001.gz": ("file", "/f"),
    "/f/000000_0": ("file", "/f"),
    "/f/2013/01/01": ("file", "/f"),
    "/f/2013/1/1/05": ("file", "/f"),
    "/f/2013-01-01": ("file", "/f"),
    "/f/20130101": ("file", "/f"),
    "/f/2013-01": ("file", "/f"),
    "/f/2013-01-01T05:00:00Z": ("file", "/f"),
    "/f/_delta_log/0001.json": ("file", "/f"),
    "/f/_spark_metadata/7": ("file", "/f"),
    "s3://lake/dt=2013-01-01": ("s3://lake", "/"),
    "/lake/dt=2013-01-01/flights": ("file", "/lake/flights"),
    "/lake/run_id=7/flights": ("file", "/lake/flights"),
    # what only looks like a part
    "/lake/env=prod/flights": ("file", "/lake/env=prod/flights"),
    "/census/2020": ("file", "/census/2020"),
    "/flights/partner": ("file", "/flights/partner"),
    "/flights/12345": ("file", "/flights/12345"),
    # what only a reader takes for a glob
    "/out/[1]": ("file", "/out/[1]"),
    "/out/{a,b}/x?": ("file", "/out/{a,b}/x?"),
    "s3://lake/*.csv": ("s3://lake", "*.csv"),
    "/out/a\\[1\\]": ("file", "/out/a\\[1\\]"),
}
PATTERNS = {
    "/f/*.csv": ("file", "/f"),
    "/f/{a,b}/x": ("file", "/f"),
    "/f/x[0-9]/y": ("file", "/f"),
    "/f/dt=2013-*/hour=1": ("file", "/f"),
    "/f/dt=2013-01-01/part-?.csv": ("file", "/f"),
    "/*": ("file", "/"),
    "*.csv": ("file", "/"),
    "s3a://lake/*.csv": ("s3://lake", "/"),
    "abfss://c@acct.dfs.core.windows.net/a/*?sig=SECRET": ("abfss://c@acct.dfs.core.windows.net", "/a"),
    # escaped, or no glob at all
    "/data/flights": ("file", "/data/flights"),
    "/out/a\\[1\\]/x": ("file", "/out/a[1]/x"),
    "/out/a\\*/b*/c": ("file", "/out/a*"),
    "/out/\\\\*": ("file", "/out"),
    "/out/a}]": ("file", "/out/a}]"),
    "C:\\data\\*": ("file", "/C:/data"),
}


def test_paths(subtests: pytest.Subtests) -> None:
    for uri, named in PATHS.items():
        with subtests.test(uri=uri):
            assert naming.path(uri) == DatasetRef(*named)


def test_patterns(subtests: pytest.Subtests) -> None:
    for uri, named in PATTERNS.items():
        with subtests.test(uri=uri):
            assert naming.path_pattern(uri) == DatasetRef(*named)


@given(st.text(st.characters(exclude_characters="*?{[\\"), max_size=40))
def test_a_pattern_without_globs_is_a_path(uri: str) -> None:
    assert naming.path_pattern(uri) == naming.path(uri)


@given(st.from_regex(r"/[a-z*?{}\[\]\\ ]{1,10}", fullmatch=True))
def test_an_escaped_path_is_named_as_its_writer_names_it(written: str) -> None:
    escaped = re.sub(r"([\[\]{}*?\\])", r"\\\1", written)
    assert naming.path_pattern(escaped) == naming.path(written)


@given(st.text(max_size=40) | st.from_regex(r"(s3a?|hdfs|file|abfss)://[a-z@:]{0,8}/[a-z=/\d*-]{0,20}", fullmatch=True))
def test_any_path_has_a_name_and_naming_its_name_changes_nothing(uri: str) -> None:
    named = naming.path(uri)
    assert named.namespace
    assert named.name
    if named.namespace == "file" and named.name.startswith("/"):
        assert naming.path(named.name) == named


TABLES = {
    # (url, dbtable): (namespace, name)
    ("jdbc:postgresql://db/shop", "orders"): ("postgres://db:5432", "shop.public.orders"),
    ("jdbc:postgresql://U:P@DB:5433/shop?password=p@ss&x=1", "sales.orders"): (
        "postgres://db:5433",
        "shop.sales.orders",
    ),
    ("jdbc:postgresql://b,a:5433/shop", "orders"): ("postgres://a:5433,b:5432", "shop.public.orders"),
    ("jdbc:postgresql://[::1]/shop?currentSchema=s", '"Odd.Name"'): ("postgres://[::1]:5432", "shop.s.Odd.Name"),
    ("jdbc:postgresql://db/shop", "other.s.t"): ("postgres://db:5432", "other.s.t"),
    ("jdbc:redshift://c.eu-west-1:5439/dev", "t"): ("redshift://c.eu-west-1:5439", "dev.public.t"),
    ("jdbc:mysql://db/shop", "orders"): ("mysql://db:3306", "shop.orders"),
    ("jdbc:mariadb://db:1/shop", "`other`.`orders`"): ("mysql://db:1", "other.orders"),
    ("jdbc:mysql:loadbalance://b,a/shop", "t"): ("mysql://a:3306,b:3306", "shop.t"),
    ("jdbc:sqlserver://db;databaseName=shop;user=u;password=p", "t"): ("sqlserver://db:1433", "shop.dbo.t"),
    ("jdbc:sqlserver://db\\inst;database=shop", "[s].[t]"): ("sqlserver://db/inst", "shop.s.t"),
    ("jdbc:oracle:thin:u/p@db:1521:SID", "s.t"): ("oracle://db:1521", "SID.s.t"),
    ("jdbc:oracle:thin:@//db:1521/svc", "s.t"): ("oracle://db:1521", "svc.s.t"),
    ("jdbc:trino://h:8080/cat/sch", "t"): ("trino://h:8080", "cat.sch.t"),
    ("jdbc:trino://h:8080/cat", "s.t"): ("trino://h:8080", "cat.s.t"),
    ("jdbc:snowflake://org-acct.snowflakecomputing.com/?db=D&schema=S", "T"): ("snowflake://org-acct", "D.S.T"),
    ("jdbc:db2://db:50000/shop", "s.t"): ("db2://db:50000", "shop.s.t"),
    ("jdbc:sqlite:/data/x.db", "t"): ("sqlite:/data/x.db", "t"),
    ("jdbc:exotic://h:1/d", "t"): ("exotic://h:1", "d.t"),
}


def test_jdbc(subtests: pytest.Subtests) -> None:
    for (url, table), named in TABLES.items():
        with subtests.test(url=url, table=table):
            assert naming.jdbc(url, table) == DatasetRef(*named)


def test_what_has_no_name_is_refused_without_being_repeated(subtests: pytest.Subtests) -> None:
    cases = [
        ("jdbc:mysql://db/x?password=hunter2", "(select 1) q"),
        ("hunter2", "t"),
        ("jdbc:mysql://hun ter2/x", "t"),
    ]
    for url, table in cases:
        with subtests.test(url=url):
            with pytest.raises(ValueError, match=r"name|JDBC") as caught:
                naming.jdbc(url, table)
            assert "ter2" not in str(caught.value)
            assert "select" not in str(caught.value)


def test_the_order_of_brokers_changes_nothing() -> None:
    servers = ["b:9092", "SASL_SSL://A:9093", "c", " c:9092"]
    names = {naming.kafka_topic(",".join(order), "t") for order in itertools.permutations(servers)}
    assert names == {DatasetRef("kafka://a:9093,b:9092,c:9092", "t")}


def test_a_clusters_name_stands_for_its_brokers() -> None:
    assert naming.kafka_topic("b:9092", "t", cluster_name="prod") == DatasetRef("kafka://prod", "t")
    assert naming.kafka_topic("[::1]", "t") == DatasetRef("kafka://[::1]:9092", "t")


def test_a_cluster_is_named_by_id_or_by_a_broker(subtests: pytest.Subtests) -> None:
    cases = [
        ({}, "b1:9092", "id", None),
        ({"b1,b2": "prod"}, "SSL://b2:9092,b3:9092", None, "prod"),
        ({"b1": "prod"}, "b2:9092", None, None),
        ({"b1": "prod", "id": "other"}, "b1:9092", "id", "other"),
        ({"*": "every", "b1:9092": "prod"}, "b1", "id", "prod"),
        ({"*": "every", "b1:9092": "prod"}, "b2", "id", "every"),
    ]
    for names, servers, cluster_id, declared in cases:
        with subtests.test(names=names, servers=servers):
            assert naming.declared_cluster(names, servers, cluster_id) == declared


def test_a_name_that_somebody_chose_is_known_from_brokers() -> None:
    chosen = ["kafka://prod", "kafka://b:9092", "kafka://a:1,b:2", "kafka://[::1]:9092", "file", "s3://lake"]
    assert [naming.is_declared_cluster(each) for each in chosen] == [True, False, False, False, False, False]


def test_a_table_with_a_location_is_its_files_and_the_catalogs_name_a_symlink() -> None:
    named = naming.table("db.t", location="s3a://lake/db/t", catalog=HiveCatalog("thrift://B:9083,thrift://a:9083"))
    assert named.ref == DatasetRef("s3://lake", "db/t")
    assert named.symlinks == (Symlink("hive://a:9083", "db.t", "TABLE"),)
    assert naming.table("t", location="/w/t").symlinks == ()


def test_a_table_without_a_location_has_the_catalogs_name(subtests: pytest.Subtests) -> None:
    cases = [
        (naming.table("spark_catalog.db.v"), ("spark", "db.v")),
        (naming.table("v", database="db"), ("spark", "db.v")),
        (naming.table("d.t", catalog=WarehouseCatalog("s3a://lake/wh/")), ("s3://lake/wh", "d.t")),
        (naming.table("d.t", catalog=WarehouseCatalog("/tmp/wh")), ("file:/tmp/wh", "d.t")),
        (naming.table("d.t", catalog=WarehouseCatalog("hdfs://nn:8020/wh")), ("hdfs://nn:8020/wh", "d.t")),
    ]
    for table, expected in cases:
        with subtests.test(table=table):
            assert table.ref == DatasetRef(*expected)


def test_what_lives_in_memory_belongs_to_its_application() -> None:
    assert naming.in_memory("spark", "enrich", "console") == DatasetRef("memory://spark/enrich", "console")
