"""Spellings of assets, and their reading: each spelling is understood again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.assets import column_asset, dataset_asset
from headwater_analysis.resolve import _splits
from headwater_schemas.naming import spelling

if TYPE_CHECKING:
    import pytest

TEXTS = st.text("ab:/.é`", max_size=12)


def test_a_spelling_reads_as_the_fields_own_tools_write_it(subtests: pytest.Subtests) -> None:
    cases = [
        ("kafka://broker:9092", "orders", "kafka://broker:9092/orders"),
        ("s3://bucket", "raw/x", "s3://bucket/raw/x"),
        ("hdfs://name:8020", "/raw/x", "hdfs://name:8020/raw/x"),
        ("file", "/tmp/x", "file:/tmp/x"),
        ("default", "enrich", "default/enrich"),
    ]
    for namespace, name, spelled in cases:
        with subtests.test(namespace=namespace):
            assert spelling(namespace, name) == spelled
            assert (namespace, name) in set(_splits(spelled))


@given(TEXTS.filter(lambda namespace: not namespace.endswith(":")), TEXTS)
def test_whatever_is_spelled_is_among_what_is_tried(namespace: str, name: str) -> None:
    assert (namespace, name) in set(_splits(spelling(namespace, name)))


def test_what_a_catalog_calls_a_dataset(subtests: pytest.Subtests) -> None:
    cases = [
        (["db.t"], ["TABLE"], "db.t"),
        (["db.v"], ["VIEW"], "db.v"),
        (["z.t", "a.t"], ["TABLE", "TABLE"], "a.t"),
        (["orders"], ["TOPIC"], None),
        (["/w/t"], ["TABLE"], None),
        (["db.t"], [], None),
        (None, None, None),
    ]
    for links, types, table in cases:
        with subtests.test(links=links, types=types):
            properties = {"key": "k", "namespace": "file", "name": "/w/t", "symlinks": links, "symlink_types": types}
            assert dataset_asset(properties).table == table
            assert column_asset(properties, {"key": "c", "name": "x"}).table == table
