"""The page of `headwater serve`, in a real headless Chromium, over the demo's graph."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from headless_chromium import open_page
from playwright.sync_api import expect

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from support.analysis.declared_graph import declare
from support.demo_graph import demo_events
from support.graph.cases import load_case
from support.waiting import eventually

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Page

FAULTS = Path(__file__).parents[1] / "recordings" / "neo4j_browser" / "faults.yaml"

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]


@pytest.fixture
def page(chromium: str, served: str, demo_graph: Driver) -> Iterator[Page]:
    """The page, which must not report a single error of its own, such as what its security policy refuses."""
    with open_page(chromium) as opened:
        errors: list[str] = []
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        opened.goto(served)
        yield opened
        assert errors == []


def drawn(page: Page, datasets: int) -> None:
    page.locator(f'#canvas[data-drawn="{datasets}"]').wait_for(state="attached")


def places(page: Page) -> dict[str, dict[str, float]]:
    """Each dataset's place on the screen, by title."""
    found: dict[str, dict[str, float]] = page.evaluate(
        "() => { const {store, canvas} = window.headwater; return Object.fromEntries([...store.datasets.values()].map("
        "d => [d.asset.title, canvas.cy.getElementById(d.asset.key).renderedPosition()])) }"
    )
    return found


def last_batch(job: str) -> int:
    """Id of a job's last micro-batch in the recording."""
    return max(
        entry.batch_id
        for event in demo_events()
        if event.interval_event is not None and event.job is not None and event.job.name == job
        for entry in event.interval_event.entries
    )


def search(page: Page, text: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")


def click_flow(page: Page, source: str, target: str) -> None:
    """A real click of the mouse, on the middle of the arrow as it is drawn."""
    middle: dict[str, float] = page.evaluate(
        """([source, target]) => {
            const {store, canvas} = window.headwater
            const key = title => [...store.datasets.values()].find(d => d.asset.title === title).asset.key
            const edge = canvas.cy.getElementById(`${key(source)}>${key(target)}`)
            const {x, y} = edge.midpoint(), pan = canvas.cy.pan(), zoom = canvas.cy.zoom()
            const box = canvas.cy.container().getBoundingClientRect()
            return {x: box.x + x * zoom + pan.x, y: box.y + y * zoom + pan.y}
        }""",
        [source, target],
    )
    page.mouse.click(middle["x"], middle["y"])


def test_search_draw_expand_and_click_an_arrow(page: Page) -> None:
    expect(page.get_by_text("10 datasets known")).to_be_visible()
    search(page, "flights.departed")
    drawn(page, 3)
    where = places(page)
    assert where["flights.csv"]["x"] < where["flights.departed"]["x"] < where["flights.enriched"]["x"]

    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel h2")).to_have_text("flights.enriched")
    page.get_by_role("button", name="Downstream +3").click()
    drawn(page, 6)
    where = places(page)
    assert where["flights.enriched"]["x"] < where["delays"]["x"]
    assert where["flights.enriched"]["x"] < where["flights.routes"]["x"]

    page.keyboard.press("0")
    click_flow(page, "flights.departed", "flights.enriched")
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_have_text("flights.departed → flights.enriched")
    expect(panel.locator("h3").first).to_contain_text("flights.enrich")
    expect(panel).to_contain_text(f"Last interval: batch {last_batch('flights.enrich')}")
    expect(panel.locator("tr", has_text="value.dep_delayvalue.dep_delay")).to_contain_text("cast")


def test_columns_and_what_a_change_would_hit(page: Page) -> None:
    search(page, "flights.departed")
    drawn(page, 3)
    page.keyboard.press("c")
    expect(page.locator("#columns")).to_have_attribute("aria-pressed", "true")
    rows = "() => window.headwater.canvas.cy.nodes('.column').length"
    expect(page.locator("#live")).to_have_text("columns shown")
    assert page.evaluate(rows) > 40
    assert page.evaluate("() => window.headwater.canvas.cy.edges('.mapping').length") > 30

    page.locator("#of").select_option("value.carrier")
    page.locator("#change").select_option("REMOVED")
    page.locator("#analyze").click()
    expect(page.locator("#impact")).to_contain_text("If value.carrier of flights.departed is removed")
    expect(page.locator("#impact .tone.bad")).to_contain_text("breaking")
    coloured = "() => window.headwater.canvas.cy.nodes('.column.tone-bad').map(n => n.data('column')).sort()"
    assert "value.carrier" in page.evaluate(coloured)
    assert "value.seats" not in page.evaluate(coloured)
    page.get_by_role("button", name="Clear colours").click()
    expect(page.locator("#impact")).to_have_count(0)


def test_all_of_it_by_keyboard(page: Page) -> None:
    search(page, "delays")
    drawn(page, 3)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel h2")).to_have_text("flights.enriched")
    page.keyboard.press("[")
    drawn(page, 6)
    page.keyboard.press("e")
    expect(page.locator("#panel h2")).to_contain_text("→")
    page.keyboard.press("t")
    expect(page.locator("#drawer")).to_contain_text("micro-batches, no gaps")
    page.locator("#drawer rect").first.focus()
    expect(page.locator("#drawer .details")).to_contain_text("Batch 0")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()


@pytest.mark.nightly
def test_what_breaks_the_rules(page: Page, demo_graph: Driver) -> None:
    declared = (
        "datasets: [{name: flights.departed, namespace: 'kafka://embedded', owners: ['team:departures'], "
        "columns: {value.tailnum: {sensitivity: PII}}}]\nconsumers: [{name: board, reads: [x]}]"
    )
    declare(demo_graph, declared)
    page.get_by_role("button", name="Checks").click()
    expect(page.locator("#panel h3").first).to_be_visible()
    expect(page.locator("#panel")).to_contain_text("consumers-without-owner")
    expect(page.locator("#panel")).to_contain_text("Nobody is declared as its owner.")
    page.locator("#panel .findings button", has_text="flights.enriched").first.click()
    expect(page.locator("#panel h2")).to_have_text("flights.enriched")
    drawn(page, 7)
    # What is declared of a dataset is on its panel, and on the card that one begins with.
    search(page, "flights.departed")
    expect(page.locator("#panel")).to_contain_text("team:departures")
    expect(page.locator("#panel")).to_contain_text("PII")
    page.goto(page.url.partition("?")[0].partition("#")[0])
    expect(page.locator(".card", has_text="flights.departed")).to_contain_text("PII, team:departures")


@pytest.mark.nightly
def test_light_and_dark(page: Page) -> None:
    search(page, "enriched")
    drawn(page, 7)
    box = "() => window.headwater.canvas.cy.nodes('.name').first().style('color')"
    html = page.locator("html")
    expect(html).not_to_have_class("dark")
    light_text = page.evaluate(box)
    page.emulate_media(color_scheme="dark")
    expect(html).to_have_class("dark")
    page.emulate_media(color_scheme="light")
    expect(html).not_to_have_class("dark")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.locator("#theme")).to_contain_text("Dark")
    expect(html).to_have_class("dark")
    assert page.evaluate(box) != light_text
    page.reload()
    drawn(page, 7)
    expect(html).to_have_class("dark")


