from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.events.job_names import application_name, batch_name, short_name, streaming_name
from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_schemas.events import DatasetRef

if TYPE_CHECKING:
    import pytest


def output(namespace: str, name: str) -> PlanOutput:
    return PlanOutput(dataset=DatasetRef(namespace, name), kind=SourceKind.UNKNOWN)


SHORT_NAMES: list[tuple[str, str, str]] = [
    ("file", "/data/daily_report", "daily_report"),
    ("s3://bucket", "lake/daily_report/", "daily_report"),
    ("s3://bucket", "report.parquet", "report.parquet"),
    ("hive://meta:9083", "db.daily_report", "daily_report"),
    ("postgres://db:5432", "flights.public.routes", "routes"),
    ("kafka://broker:9092", "flights.enriched", "flights.enriched"),
    ("file", "/data/a b/c d", "c_d"),
    ("file", "/", ""),
]


def test_short_names(subtests: pytest.Subtests) -> None:
    for namespace, name, short in SHORT_NAMES:
        with subtests.test(namespace=namespace, name=name):
            assert short_name(DatasetRef(namespace, name)) == short


def test_names_of_an_application_and_its_jobs() -> None:
    routes = [output("kafka://b:1", "flights.routes"), output("file", "/data/routes")]
    assert application_name(None, "Flights, enriched!") == "Flights_enriched"
    assert application_name("flights", "whatever") == "flights"
    assert batch_name("flights", routes[1:]) == "flights.routes"
    assert batch_name("flights", routes) == "flights.flights.routes+routes"
    assert streaming_name("flights", "enrich", routes, "foreachBatch") == "flights.enrich"
    assert streaming_name("flights", None, routes[:1], "kafka") == "flights.flights.routes"
    assert streaming_name("flights", None, [], "foreachBatch") == "flights.foreachBatch"


def test_a_name_is_never_empty() -> None:
    assert application_name("", "...") == "spark"
    assert batch_name("a", []) == "a.write"
    assert streaming_name("a", None, [], None) == "a.stream"
    assert streaming_name("a", "///", [], "noop") == "a.noop"


def test_the_order_of_outputs_does_not_matter() -> None:
    outputs = [output("file", "/x/b"), output("file", "/x/a")]
    assert batch_name("j", outputs) == batch_name("j", outputs[::-1]) == "j.a+b"
