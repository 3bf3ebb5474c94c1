"""Facets of one use, such as a table format's report: kept word for word in what is known of a run, and listed."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from headwater.show.batches import uses
from headwater_analysis.facets import Facet
from headwater_analysis.runs.from_rows import use

DATASET = {"key": "0" * 32, "namespace": "s3://lake", "name": "orders"}
REPORT = '{"snapshotId": 7}'


def printed(*parts: Mapping[str, object]) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(uses([use(DATASET, part) for part in parts]))
    return capture.get()


def test_facets_of_a_use_are_listed() -> None:
    part = {"facet_names": ["icebergScanReport", "gone"], "facets": [REPORT, ""]}
    assert Facet("icebergScanReport", REPORT) in use(DATASET, part).facets
    text = printed(part, {})
    assert "icebergScanReport" in text
    assert "gone" not in text


def test_there_is_no_column_for_none() -> None:
    assert "facets" not in printed({})
