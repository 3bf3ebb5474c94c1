"""A manifest and a catalog as dbt 1.10 wrote them: models, a seed, a snapshot, a source, tests, an owner, an exposure.

`tests/integration/openlineage/test_dbt.py` records them.
"""

from __future__ import annotations

import json

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.problems import DeclarationError
from support.dbt_artifacts import NAMESPACE, RECORDED, declared
from support.run_rules import rewrite, updating

MANIFEST, CATALOG = ((RECORDED / f"{name}.json").read_text(encoding="utf-8") for name in ("manifest", "catalog"))


def test_what_is_declared_of_a_real_project() -> None:
    golden, found = RECORDED / "declared.json", declared(MANIFEST, CATALOG)
    if updating():
        rewrite(golden, found)
    else:
        assert found == golden.read_text(encoding="utf-8")


def test_it_has_all_that_the_project_declares() -> None:
    rows = json.loads(declared(MANIFEST, CATALOG))["declarations"]
    datasets = {row["dataset"]["name"]: row for row in rows if "dataset" in row}
    assert datasets.keys() == {
        "shop.main.customers",
        "shop.main.daily",
        "shop.main.imported",
        "shop.main.orders",
        "shop.main.raw_customers",
        "shop.main.raw_orders",
        "shop.main_history.customers_then",
        "shop.warehouse.prices",
    }
    assert datasets["shop.main.customers"]["owners"] == [{"name": "sales"}]
    (board,) = [row for row in rows if "consumer" in row]
    assert (board["consumer"], board["contact"]) == ("sales_board", "ann@example.org")
    jobs = {row["job"]["name"]: row for row in rows if "job" in row}
    assert [each["name"] for each in jobs["model.shop.imported"]["inputs"]] == ["shop.warehouse.prices"]


def test_a_mistake_in_it_names_the_node() -> None:
    manifest = json.loads(MANIFEST)
    manifest["nodes"]["model.shop.orders"]["columns"]["order_id"]["description"] = 5
    with pytest.raises(DeclarationError) as raised:
        read_file("manifest.json", json.dumps(manifest), namespace=NAMESPACE)
    (problem,) = raised.value.problems
    assert problem.pointer == "/nodes/model.shop.orders/columns/order_id/description"
    where = 'manifest.json, line 1: nodes["model.shop.orders"].columns.order_id.description'
    assert str(problem) == f"{where}: must be a text: put it into quotes"
