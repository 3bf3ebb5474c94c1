"""Incidents on the page, in a real headless Chromium: the list, one with what it reached, and marks on its datasets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from headwater_analysis.declaring.files import read_file
from headwater_analysis.incidents.actions import PRODUCER
from headwater_analysis.incidents.questions import incident
from headwater_analysis.incidents.recorded import reached_event
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from headwater_schemas.events import DatasetRef, IncidentAction, IncidentEvent, IncidentScope, OffsetRange
from headwater_schemas.events.build import lineage_event
from support.demo_graph import DEMO_INCIDENT, declare_demo, open_demo
from support.graph.writing import store
from support.page import dataset, drawn, go, violations, without_errors

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Locator, Page

    from support.stack import StackUnderTest

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

DEPARTED = dataset("kafka://embedded", "flights.departed")
CRITICAL = """\
set: more
namespace: kafka://embedded
consumers:
  - {name: alarms, reads: [flights.enriched], criticality: medium}
  - {name: billing, reads: [flights.enriched], criticality: tier-0}
"""
RECORDED_AT = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
def page(chromium: Browser, served: str, demo_graph: Driver, stack: StackUnderTest) -> Iterator[Page]:
    """The page over the demo's graph, in which an incident is open whose reach was recorded."""
    declare_demo(demo_graph)
    open_demo(demo_graph)
    found = incident(Reader(demo_graph, target_of(stack)), DEMO_INCIDENT)
    body = reached_event(DEMO_INCIDENT, found.asked_reach, by="ann")
    store(demo_graph, [lineage_event(body, producer=PRODUCER, event_time=RECORDED_AT)])
    with without_errors(chromium, width=1440) as opened:
        opened.goto(served)
        yield opened


def target_of(stack: StackUnderTest) -> Neo4jTarget:
    return Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")


def section(page: Page, heading: str) -> Locator:
    return page.locator("section.part").filter(has=page.get_by_role("heading", name=heading, exact=True))


def test_an_open_incident_from_home_to_what_it_reached(page: Page) -> None:
    wrong = page.locator("section.part", has_text="Open incidents")
    expect(wrong.locator(".total")).to_have_text("1")
    wrong.get_by_role("link", name="Negative delays").click()
    expect(page.locator("h1")).to_have_text("Negative delays")
    assert page.url.endswith(f"#/incident/{DEMO_INCIDENT}")
    view = page.locator(".view.rec")
    expect(view.locator(".rec-answer")).to_contain_text("datasets tainted through")
    expect(section(page, "Tainted")).to_contain_text("flights.enriched")
    expect(section(page, "What is bad")).to_contain_text("offsets 0:100..120")
    expect(section(page, "History 3 actions")).to_contain_text("Looking at the source.")
    expect(view).to_contain_text("Nothing has changed since.")
    expect(section(page, "Not known to be reached")).to_contain_text("No known job read the bad data in")
    expect(section(page, "Can't be known")).to_have_count(0)
    page.get_by_role("navigation").get_by_role("link", name="Incidents").first.click()
    expect(page.get_by_role("table")).to_contain_text(DEMO_INCIDENT)


def test_consumers_have_their_criticality_the_worst_first(page: Page, demo_graph: Driver) -> None:
    store(demo_graph, read_file("more.yaml", CRITICAL).events(1, tenant="default", event_time=RECORDED_AT))
    go(page, f"#/incident/{DEMO_INCIDENT}")
    consumers = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Criticality")).first
    rows = consumers.get_by_role("row")
    for number, shown in ((1, ("billing", "tier-0")), (2, ("alarms", "medium"))):
        for text in shown:
            expect(rows.nth(number)).to_contain_text(text)


