"""One process of dry runs for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.dry_runs import DryRuns

TABLES = {
    "shop.orders": "id BIGINT, customer INT, amount INT, price DOUBLE, state STRING, day DATE, at TIMESTAMP",
    "shop.customers": "customer INT, country STRING, segment STRING, born INT",
    "shop.items": "id BIGINT, sku STRING, quantity INT, amount INT",
    "/lake/items": "id BIGINT, sku STRING, quantity INT",
    "lake.shop.orders": "id BIGINT, customer BIGINT",
}


@pytest.fixture(scope="session")
def dry_runs() -> Iterator[DryRuns]:
    with DryRuns(TABLES) as runs:
        yield runs
