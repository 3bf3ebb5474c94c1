"""The page of `headwater serve`, in a real headless Chromium, over the demo's graph."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from headless_chromium import new_page
from playwright.sync_api import expect

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import DatasetEvent, DatasetRef, SchemaDefinition, SchemaField
from headwater_schemas.events.build import lineage_event
from support.analysis.declared_graph import declare
from support.demo_graph import demo_events
from support.graph.cases import load_case
from support.graph.writing import store
from support.page import (
    click_arrow,
    click_box,
    click_less,
    click_more,
    dataset,
    drawn,
    go,
    places,
    search,
    titles,
    without_errors,
)
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Page

FAULTS = Path(__file__).parents[1] / "recordings" / "neo4j_browser" / "faults.yaml"
KAFKA = "kafka://embedded"
DEPARTED = dataset(KAFKA, "flights.departed")
ENRICHED = dataset(KAFKA, "flights.enriched")

CHECKS_MS = patience(150) * 1_000
"""A database that has just started plans the statements of all rules first."""

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]


@pytest.fixture
def page(chromium: Browser, served: str, read_demo: Driver) -> Iterator[Page]:
    with without_errors(chromium) as opened:
        opened.goto(served)
        yield opened


def last_batch(job: str) -> int:
    """Id of a job's last micro-batch in the recording."""
    return max(
        entry.batch_id
        for event in demo_events()
        if event.interval_event is not None and event.job is not None and event.job.name == job
        for entry in event.interval_event.entries
    )


def test_search_draw_expand_and_click_an_arrow(page: Page) -> None:
    search(page, "flights.departed")
    drawn(page, 3)
    expect(page.locator("h1")).to_contain_text("flights.departed")
    where = places(page)
    assert where["flights.csv"]["x"] < where["flights.departed"]["x"] < where["flights.enriched"]["x"]
    expect(page.locator("#live")).to_contain_text("3 boxes drawn around flights.departed")

    click_more(page, "flights.enriched", "down")
    drawn(page, 6)
    where = places(page)
    assert where["flights.enriched"]["x"] < where["delays"]["x"]
    assert where["flights.enriched"]["x"] < where["flights.routes"]["x"]
    # The mark at its place takes them away; so does Back.
    click_less(page, "flights.enriched", "down")
    drawn(page, 3)
    page.go_back()
    drawn(page, 6)

    click_arrow(page, "flights.departed", "flights.enriched")
    panel = page.locator("#panel")
    expect(panel.locator(".panel-title h2")).to_have_text("flights.departed → flights.enriched")
    expect(panel.locator("h3").first).to_contain_text("flights.enrich")
    expect(panel.locator("dt", has_text="Last micro-batch").locator("+ dd")).to_contain_text(
        f"{last_batch('flights.enrich')},"
    )
    expect(panel.locator("tr", has_text="value.dep_delayvalue.dep_delay")).to_contain_text("cast")


def test_columns_and_the_path_of_one_alone(page: Page) -> None:
    go(page, DEPARTED)
    drawn(page, 3)
    page.locator("#canvas").focus()
    page.keyboard.press("c")
    page.wait_for_function("() => window.headwater.canvas.cy.edges('.mapping').length > 20")
    assert page.evaluate("() => window.headwater.canvas.cy.nodes('.column').length") > 20

    page.locator("#panel").get_by_role("tab", name="Columns").click()
    page.locator("#panel").get_by_role("button", name="value.carrier").click()
    page.locator("#canvas").focus()
    page.keyboard.press("o")
    expect(page.locator(".stage-notes")).to_contain_text("Only the path of value.carrier")
    page.wait_for_function("() => window.headwater.picture.boxes.some(box => box.title === 'delays')")
    rows = page.evaluate(
        "() => Object.fromEntries(window.headwater.picture.boxes.map("
        "box => [box.title, box.rows.map(row => row.name)]))"
    )
    assert rows["flights.departed"] == ["value.carrier"]
    assert "value.seats" not in rows["flights.enriched"]
    assert "only=1" in page.url
    page.reload()
    expect(page.locator(".stage-notes")).to_contain_text("Only the path of value.carrier")


