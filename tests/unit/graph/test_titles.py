"""A dataset's caption is short where its name is a path."""

from __future__ import annotations

import pytest

from headwater_consumers.graph.words import dataset_title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("/data/flights/daily_report", "daily_report"),
        ("warehouse/orders/", "orders"),
        ("flights.departed", "flights.departed"),
        ("shop.public.orders", "shop.public.orders"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_the_title_of_a_dataset(name: str, title: str) -> None:
    assert dataset_title(name) == title
