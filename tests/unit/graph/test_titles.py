"""A dataset's caption is short where its name is a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_graph.words import dataset_title

if TYPE_CHECKING:
    import pytest


def test_the_title_of_a_dataset(subtests: pytest.Subtests) -> None:
    cases = [
        ("/data/flights/daily_report", "daily_report"),
        ("warehouse/orders/", "orders"),
        ("flights.departed", "flights.departed"),
        ("shop.public.orders", "shop.public.orders"),
        ("/", "/"),
        ("", ""),
    ]
    for name, title in cases:
        with subtests.test(name=name):
            assert dataset_title(name) == title
