"""Names that a person gives assets find their nodes, whatever characters they have."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.reader import Reader
from headwater_analysis.resolve import resolve_asset, resolve_column, resolve_dataset, resolve_job
from headwater_graph.keys import column_key, dataset_key
from headwater_graph.words import dataset_title
from headwater_schemas.events import DatasetEvent, DatasetRef, build
from support.analysis.dense_events import DATASETS, FIELDS, JOBS, dense_events
from support.graph.colliding import PRODUCER, START
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

TWICE = (DatasetRef("kafka://a", "twice"), DatasetRef("kafka://b", "twice"))
VIEWS = (
    DatasetRef("hive://metastore:9083", "default.va"),
    DatasetRef("hive://metastore:9083", "default.vb"),
    DatasetRef("hive://metastore:9083", "Shop.vb"),
    DatasetRef("hive://metastore:9083", "default.va.parts"),
    DatasetRef("file", "/lake/default.vc"),
)
A_HASH = DatasetRef("s3://bucket", "0123456789abcdef" * 2)


@pytest.fixture
def graph(neo4j_driver: Driver, reader: Reader) -> Reader:
    events = dense_events(random.Random(7))
    for dataset in (*DATASETS, *TWICE, *VIEWS, A_HASH):
        events.append(build.lineage_event(DatasetEvent(dataset=dataset), producer=PRODUCER, event_time=START))
    hold(neo4j_driver, "names of all sorts", events)
    return reader


def test_datasets_by_key_spelling_name_and_title(graph: Reader) -> None:
    for namespace, name in ((each.namespace, each.name) for each in (*DATASETS, A_HASH)):
        key = dataset_key("default", namespace, name)
        spelled = graph.read(partial(resolve_dataset, text=key)).asset.spelling
        for text in (key, spelled, name, dataset_title(name)):
            found = graph.read(partial(resolve_dataset, text=text)).asset
            assert (found.key, found.namespace, found.name) == (key, namespace, name)


def test_jobs_and_columns(graph: Reader) -> None:
    for job in JOBS:
        for text in (job.name, f"{job.namespace}/{job.name}"):
            assert graph.read(partial(resolve_job, text=text)).asset.name == job.name
    for field in FIELDS:
        found = graph.read(partial(resolve_column, dataset="orders", column=field)).asset
        assert (found.name, found.column) == ("orders", field)


def test_several_of_that_name(graph: Reader) -> None:
    with pytest.raises(AmbiguousError) as caught:
        graph.read(lambda tx: resolve_dataset(tx, "twice"))
    assert set(caught.value.candidates) == {"kafka://a/twice", "kafka://b/twice"}
    for text in caught.value.candidates:
        assert graph.read(partial(resolve_dataset, text=text)).asset.spelling == text


def test_the_last_part_of_a_dotted_name(graph: Reader) -> None:
    assert graph.read(lambda tx: resolve_dataset(tx, "va")).asset.name == "default.va"
    with pytest.raises(AmbiguousError) as caught:
        graph.read(lambda tx: resolve_dataset(tx, "vb"))
    assert set(caught.value.candidates) == {"hive://metastore:9083/default.vb", "hive://metastore:9083/Shop.vb"}
    for text in ("VA", "default", "va.parts", "vc", "v"):
        with pytest.raises(NotFoundError):
            graph.read(partial(resolve_dataset, text=text))
    with pytest.raises(NotFoundError):
        graph.read(lambda tx: resolve_dataset(tx, "va", whole=True))


def test_nothing_of_that_name(graph: Reader) -> None:
    with pytest.raises(NotFoundError) as caught:
        graph.read(lambda tx: resolve_dataset(tx, "ordres"))
    assert caught.value.nearest[0] == "kafka://b:9092/orders"
    for text in (
        "",
        "/",
        "`",
        "'; MATCH (n) DETACH DELETE n //",
        "\\",
        "*",
        "a AND b",
        "~",
        "\0",
        "x" * 20_000,
        "/" * 9_999,
    ):
        with pytest.raises(NotFoundError):
            graph.read(partial(resolve_dataset, text=text))
    with pytest.raises(NotFoundError, match="no column"):
        graph.read(lambda tx: resolve_column(tx, "orders", "idd"))


def test_capitals_do_not_matter_where_only_one_has_the_name(graph: Reader) -> None:
    for text in ("ORDERS", "Kafka://B:9092/Orders", "kafka://b:9092/ORDERS"):
        assert graph.read(partial(resolve_dataset, text=text)).asset.spelling == "kafka://b:9092/orders"
    for job in JOBS:
        assert graph.read(partial(resolve_job, text=job.name.upper())).asset.name == job.name
    found = graph.read(lambda tx: resolve_column(tx, "orders", "ID")).asset
    assert (found.name, found.column) == ("orders", "id")
    with pytest.raises(AmbiguousError):
        graph.read(lambda tx: resolve_dataset(tx, "TWICE"))


def test_a_column_as_answers_spell_it_or_by_key(graph: Reader) -> None:
    for text in (
        "kafka://b:9092/orders#id",
        "orders#id",
        column_key("default", dataset_key("default", "kafka://b:9092", "orders"), "id"),
    ):
        found = graph.read(partial(resolve_asset, text=text)).asset
        assert (found.name, found.column) == ("orders", "id")
    assert graph.read(partial(resolve_asset, text="orders")).asset.column is None
    for text, names in (
        ("orders#idd", "id"),
        ("orrders#id", "kafka://b:9092/orders"),
        ("#", None),
        ("#" * 9_999, None),
    ):
        with pytest.raises(NotFoundError) as raised:
            graph.read(partial(resolve_asset, text=text))
        assert names is None or names in raised.value.nearest


def test_another_tenants_are_not_found(graph: Reader) -> None:
    key = dataset_key("default", "kafka://b:9092", "orders")
    graph.tenant = "other"
    for text in (key, "orders", "kafka://b:9092/orders"):
        with pytest.raises(NotFoundError):
            graph.read(partial(resolve_dataset, text=text))
