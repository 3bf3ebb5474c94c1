"""Dataset identity by OpenLineage's naming specification: a small class per platform, a function for each caller.

    kafka_topic("b:9092,a:9092", "flights")        ⇒ kafka://a:9092,b:9092   flights
    path("s3a://lake/flights/dt=2013-01-01")       ⇒ s3://lake               flights
    path("/data/flights/part-00000.parquet")       ⇒ file                    /data/flights
    path_pattern("/data/flights/*.csv")            ⇒ file                    /data/flights
    jdbc("jdbc:postgresql://db/shop", "orders")    ⇒ postgres://db:5432      shop.public.orders
    table("db.flights", location="s3://lake/f")    ⇒ s3://lake               f   (and a TABLE symlink)

A name never contains a run, a date or a snapshot, so that every run of a job names the same dataset. The part that a
run read or wrote is a position. No credentials get into a name.

https://openlineage.io/docs/spec/naming
"""

from headwater_schemas.naming.jdbc import jdbc
from headwater_schemas.naming.kafka import declared_cluster, is_declared_cluster, kafka_symlink, kafka_topic
from headwater_schemas.naming.normal import normal
from headwater_schemas.naming.paths import path, path_pattern
from headwater_schemas.naming.spelling import spelling
from headwater_schemas.naming.tables import NamedTable, in_memory, table

__all__ = [
    "NamedTable",
    "declared_cluster",
    "in_memory",
    "is_declared_cluster",
    "jdbc",
    "kafka_symlink",
    "kafka_topic",
    "normal",
    "path",
    "path_pattern",
    "spelling",
    "table",
]
