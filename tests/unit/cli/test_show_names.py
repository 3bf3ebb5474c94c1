"""Catalog name of a dataset beside its path."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from headwater.commands import check, impact
from headwater.show.names import asset_text, dataset_text
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.checks import CheckedRule, Checks, Finding
from headwater_analysis.checks.findings import Subject
from headwater_analysis.checks.rules import named
from headwater_analysis.impact import ImpactChange, SchemaChange
from support.analysis.impacts import impact_of

COLUMN = Asset(AssetKind.COLUMN, "k", "s3://lake", "orders", "id", table="shop.orders")
DATASET = Asset(AssetKind.DATASET, "k", "s3://lake", "orders", table="shop.orders")


def printed(view: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=200, highlight=False).print(view)
    return out.getvalue()


def test_a_dataset() -> None:
    assert dataset_text(COLUMN) == dataset_text(DATASET) == "s3://lake/orders (shop.orders)"
    assert named(DATASET) == dataset_text(DATASET)
    assert asset_text(COLUMN).plain == "s3://lake/orders#id (shop.orders)"
    assert dataset_text(Asset(AssetKind.DATASET, "k", "n", "d")) == "n/d"


def test_the_tree_of_an_impact() -> None:
    change = ImpactChange("s3://lake/orders", "id", schema=SchemaChange.REMOVED)
    shown = printed(impact.view(impact_of(COLUMN, Asset(AssetKind.JOB, "j", "n", "job"), change), why=False))
    assert "s3://lake/orders#id (shop.orders)\n" in shown
    assert "└── s3://lake/orders (shop.orders)" in shown


def test_a_finding() -> None:
    subject = Subject("DATASET", "k", "s3://lake/orders", (), "shop.orders")
    rule = CheckedRule("r", "t", "f", 1, 0, (Finding("i", subject, "m", None),), None)
    found = Checks((rule,), 1, 0)
    assert "s3://lake/orders (shop.orders)" in printed(check.view(found))
    assert 'name="s3://lake/orders (shop.orders)"' in check.junit_report(found)