def test_what_a_change_would_hit_keeps_its_colours_as_more_is_drawn(page: Page) -> None:
    go(page, DEPARTED)
    drawn(page, 3)
    panel = page.locator("#panel")
    panel.get_by_role("tab", name="What if").click()
    page.locator("#of").fill("value.carrier")
    page.locator("#change").select_option("REMOVED")
    page.locator("#analyze").click()
    expect(page.locator("#impact")).to_contain_text("If value.carrier of flights.departed is removed")
    expect(page.locator("#impact .tone.bad")).to_contain_text("breaking")
    hit = "() => window.headwater.picture.boxes.filter(box => box.severity).map(box => box.title).sort()"
    page.wait_for_function("() => window.headwater.picture.boxes.some(box => box.severity)")
    assert page.evaluate(hit) == ["flights.enriched"]
    expect(page.locator("#undrawn")).to_contain_text("drawn")
    click_more(page, "flights.enriched", "down")
    drawn(page, 6)
    assert {"delays", "flights.enriched"} <= set(page.evaluate(hit))
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#impact")).to_have_count(0)


def test_a_new_type_and_a_new_name_are_asked_for(page: Page) -> None:
    asked: list[dict[str, str]] = []
    page.on("request", lambda request: asked.append(json.loads(request.post_data)) if request.post_data else None)
    go(page, dataset(KAFKA, "flights.departed", "impact"))
    page.locator("#of").fill("value.dep_delay")
    page.locator("#change").select_option("RETYPED")
    expect(page.locator("#analyze")).to_be_disabled()
    page.locator("#newtype").fill("bigint")
    page.locator("#analyze").click()
    expect(page.locator("#impact")).to_contain_text("gets another type (bigint)")
    page.locator("#change").select_option("RENAMED")
    page.locator("#newname").fill("value.departure_delay")
    page.locator("#analyze").click()
    expect(page.locator("#impact")).to_contain_text("is renamed (value.departure_delay)")
    assert [(each["schema"], each.get("new_type"), each.get("new_name")) for each in asked] == [
        ("RETYPED", "bigint", None),
        ("RENAMED", None, "value.departure_delay"),
    ]


def test_all_of_it_by_keyboard(page: Page) -> None:
    search(page, "delays")
    drawn(page, 3)
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".panel-title h2")).to_have_text("flights.enriched")
    page.keyboard.press("[")
    drawn(page, 6)
    page.keyboard.press("e")
    expect(page.locator(".panel-title h2")).to_contain_text("→")
    page.keyboard.press("t")
    expect(page.locator("#drawer")).to_contain_text("micro-batches, no gaps")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_timeline_follows_the_picture(page: Page) -> None:
    go(page, f"{ENRICHED}")
    drawn(page, 7)
    click_arrow(page, "flights.departed", "flights.enriched")
    page.locator("#canvas").focus()
    page.keyboard.press("t")
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("micro-batches")
    before = page.url
    click_arrow(page, "flights.enriched", "delays")
    expect(page.locator(".panel-title h2")).to_have_text("flights.enriched → delays")
    timeline = re.compile("timeline=([^&]+)")
    assert timeline.findall(before) != timeline.findall(page.url) != []


def test_clicks_leave_the_focus_where_the_reader_is(page: Page) -> None:
    go(page, ENRICHED)
    drawn(page, 7)
    focus = "() => document.activeElement.id || document.activeElement.tagName"
    click_box(page, "flights.departed")
    expect(page.locator(".panel-title h2")).to_have_text("flights.departed")
    assert page.evaluate(focus) == "canvas"
    page.get_by_role("button", name="Start here").click()
    drawn(page, 3)
    assert page.evaluate(focus) != "BODY"
    page.get_by_role("button", name="All upstream").click()
    drawn(page, 2)
    assert page.evaluate(focus) != "BODY"
    # Nor where a click takes its own button away.
    page.locator("#panel").get_by_role("button", name="Close the panel").click()
    expect(page.locator("#panel")).to_have_count(0)
    assert page.evaluate(focus) != "BODY"
    page.get_by_role("button", name="Panel", exact=True).click()
    # Arrow keys in the panel are the panel's.
    before = places(page)
    page.locator("#panel-body").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert places(page) == before
    assert "sel=" not in page.url