def test_the_drawn_blast_has_the_start_and_every_dataset_that_it_reached(
    page: Page, demo_graph: Driver, stack: StackUnderTest
) -> None:
    reach = incident(Reader(demo_graph, target_of(stack)), DEMO_INCIDENT).asked_reach
    go(page, f"#/incident/{DEMO_INCIDENT}?view=graph")
    drawn(page)
    boxes = page.evaluate("() => window.headwater.picture.boxes")
    assert {box["whole"] for box in boxes if box["start"]} == {"kafka://embedded/flights.departed"}
    tainted = {box["whole"] for box in boxes if box["severity"] == "TAINTED"}
    assert tainted == {each.dataset.spelling for each in reach.blast.tainted}
    assert len(tainted) > 3


def test_parts_that_are_bad_since_it_was_recorded(page: Page, demo_graph: Driver) -> None:
    part = IncidentScope(
        dataset=DatasetRef("kafka://embedded", "flights.departed"), offsets=(OffsetRange(0, 120, 125),)
    )
    body = IncidentEvent(incident=DEMO_INCIDENT, action=IncidentAction.SCOPE_CHANGED, by="ann", scope=(part,))
    store(demo_graph, [lineage_event(body, producer=PRODUCER, event_time=RECORDED_AT + timedelta(minutes=1))])
    go(page, f"#/incident/{DEMO_INCIDENT}")
    changed = section(page, "Changed since it was recorded").locator("li", has_text="flights.departed:")
    expect(changed).to_contain_text("other parts of it")
    expect(changed).to_contain_text("new: 0:120..125")


@pytest.mark.nightly
def test_its_plan_is_asked_for_once_it_is_opened(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/plan" in request.url else None)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(page, f"#/incident/{DEMO_INCIDENT}")
    expect(section(page, "Tainted")).to_be_visible()
    assert asked == []
    page.get_by_role("button", name="Show the plan").click()
    plan = page.locator("section.part").filter(has=page.get_by_role("button", name="Hide the plan"))
    expect(plan.get_by_role("heading", level=2)).to_contain_text("Plan 15 steps")
    assert page.url.endswith("?plan=1")
    steps = plan.locator(".steps > li")
    expect(steps).to_have_count(15)
    for shown in ("correct", "offsets 0:100..120", "The bad data was written by"):
        expect(steps.filter(has_text="Correct dataset kafka://embedded/flights.departed")).to_contain_text(shown)
    for shown in ("reprocess", "after 3", "0:100..120", "Checkpoint", "startingOffsets"):
        expect(steps.filter(has_text="Reprocess enrich: batch 1")).to_contain_text(shown)
    steps.last.get_by_role("button", name="Copy").first.click()
    page.wait_for_function(
        "async command => (await navigator.clipboard.readText()) === command",
        arg=f"headwater incident refresh {DEMO_INCIDENT}",
    )
    page.reload()
    expect(steps).to_have_count(15)
    page.get_by_role("button", name="Hide the plan").click()
    expect(steps).to_have_count(0)


def test_datasets_that_it_reached_are_marked(page: Page) -> None:
    go(page, DEPARTED)
    drawn(page, 3)
    expect(page.locator(".view-head")).to_contain_text("Negative delays (SEV2,")
    tainted = page.evaluate("() => window.headwater.picture.boxes.filter(box => box.tainted).map(box => box.title)")
    assert sorted(tainted) == ["flights.departed", "flights.enriched"]
    assert page.evaluate("() => window.headwater.canvas.cy.nodes('.dot.alarm').length") == 2
    go(page, dataset("kafka://embedded", "flights.departed", view="table"))
    table = page.get_by_role("table").first
    expect(table.get_by_role("row", name="flights.enriched")).to_contain_text(DEMO_INCIDENT)
    table.get_by_role("link", name=DEMO_INCIDENT).first.click()
    expect(page.locator("h1")).to_have_text("Negative delays")


@pytest.mark.nightly
def test_incidents_are_accessible_at_every_width(page: Page) -> None:
    for width in (390, 820, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        for address in ("#/incidents", f"#/incident/{DEMO_INCIDENT}?plan=1"):
            go(page, address)
            expect(page.get_by_role("table").first).to_be_visible()
            page.wait_for_load_state("networkidle")
            assert violations(page) == [], f"{address} at {width} px"