def test_an_unknown_name_offers_the_nearest(chromium: str, served: str, demo_graph: Driver) -> None:
    with open_page(chromium) as page:
        page.goto(f"{served}/#asset=flights.enrichd")
        expect(page.get_by_role("alert")).to_contain_text("flights.enrichd")
        page.get_by_role("alert").get_by_role("button", name="flights.enriched").click()
        drawn(page, 7)


def test_a_link_to_nothing_leaves_nothing_of_what_was_drawn(chromium: str, served: str, demo_graph: Driver) -> None:
    with open_page(chromium) as page:
        page.goto(f"{served}/#asset=flights.departed")
        drawn(page, 3)
        page.evaluate("() => { location.hash = 'asset=no.such.dataset' }")
        expect(page.get_by_role("alert")).to_contain_text("no.such.dataset")
        drawn(page, 0)
        assert page.evaluate("() => window.headwater.canvas.cy.elements().length") == 0
        expect(page.locator("#panel")).to_be_hidden()
        expect(page).to_have_title("Headwater")
        page.evaluate("() => { location.hash = 'asset=flights.departed' }")
        drawn(page, 3)


def test_arrows_of_datasets_end_at_heads_not_at_columns(page: Page) -> None:
    search(page, "flights.enriched")
    drawn(page, 7)
    page.keyboard.press("c")
    expect(page.locator("#live")).to_have_text("columns shown")
    below: list[str] = page.evaluate(
        """() => {
            const cy = window.headwater.canvas.cy
            const low = (node, {y}) => y > node.position().y - node.data('height') / 2 + 52
            return cy.edges('.flow').filter(edge => edge.source() !== edge.target()
                && (low(edge.source(), edge.sourceEndpoint()) || low(edge.target(), edge.targetEndpoint())))
                .map(edge => edge.id())
        }"""
    )
    assert below == []


