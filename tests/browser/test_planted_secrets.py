"""Secrets planted in OpenLineage documents: none is in what the page draws, as SVG, on its canvas or as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
from headless_chromium import new_page

from headwater_openlineage.intake.receiving import Received, receive
from headwater_schemas.events import LineageEvent
from support.graph.writing import store
from support.openlineage import run_event
from support.page import dataset, drawn
from support.planted import Shape, document, leaks, shapes

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(900)]

ON_A_PAGE = 15
NAMESPACE = "postgres://db:5432"


def events_of(shape: Shape, number: int) -> list[LineageEvent]:
    """Events of a document that reads what those of the same page read, and writes what they write."""
    sides = {
        side: [{"namespace": NAMESPACE, "name": f"shop.{side}{number // ON_A_PAGE}", "facets": {}}]
        for side in ("inputs", "outputs")
    }
    received = receive(json.dumps(document(shape, number, run_event(number, **sides))).encode(), tenant="default")
    assert isinstance(received, Received)
    return received.events


def test_pictures_of_the_page_have_none(chromium: Browser, served: str, clean_database: Driver) -> None:
    planted = shapes()
    store(clean_database, [event for number, shape in enumerate(planted) for event in events_of(shape, number)])
    jobs = httpx.get(f"{served}/api/v1/jobs?limit=100", trust_env=False, timeout=60).json()["items"]
    places: dict[str, str | bytes] = {}
    labels = 0
    with new_page(chromium) as page:
        for number in range((len(planted) - 1) // ON_A_PAGE + 1):
            job = jobs[number]["asset"]["key"]
            address = dataset(NAMESPACE, f"shop.inputs{number}", columns="1", timeline=job)
            page.goto(f"{served}/?{number}{address}")
            drawn(page)
            page.locator("#drawer svg").first.wait_for(state="attached")
            elements = page.evaluate("() => JSON.stringify(window.headwater.canvas.cy.json().elements)")
            labels += elements.count('"label"')
            places[f"canvas {number}"] = elements
            places[f"page {number}"] = page.content()
    assert labels > len(planted)
    assert all("<svg" in text for name, text in places.items() if name.startswith("page"))
    found = leaks(planted, places=places)
    assert not found, "\n".join(found)
