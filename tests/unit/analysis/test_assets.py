"""How assets are spelled, and that what is spelled so is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_consumers.analysis.assets import spelling
from headwater_consumers.analysis.resolve import _splits

TEXTS = st.text("ab:/.é`", max_size=12)


@pytest.mark.parametrize(
    ("namespace", "name", "spelled"),
    [
        ("kafka://broker:9092", "orders", "kafka://broker:9092/orders"),
        ("s3://bucket", "raw/x", "s3://bucket/raw/x"),
        ("hdfs://name:8020", "/raw/x", "hdfs://name:8020/raw/x"),
        ("file", "/tmp/x", "file:/tmp/x"),
        ("default", "enrich", "default/enrich"),
    ],
)
def test_a_spelling_reads_as_the_fields_own_tools_write_it(namespace: str, name: str, spelled: str) -> None:
    assert spelling(namespace, name) == spelled
    assert (namespace, name) in set(_splits(spelled))


@given(TEXTS.filter(lambda namespace: not namespace.endswith(":")), TEXTS)
def test_whatever_is_spelled_is_among_what_is_tried(namespace: str, name: str) -> None:
    assert (namespace, name) in set(_splits(spelling(namespace, name)))