def test_enter_before_the_answer_means_what_was_typed(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("flights.d", delay=200)
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Backspace")
    page.keyboard.type("enriched")
    page.keyboard.press("Enter")
    drawn(page, 7)
    expect(page.locator("#panel")).to_contain_text("flights.enriched")


@pytest.mark.nightly
def test_owners_of_the_job_are_named_where_a_dataset_has_none(page: Page) -> None:
    search(page, "flights.enriched")
    drawn(page, 7)
    expect(page.locator("#panel")).to_contain_text("team:flights, by the jobs that write it")


def listed(name: str, namespace: str) -> dict[str, Any]:
    key = hashlib.blake2b(f"{namespace} {name}".encode(), digest_size=16).hexdigest()
    asset = {"kind": "DATASET", "key": key, "namespace": namespace, "name": name, "column": None, "title": name}
    return {"asset": asset | {"type": "TABLE"}, "match": "FILTERS", "owners": [], "tags": [], "gone": False}


@pytest.mark.nightly
def test_cards_tell_datasets_of_one_name_apart_and_all_are_counted(
    chromium: str, served: str, clean_database: Driver
) -> None:
    one, other = (
        "s3://a-rather-long-bucket-name-of-billing-eu-west",
        "s3://a-rather-long-bucket-name-of-billing-us-west",
    )
    one, other = one.replace("eu", "eu-eu-eu-and-more"), other.replace("us", "us-us-us-and-more")
    hits = [listed("billing_events_150", one), listed("billing_events_150", other), listed("orders", one)]
    with open_page(chromium) as page:
        page.route("**/api/v1/search?*", lambda route: route.fulfill(json={"items": hits, "total": 1_000}))
        page.route("**/api/v1/assets?*", lambda route: route.fulfill(json={"items": hits[:1], "total": 1_160}))
        page.goto(served)
        expect(page.get_by_text("1,160 datasets known")).to_be_visible()
        cards = page.locator(".card").all_inner_texts()
        assert len(set(cards)) == 3, cards
        assert other in cards[1]
        page.keyboard.press("/")
        page.keyboard.type("billing")
        page.get_by_role("option").nth(1).wait_for()
        options = page.get_by_role("option").all_inner_texts()
        assert len(set(options)) == 3, options


def test_gaps_are_red(chromium: str, served: str, clean_database: Driver) -> None:
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(load_case(FAULTS).events))
    with open_page(chromium) as page:
        page.goto(served)
        page.keyboard.press("/")
        page.keyboard.type("enrich")
        page.get_by_role("option").filter(has_text="job").first.click()
        drawer = page.locator("#drawer")
        expect(drawer).to_contain_text("2 batches missing")
        gap = drawer.locator("rect.gap").first
        assert gap.evaluate("rect => getComputedStyle(rect).fill") == "rgb(207, 34, 46)"
        gap.hover()
        expect(drawer.locator(".details")).to_contain_text("skipped0:10..12")