def test_every_state_is_an_address(page: Page) -> None:
    go(page, DEPARTED)
    drawn(page, 3)
    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_role("button", name="One hop more").click()
    page.wait_for_function("() => window.headwater.picture.boxes.length > 3")
    click_box(page, "flights.enriched")
    expect(page.locator(".panel-title h2")).to_have_text("flights.enriched")
    address, boxes = page.url, titles(page)
    assert "flights.departed?depth=2&columns=1&sel=" in address
    page.reload()
    drawn(page)
    assert page.url == address
    assert titles(page) == boxes
    expect(page.locator(".panel-title h2")).to_have_text("flights.enriched")
    page.go_back()
    drawn(page, 3)
    page.go_forward()
    drawn(page, len(boxes))


def test_the_address_keeps_zoom_tab_and_role(page: Page) -> None:
    def seen() -> list[float]:
        zoom: float = page.evaluate("() => window.headwater.canvas.cy.zoom()")
        start = places(page)["flights.departed"]
        return [round(zoom, 2), *(round(start[axis] / 10) for axis in ("x", "y"))]

    kept = "hash => location.hash === hash"
    tab = page.locator("#panel").get_by_role("tab", name="Jobs")
    go(page, DEPARTED)
    drawn(page, 3)
    tab.click()
    page.locator("#canvas").focus()
    page.keyboard.press("+")
    page.wait_for_function("() => location.hash.includes('zoom=')")
    address, before = page.evaluate("() => location.hash"), seen()
    assert "panel=jobs" in address
    page.reload()
    drawn(page, 3)
    expect(tab).to_have_attribute("aria-selected", "true")
    assert seen() == before
    # It is the view of this picture: another one has its own, and Back brings this one.
    page.get_by_role("button", name="One hop more").click()
    page.wait_for_function("() => window.headwater.picture.boxes.length > 3")
    page.locator("#canvas").focus()
    page.keyboard.press("9")
    page.wait_for_function("hash => !location.hash.includes(hash)", arg=re.findall("zoom=[^&]*", address)[0])
    assert seen() != before
    page.go_back()
    drawn(page, 3)
    page.wait_for_function(kept, arg=address)
    assert seen() == before
    # At its usual view the address has none.
    page.get_by_role("button", name="Fit").click()
    page.wait_for_function("() => !location.hash.includes('zoom=')")

    go(page, f"{DEPARTED.partition('?')[0]}/runs")
    read = page.get_by_role("group", name="Which runs").get_by_role("button", name="read")
    read.click()
    page.wait_for_function("() => location.hash.endsWith('/runs?role=READ')")
    page.reload()
    expect(read).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(read).to_have_attribute("aria-pressed", "false")


