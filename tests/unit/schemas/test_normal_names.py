"""Names by OpenLineage's naming specification: its examples stay, other spellings become them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_schemas.events import DatasetRef
from headwater_schemas.naming import jdbc, kafka_topic, normal, path

if TYPE_CHECKING:
    import pytest

# As the specification has them, one or more of each platform, with ports that are the products' own or others.
EXAMPLES = {
    "Athena": ("awsathena://athena.us-west-2.amazonaws.com", "my_catalog.my_database.my_table"),
    "AWS Glue": ("arn:aws:glue:us-east-1:123456789012", "table/my_database/my_table"),
    "Azure Cosmos DB": ("azurecosmos://my-host/dbs/my_database", "colls/my_table"),
    "Azure Data Explorer": ("azurekusto://my-host.kusto.windows.net", "my_database/my_table"),
    "Azure Synapse": ("sqlserver://my-host:1433", "my_schema.my_table"),
    "BigQuery": ("bigquery", "my-project.my_dataset.my_table"),
    "Cassandra": ("cassandra://my-host:9042", "my_keyspace.my_table"),
    "CrateDB": ("crate://my-host:5432", "my_database.my_schema.my_table"),
    "DB2": ("db2://my-host:50000", "my_database.my_schema.my_table"),
    "Hive": ("hive://my-host:10000", "my_database.my_table"),
    "MySQL": ("mysql://my-host:3306", "my_database.my_table"),
    "OceanBase": ("oceanbase://my-host:2881", "my_database.my_table"),
    "Oracle": ("oracle://my-host:1521", "my_service.my_schema.my_table"),
    "Postgres": ("postgres://my-host:5432", "my_database.my_schema.my_table"),
    "Redshift": ("redshift://my-cluster.us-east-1:5439", "my_database.my_schema.my_table"),
    "Snowflake": ("snowflake://my_org-my_account", "MY_DATABASE.MY_SCHEMA.MY_TABLE"),
    "Snowflake by locator": ("snowflake://xy12345.us-east-2.aws", "MY_DATABASE.MY_SCHEMA.MY_TABLE"),
    "Spanner": ("spanner://my-project:my-instance", "my_database.my_schema.my_table"),
    "Teradata": ("teradata://my-host:1025", "my_database.my_table"),
    "Trino": ("trino://my-host:8080", "my_catalog.my_schema.my_table"),
    "ABFSS": ("abfss://my-container@my-service.dfs.core.windows.net", "/my/path"),
    "DBFS": ("dbfs://my-workspace", "/my/path"),
    "GCS": ("gs://my-bucket", "my/object"),
    "HDFS": ("hdfs://my-namenode:8020", "/my/path"),
    "Kafka": ("kafka://my-broker:9092", "my-topic"),
    "local files": ("file", "/my/path"),
    "remote files": ("file://my-host", "/my/path"),
    "S3": ("s3://my-bucket", "my/object"),
    "WASBS": ("wasbs://my-container@my-service.dfs.core.windows.net", "my/object"),
    "Pub/Sub topic": ("pubsub", "topic:my-project:my-topic"),
    "Pub/Sub subscription": ("pubsub", "subscription:my-project:my-subscription"),
}


def test_a_name_as_the_specification_has_it_stays(subtests: pytest.Subtests) -> None:
    for platform, (namespace, name) in EXAMPLES.items():
        with subtests.test(platform=platform):
            assert normal(namespace, name) == DatasetRef(namespace, name)


def test_another_spelling_becomes_the_one(subtests: pytest.Subtests) -> None:
    cases = [
        ("kafka://b:9092,a:9092", "t", ("kafka://a:9092,b:9092", "t")),
        ("kafka://B:9092,a", "t", ("kafka://a:9092,b:9092", "t")),
        ("kafka://orders-cluster", "t", ("kafka://orders-cluster", "t")),
        ("postgresql://DB.example.com", "s.p.o", ("postgres://db.example.com:5432", "s.p.o")),
        ("postgres://b:5433,a", "s.p.o", ("postgres://a:5432,b:5433", "s.p.o")),
        ("mssql://db:1433", "s.dbo.o", ("sqlserver://db:1433", "s.dbo.o")),
        ("sqlserver://db/instance", "s.dbo.o", ("sqlserver://db/instance", "s.dbo.o")),
        ("mariadb://db", "s.o", ("mysql://db:3306", "s.o")),
        ("oracle://[2001:db8::1]", "s.o", ("oracle://[2001:db8::1]:1521", "s.o")),
        ("hive://Metastore", "d.t", ("hive://metastore:9083", "d.t")),
        ("s3a://lake", "/flights/", ("s3://lake", "flights")),
        ("S3://lake", "flights/dt=2013-01-01", ("s3://lake", "flights")),
        ("abfs://c@h", "x", ("abfss://c@h", "/x")),
        ("hdfs://NameNode:8020", "/data/x", ("hdfs://namenode:8020", "/data/x")),
        ("file", "/data/x/part-00000.parquet", ("file", "/data/x")),
        ("file://localhost", "/data/x", ("file", "/data/x")),
        ("file", "data/x", ("file", "data/x")),
        ("s3://lake/warehouse", "db.table", ("s3://lake/warehouse", "db.table")),
        ("file:/tmp/warehouse", "db.table", ("file:/tmp/warehouse", "db.table")),
        ("s3a://lake/warehouse/", "db.table", ("s3://lake/warehouse", "db.table")),
        ("file:///tmp/warehouse/", "db.table", ("file:/tmp/warehouse", "db.table")),
        ("s3://lake/", "/d/x/", ("s3://lake", "d/x")),
        ("s3a://lake//", "d//x", ("s3://lake", "d/x")),
        ("gs://lake/", "d/x", ("gs://lake", "d/x")),
        ("s3n://lake", "", ("s3://lake", "/")),
        ("s3://lake", "year=2024/month=01", ("s3://lake", "/")),
        ("abfss://c@h/", "d", ("abfss://c@h", "/d")),
        ("hdfs://nn:8020/", "/data/x", ("hdfs://nn:8020", "/data/x")),
        ("hdfs://NN:8020/", "data/x/", ("hdfs://nn:8020", "/data/x")),
        ("hdfs:", "/data/x", ("hdfs", "/data/x")),
        ("hdfs:///", "data/x", ("hdfs", "/data/x")),
        ("file:", "/data/x", ("file", "/data/x")),
        ("file:/", "/data/x/", ("file", "/data/x")),
        ("file://", "/data/x", ("file", "/data/x")),
        ("FILE:///", "//data/x", ("file", "/data/x")),
        ("file:", "data/x/", ("file", "data/x")),
        ("file://Host/", "/data/x", ("file://host", "/data/x")),
        ("dbfs:", "/mnt/x", ("dbfs", "/mnt/x")),
        ("dbfs:/", "mnt/x/", ("dbfs", "/mnt/x")),
        ("dbfs", "", ("dbfs", "/")),
        ("kafka://b:9092/", "t", ("kafka://b:9092", "t")),
        ("postgres://db:5432/", "s.p.o", ("postgres://db:5432", "s.p.o")),
        ("snowflake://org-account/", "D.S.T", ("snowflake://org-account", "D.S.T")),
        ("https://catalog:8181/", "d.t", ("https://catalog:8181", "d.t")),
        ("shop/", "x", ("shop/", "x")),
        ("s3", "x", ("s3", "x")),
        ("s3://", "x", ("s3://", "x")),
        ("", "x", ("", "x")),
        ("postgres://", "x", ("postgres://", "x")),
    ]
    for namespace, name, wanted in cases:
        with subtests.test(namespace=namespace, name=name):
            assert normal(namespace, name) == DatasetRef(*wanted)
            assert normal(*wanted) == DatasetRef(*wanted)


def test_names_meet_those_of_headwaters_own_producers() -> None:
    assert normal("kafka://b:9092,a:9092", "t") == kafka_topic("a:9092,b:9092", "t")
    assert normal("s3a://lake", "flights") == path("s3://lake/flights/dt=2013-01-01/part-00000.parquet")
    assert normal("postgresql://db", "shop.public.orders") == jdbc("jdbc:postgresql://db/shop", "orders")
    assert normal("mssql://db", "shop.dbo.orders") == jdbc("jdbc:sqlserver://db;databaseName=shop", "orders")