def thousand() -> dict[str, Any]:
    """A graph as /graph answers: layers of 40 datasets, each fed by three of the layer before."""

    def asset(kind: str, key: str, name: str) -> dict[str, Any]:
        return {
            "kind": kind,
            "key": key,
            "namespace": "s3://lake",
            "name": name,
            "column": None,
            "title": name,
            "type": "TABLE",
        }

    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for n in range(1000):
        nodes.append(
            {
                "asset": asset("DATASET", f"{n:032x}", f"dataset_{n}"),
                "hops": n // 40,
                "gone": False,
                "owners": [],
                "tags": [],
            }
            | {"criticality": None, "classification": None, "more_upstream": 0, "more_downstream": 0, "columns": []}
            | {"columns_total": 0}
        )
        for source in {(n - 40) // 40 * 40 + (n * 7 + k * 11) % 40 for k in range(3)} if n >= 40 else ():
            via: dict[str, Any] = {
                "job": asset("JOB", f"{n:032x}", f"job_{n}"),
                "first_seen": None,
                "last_seen": None,
                "observed": True,
            }
            via |= {"declared": False, "transformations": [], "incomplete": None}
            edges.append(
                {
                    "key": f"{source}>{n}",
                    "source": f"{source:032x}",
                    "target": f"{n:032x}",
                    "via": [via],
                    "via_total": 1,
                }
                | {"columns": [], "columns_total": 0}
            )
    metadata = {
        "depth": None,
        "direction": "BOTH",
        "as_of": None,
        "columns": "NONE",
        "nodes_total": 1234,
        "truncated": True,
    }
    return {"start": nodes[0]["asset"], "nodes": nodes, "edges": edges, "metadata": metadata}


@pytest.mark.nightly
def test_a_name_is_shown_as_it_is_written(chromium: str, served: str, clean_database: Driver) -> None:
    """Characters that would turn a name around, or hide a part of it, are escapes wherever the name stands."""
    answer = thousand()
    [answer["start"], *_] = [node["asset"] for node in answer["nodes"]]
    answer["start"] |= {
        "name": "invoice\u202excod.exe",
        "title": "invoice\u202excod.exe",
        "namespace": "s3://\u200blake",
    }
    answer |= {"nodes": answer["nodes"][:1], "edges": []}
    with open_page(chromium) as page:
        page.route("**/api/v1/graph?*", lambda route: route.fulfill(json=answer))
        page.goto(f"{served}/#asset=invoice")
        drawn(page, 1)
        heading = page.locator("#panel h2")
        expect(heading).to_have_text(r"invoice\u202excod.exe")
        expect(page.locator("#panel")).to_contain_text(r"s3://\u200blake")
        expect(page).to_have_title(r"invoice\u202excod.exe · Headwater")
        labels = "() => window.headwater.canvas.cy.nodes('.name, .sub').map(n => n.data('label'))"
        assert page.evaluate(labels) == [r"invoice\u202excod.exe", r"table · s3://\u200blake"]
        assert heading.evaluate("h2 => getComputedStyle(h2).unicodeBidi") == "isolate"


def draw_thousand(page: Page, served: str) -> None:
    page.route("**/api/v1/graph?*", lambda route: route.fulfill(json=thousand()))
    page.goto(f"{served}/#asset=dataset_0")
    drawn(page, 1000)
    assert "234 datasets more: too many for one answer." in page.get_by_role("alert").inner_text()


def zoom(page: Page) -> None:
    page.mouse.move(400, 400)
    for _ in range(5):
        page.mouse.wheel(0, -120)


def drag(page: Page) -> None:
    """Drag the canvas at a place below the datasets."""
    page.mouse.move(400, 830)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(400 + step * 8, 830 - step * 3)
    page.mouse.up()


@pytest.mark.nightly
def test_a_thousand_datasets_can_be_moved(chromium: str, served: str, clean_database: Driver) -> None:
    view = "() => { const {cy} = window.headwater.canvas; return {zoom: cy.zoom(), ...cy.pan()} }"
    with open_page(chromium) as page:
        draw_thousand(page, served)
        before = page.evaluate(view)
        zoom(page)
        eventually(lambda: page.evaluate(view)["zoom"] > before["zoom"], expecting="it is drawn larger")
        before = page.evaluate(view)
        drag(page)
        eventually(lambda: page.evaluate(view) != before, expecting="it is drawn elsewhere")


@pytest.mark.nightly
def test_a_thousand_datasets_are_moved_in_a_second_a_frame(
    chromium: str, served: str, clean_database: Driver, capsys: pytest.CaptureFixture[str]
) -> None:
    """Frame times are reported, and hardly judged: they are the machine's, and this one has no graphics card."""
    with open_page(chromium) as page:
        began = time.monotonic()
        draw_thousand(page, served)
        drawn_seconds = time.monotonic() - began
        page.evaluate(
            """() => {
                window.took = []
                let last = performance.now()
                const frame = now => { window.took.push(now - last); last = now; requestAnimationFrame(frame) }
                requestAnimationFrame(frame)
            }"""
        )
        zoom(page)
        drag(page)
        took: list[float] = page.evaluate("() => window.took")
        took.sort()
    median, most = took[len(took) // 2], took[len(took) * 95 // 100]
    measured = f"{median:.0f} ms, 95 % within {most:.0f} ms, drawn after {drawn_seconds:.1f} s"
    with capsys.disabled():
        sys.stdout.write(f"\n1,000 datasets, {len(thousand()['edges']):,} arrows: a frame takes {measured}\n")
    assert median < 1000