def test_graph_and_table_have_the_same_datasets(page: Page) -> None:
    go(page, f"{DEPARTED}?depth=2")
    drawn(page)
    boxes = set(titles(page))
    page.get_by_role("button", name="Table", exact=True).click()
    rows = page.locator(".table-place tbody tr a")
    expect(rows).to_have_count(len(boxes))
    assert set(rows.all_inner_texts()) == boxes
    page.locator(".table-place th button", has_text="Readers").click()
    expect(page.locator(".table-place th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(boxes) + 1


def test_an_unknown_name_offers_the_nearest(chromium: Browser, served: str, read_demo: Driver) -> None:
    with new_page(chromium) as page:
        page.goto(f"{served}/{dataset(KAFKA, 'flights.enrichd')}")
        expect(page.get_by_role("alert")).to_contain_text("flights.enrichd")
        page.get_by_role("alert").get_by_role("link", name="flights.enriched").click()
        expect(page.locator("#content")).to_contain_text("flights.enriched")
        page.goto(f"{served}/#/no/such/page")
        expect(page.locator("h1")).to_contain_text("No such page")


def test_as_of_a_time_before_it_all_nothing_is_drawn_but_the_start(page: Page) -> None:
    go(page, f"{ENRICHED}?asof=2001-01-01T00:00:00Z")
    expect(page.get_by_role("button", name="Back to now")).to_be_visible()
    drawn(page, 1)
    expect(page.locator(".stage-notes")).to_contain_text("Nothing is recorded of its lineage up to 2001-01-01")
    page.get_by_role("button", name="Back to now").click()
    drawn(page, 7)


@pytest.fixture
def page_of_two_schemas(chromium: Browser, served: str, clean_database: Driver) -> Iterator[Page]:
    """The page over a dataset that lost the column `amount`, and got `amount_net`, on March 9."""
    orders = DatasetRef("s3://lake", "orders")
    for day, columns in ((1, ("id", "amount")), (9, ("id", "amount_net"))):
        event = lineage_event(
            DatasetEvent(dataset=orders, schema=SchemaDefinition(tuple(SchemaField(path=each) for each in columns))),
            producer="test",
            event_time=datetime(2026, 3, day, tzinfo=UTC),
        )
        store(clean_database, [event])
    with without_errors(chromium) as opened:
        opened.goto(served)
        yield opened


def test_columns_of_a_time_are_those_of_then(page_of_two_schemas: Page) -> None:
    page = page_of_two_schemas
    go(page, dataset("s3://lake", "orders", "columns"))
    content = page.locator("#content")
    expect(content).to_contain_text("amount_net")
    expect(content.locator(".schemas > li")).to_have_count(2)
    go(page, dataset("s3://lake", "orders", "columns", asof="2026-03-05T00:00:00Z"))
    expect(content).to_contain_text("Names and types as they were then")
    expect(content.get_by_role("link", name="amount", exact=True)).to_be_visible()
    expect(content.get_by_role("link", name="amount_net")).to_have_count(0)
    expect(content.locator(".schemas > li")).to_have_count(1)
    go(page, dataset("s3://lake", "orders", "columns", asof="2026-02-01T00:00:00Z"))
    expect(content).to_contain_text("No schema of this dataset is known of that time.")


def test_beside_a_picture_of_then_the_panel_says_what_is_of_now(page_of_two_schemas: Page) -> None:
    page = page_of_two_schemas
    of_now = "The picture is of 2026-03-05"
    panel = page.locator("#panel")
    go(page, dataset("s3://lake", "orders", asof="2026-03-05T00:00:00Z"))
    drawn(page, 1)
    expect(panel.locator(".of-now")).to_contain_text(of_now)
    panel.get_by_role("tab", name="Jobs").click()
    expect(panel.locator(".of-now")).to_contain_text("are of now")
    # Columns have a time: they are those of the picture.
    panel.get_by_role("tab", name="Columns").click()
    expect(panel).to_contain_text("Names and types as they were then")
    names = panel.locator("#panel-body").get_by_role("table").get_by_role("button", name=re.compile("id|amount"))
    expect(names).to_have_text(["id", "amount"])
    expect(panel.locator(".of-now")).to_have_count(0)
    # What a change hits is that of now, wherever its verdict stands.
    change = {"change": "REMOVED", "changedcol": "amount_net"}
    go(page, dataset("s3://lake", "orders", asof="2026-03-05T00:00:00Z", **change))
    expect(page.locator("#impact .of-now")).to_contain_text(of_now)
    expect(panel.locator(".of-now")).to_have_count(1)
    go(page, dataset("s3://lake", "orders", **change))
    expect(page.locator("#impact")).to_contain_text("amount_net")
    expect(panel.locator(".of-now")).to_have_count(0)
    panel.get_by_role("tab", name="Columns").click()
    expect(names).to_have_text(["id", "amount_net"])


def test_what_changed_since_is_coloured(page: Page) -> None:
    go(page, f"{ENRICHED}?since=2001-01-01T00:00:00Z")
    expect(page.locator(".stage-notes")).to_contain_text("6 datasets and 7 flows added")
    drawn(page, 7)
    changes = page.evaluate("() => window.headwater.picture.boxes.map(box => box.change)")
    assert changes.count("ADDED") == 6


def test_a_micro_batch_leads_to_where_its_records_went(page: Page) -> None:
    go(page, "#/trace?topic=flights.departed&partition=0&offset=12")
    expect(page.locator("#content")).to_contain_text("went through")
    drawn(page)
    assert {"flights.departed", "flights.enriched", "delays"} <= set(titles(page))
    page.locator("#content").get_by_role("button", name="Table", exact=True).click()
    expect(page.locator("#content table").first).to_contain_text("flights.enrich")


def test_a_run_shows_what_it_read_and_wrote(page: Page) -> None:
    run = page.evaluate("async () => (await (await fetch('api/v1/jobs/flights.enrich/runs?limit=1')).json()).items[0]")
    go(page, f"#/run/{run['run_id']}")
    content = page.locator("#content")
    for tab, text in (("inputs", "flights.departed"), ("outputs", "flights.enriched"), ("batches", "0")):
        content.get_by_role("navigation").locator(f"a[href$='/{tab}']").click()
        expect(content.locator("table, .use").filter(has_text=text).first).to_be_visible()


def test_bad_records_are_drawn_and_listed(page: Page) -> None:
    go(page, "#/blast?topic=flights.departed&partition=0&offset=0&end=5&view=graph")
    content = page.locator("#content")
    expect(content.get_by_role("region", name="Tainted", exact=True)).to_contain_text("flights.enriched")
    page.wait_for_function("() => window.headwater.picture?.boxes.length >= 3")
    assert {"flights.departed", "flights.enriched", "delays"} <= set(titles(page))


def test_what_differs_from_a_time_is_listed(page: Page) -> None:
    go(page, "#/diff?before=2001-01-01T00:00:00Z")
    content = page.locator("#content")
    expect(content).to_contain_text("From 2001-01-01")
    for name in ("flights.departed", "flights.enriched", "delays"):
        expect(content).to_contain_text(name)


def test_a_path_between_two_datasets(page: Page) -> None:
    go(page, f"{DEPARTED}?to=delays")
    drawn(page)
    assert set(titles(page)) == {"flights.departed", "flights.enriched", "delays"}


def test_a_path_to_an_unknown_name_offers_the_nearest_as_its_end(
    chromium: Browser, served: str, read_demo: Driver
) -> None:
    with new_page(chromium) as page:
        page.goto(f"{served}/{DEPARTED}?to=flights.enrichd")
        page.get_by_role("alert").get_by_role("button", name="flights.enriched").first.click()
        drawn(page)
        assert set(titles(page)) == {"flights.departed", "flights.enriched"}


def test_times_are_of_the_zone_of_the_reader_with_utc_beside_them(
    chromium: Browser, served: str, read_demo: Driver
) -> None:
    with without_errors(chromium, zone="Pacific/Auckland") as page:
        page.goto(f"{served}/{ENRICHED}?asof=2001-01-01T18:30:00Z")
        bar = page.get_by_role("region", name="As of")
        expect(bar).to_contain_text("As of 2001-01-02 07:30:00 2001-01-01 18:30:00 UTC")
        expect(page.locator(".stage-notes")).to_contain_text("up to 2001-01-02 07:30:00")
        page.get_by_role("button", name="As of 2001-01-02 07:30").click()
        field = page.get_by_label("Time, in your time zone")
        expect(field).to_have_value("2001-01-02T07:30")
        # On one date, the date is written once.
        field.fill("2001-01-02T14:00")
        page.get_by_role("button", name="Apply").click()
        expect(bar).to_contain_text("As of 2001-01-02 14:00:00 01:00:00 UTC")
        assert "asof=2001-01-02T01:00:00Z" in page.url


@pytest.mark.nightly
def test_light_and_dark(page: Page) -> None:
    go(page, ENRICHED)
    drawn(page, 7)
    box = "() => window.headwater.canvas.cy.nodes('.name').first().style('color')"
    html = page.locator("html")
    light_text = page.evaluate(box)
    page.emulate_media(color_scheme="dark")
    expect(html).to_have_class("dark")
    page.wait_for_function(f"light => ({box})() !== light", arg=light_text)
    page.reload()
    drawn(page, 7)
    expect(html).to_have_class("dark")


@pytest.mark.nightly
def test_what_breaks_the_rules(chromium: Browser, served: str, demo_graph: Driver) -> None:
    declared = (
        "datasets: [{name: flights.departed, namespace: 'kafka://embedded', owners: ['team:departures'], "
        "columns: {value.tailnum: {sensitivity: PII}}}]\nconsumers: [{name: board, reads: [x]}]"
    )
    declare(demo_graph, declared)
    with without_errors(chromium) as page:
        page.goto(f"{served}/#/checks")
        expect(page.locator("#content")).to_contain_text("Nobody is declared as its owner.", timeout=CHECKS_MS)
        page.locator("#content").get_by_role("link", name="flights.enriched").first.click()
        expect(page.locator("h1")).to_contain_text("flights.enriched")
        # The owners of a dataset are the same in its panel and in the table.
        page.goto(f"{served}/{DEPARTED}")
        expect(page.locator("#panel")).to_contain_text("team:departures")
        expect(page.locator("#panel")).to_contain_text("pii")
        page.get_by_role("button", name="Table", exact=True).click()
        expect(page.locator(".table-place tr", has_text="flights.departed")).to_contain_text("team:departures")


def test_owners_of_the_job_are_named_where_a_dataset_has_none(page: Page) -> None:
    go(page, ENRICHED)
    expect(page.locator("#panel")).to_contain_text("team:flights")
    expect(page.locator("#panel")).to_contain_text("of the jobs that write it")


def test_gaps_are_red(chromium: Browser, served: str, clean_database: Driver) -> None:
    case = load_case(FAULTS)
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(case.events))
    job = next(event.job for event in case.events if event.interval_event is not None and event.job is not None)
    with without_errors(chromium) as page:
        page.goto(f"{served}/#/job/{job.namespace}/{job.name}/timeline")
        expect(page.locator("rect.gap").first).to_be_visible()
        expect(page.locator("#content")).to_contain_text("missing")


def test_a_name_is_shown_as_it_is_written(chromium: Browser, served: str, read_demo: Driver) -> None:
    """Characters that would turn a name around, or hide a part of it, are escapes wherever the name stands."""
    with without_errors(chromium) as page:
        page.goto(served)
        answer = page.evaluate("async () => (await fetch('api/v1/graph?asset=flights.csv&depth=1')).json()")
        details = page.evaluate("async () => (await fetch('api/v1/assets/flights.csv')).json()")
        hostile = {"name": "invoice\u202excod.exe", "title": "invoice\u202excod.exe", "namespace": "s3://\u200blake"}
        answer["start"] |= hostile
        answer["nodes"][0]["asset"] |= hostile
        details["dataset"] |= hostile
        page.route("**/api/v1/graph?*", lambda route: route.fulfill(json=answer))
        page.route("**/api/v1/assets/*", lambda route: route.fulfill(json=details))
        go(page, dataset("s3://\u200blake", "invoice\u202excod.exe"))
        drawn(page)
        expect(page.locator("h1")).to_contain_text(r"invoice\u202excod.exe")
        expect(page.locator(".panel-title h2")).to_have_text(r"invoice\u202excod.exe")
        expect(page.locator("#panel")).to_contain_text(r"s3://\u200blake")
        expect(page).to_have_title(r"invoice\u202excod.exe · Headwater")
        labels = page.evaluate("() => window.headwater.canvas.cy.nodes('.name').map(n => n.data('label'))")
        assert r"invoice\u202excod.exe" in labels
        assert page.locator(".panel-title h2").evaluate("h2 => getComputedStyle(h2).unicodeBidi") == "isolate"
