"""The page over an estate as large companies have: a hub of 400 readers, long names, wide tables, a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from headwater_graph.keys import consumer_key, job_key
from support.estate import (
    CHAIN,
    CONSUMER,
    HUB,
    HUB_COLUMNS,
    HUB_TITLE,
    INCIDENT,
    LAKE,
    MID,
    READERS,
    WAREHOUSE,
    WIDE,
    estate_events,
    reader,
)
from support.gate import in_gate
from support.graph.writing import hold
from support.openlineage import run_id
from support.page import (
    axe_finds_nothing,
    click_box,
    click_less,
    click_more,
    dataset,
    drawn,
    go,
    hover_box,
    places,
    titles,
    violations,
    without_errors,
)

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

MOST_BOXES = 60
IN_SIGHT = """key => {
    const {cy} = window.headwater.canvas, box = cy.getElementById(key).renderedBoundingBox({includeOverlays: false})
    return !cy.animated() && box.x1 >= 0 && box.y1 >= 0 && box.x2 <= cy.width() && box.y2 <= cy.height()
}"""
HUB_ADDRESS = dataset(LAKE, HUB)
ROUTES = {
    "home": "#/",
    "search": "#/search?q=customers",
    "hub": HUB_ADDRESS,
    "table": dataset(LAKE, HUB, view="table"),
    "columns": dataset(LAKE, HUB, "columns"),
    "runs": dataset(LAKE, HUB, "runs"),
    "quality": dataset(LAKE, HUB, "quality"),
    "impact": dataset(LAKE, HUB, "impact", change="REMOVED", changedcol="amount_net"),
    "versions": dataset(LAKE, HUB, "versions"),
    "column": f"#/column/{dataset(LAKE, HUB).removeprefix('#/dataset/')}/amount_net",
    "job": "#/job/airflow-prod/silver.customers.build_master",
    "trace": "#/trace",
    "blast": "#/blast",
    "diff": "#/diff",
    "consumer": f"#/consumer/{quote(consumer_key('default', CONSUMER), safe=':')}",
    "incident": f"#/incident/{INCIDENT}",
    "unknown": "#/nothing",
}
JOB = ("airflow-prod", "silver.customers.build_master")
THEN = "2026-11-20T03:00:00Z"
ROUTES_AT_NIGHT = {
    "checks": "#/checks",
    "incidents": "#/incidents",
    "run": f"#/run/{run_id(10_001)}",
    "outputs of a run": f"#/run/{run_id(10_001)}/outputs",
    "runs of a job": f"#/job/{'/'.join(JOB)}/runs",
    "timeline of a job": f"#/job/{'/'.join(JOB)}/timeline",
    "bad run": f"#/blast?run={run_id(10_000)}",
    "changes": "#/diff?before=2026-11-20T06:00:00Z",
    "since": dataset(LAKE, HUB, since=THEN),
    "since, as a table": dataset(LAKE, HUB, since=THEN, view="table"),
    "as of": dataset(LAKE, HUB, asof=THEN, panel="columns"),
    "timeline": dataset(LAKE, HUB, view="graph", timeline=job_key("default", *JOB)),
    "path": dataset(LAKE, HUB, view="graph", only="1", col="amount_net"),
    "path, as a table": dataset(LAKE, HUB, view="table", only="1", col="amount_net"),
}
WIDTHS = {390: 844, 820: 1180, 1440: 900}


@pytest.fixture
def estate(neo4j_driver: Driver) -> Driver:
    return hold(neo4j_driver, "the estate", estate_events(), at_once=400)


@pytest.fixture
def page(chromium: Browser, served: str, estate: Driver) -> Iterator[Page]:
    with without_errors(chromium, width=1440) as opened:
        opened.goto(f"{served}/{HUB_ADDRESS}")
        drawn(opened)
        yield opened


def test_a_hub_is_drawn_with_its_most_important_readers_and_the_rest_is_counted(page: Page) -> None:
    drawn(page, 15)
    expect(page.locator(".stage-notes")).to_contain_text("14 of 402 datasets drawn")
    assert page.evaluate("() => window.headwater.canvas.cy.zoom() * 12") >= 10 - 0.01, "the smallest text is 10 px high"
    assert f"{READERS - 12} more" in titles(page)
    # All of them at once are too small to read: the table is offered.
    expect(page.get_by_role("button", name="As a table")).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="As a table").click()
    expect(page.locator(".table-place")).to_contain_text("402 datasets")
    page.get_by_role("button", name="Graph", exact=True).click()
    page.get_by_role("button", name="Fit").click()
    drawn(page, 15)
    # Its readers: all of them, counted, by facets, each of them one click from being drawn.
    click_box(page, f"{READERS - 12} more")
    expect(page.locator("#panel")).to_contain_text("400 readers")
    page.get_by_label("Filter by name").fill(reader(399).rpartition(".")[2])
    expect(page.locator("#panel")).to_contain_text("1 reader")
    page.get_by_role("button", name="Draw ").click()
    drawn(page, 16)
    assert f"{READERS - 13} more" in titles(page)
    page.go_back()
    drawn(page, 15)


def test_numbers_are_those_of_the_answer(page: Page) -> None:
    expect(page.locator("#panel").get_by_role("tab", name="Jobs")).to_contain_text("401")
    page.locator("#panel").get_by_role("tab", name="Jobs").click()
    expect(page.locator("#panel-body")).to_contain_text("300 more aren't listed")
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#live")).to_have_text(f"{HUB_TITLE}, table, 1 input, 400 outputs")


def test_never_more_boxes_than_a_person_overlooks(page: Page) -> None:
    go(page, dataset(LAKE, HUB, depth="all", direction="DOWNSTREAM"))
    expect(page.locator(".stage-notes")).to_contain_text("of 401 datasets drawn")
    for _ in range(6):
        before = len(titles(page))
        page.locator("#panel").get_by_role("button", name="Downstream +").click()
        page.wait_for_function("before => window.headwater.picture.boxes.length !== before", arg=before)
        if len(titles(page)) >= MOST_BOXES - 1:
            break
    assert len(titles(page)) <= MOST_BOXES
    go(page, dataset(LAKE, HUB, view="table", depth="all", direction="DOWNSTREAM"))
    expect(page.locator(".table-place")).to_contain_text("401 datasets")
    drawn_rows = page.locator(".table-place tbody tr:not([aria-hidden])").count()
    assert drawn_rows < 200, "rows that are out of sight aren't drawn"
    page.get_by_label("Filter: Lineage").fill(reader(7).rpartition(".")[2])
    expect(page.locator(".table-place")).to_contain_text("1 of 401 rows")


def test_the_whole_upstream_is_one_click_away(page: Page) -> None:
    go(page, dataset(WAREHOUSE, MID))
    drawn(page, 2)
    page.get_by_role("button", name="All upstream").click()
    drawn(page, CHAIN + 2)
    page.go_back()
    drawn(page, 2)


def test_a_number_at_a_corner_is_exact_and_undone_by_back(page: Page) -> None:
    go(page, dataset(WAREHOUSE, reader(0)))
    drawn(page, 2)
    labels = page.evaluate("() => window.headwater.canvas.cy.nodes('.more').map(node => node.data('label'))")
    assert "+399" in labels
    before = places(page)[HUB_TITLE]
    click_more(page, HUB_TITLE, "down")
    drawn(page, 14)
    assert places(page)[HUB_TITLE] == pytest.approx(before, abs=400), "it stays near where it was clicked"
    click_more(page, HUB_TITLE, "up")
    drawn(page, 15)
    page.go_back()
    drawn(page, 14)


def test_a_side_of_which_more_is_left_can_be_closed_by_a_click(page: Page) -> None:
    go(page, dataset(WAREHOUSE, reader(0)))
    drawn(page, 2)
    first = titles(page)
    click_more(page, HUB_TITLE, "down")
    drawn(page, 14)
    marks = "() => window.headwater.canvas.cy.nodes('.more').map(node => node.data('label'))"
    assert {"+387", "−"} <= set(page.evaluate(marks))
    # More of it once more, and then none of it.
    click_more(page, HUB_TITLE, "down")
    page.wait_for_function("() => window.headwater.picture.boxes.length > 14")
    drawn(page, len(titles(page)))
    click_less(page, HUB_TITLE, "down")
    drawn(page, 2)
    assert titles(page) == first
    assert "+399" in page.evaluate(marks)
    assert "open=" not in page.url


def test_what_is_expanded_comes_into_sight(page: Page) -> None:
    go(page, dataset(WAREHOUSE, MID))
    drawn(page, 2)
    before, now = MID, f"sessions_step_{CHAIN - 1}"
    for number in reversed(range(CHAIN - 1)):
        before, now = now, f"sessions_step_{number}"
        click_more(page, before, "up")
        drawn(page, 2 + CHAIN - 1 - number)
        for title in (before, now):
            page.wait_for_function(IN_SIGHT, arg=titles(page)[title])
        # A reader who moved the picture doesn't lose it either.
        if number == CHAIN // 2:
            page.get_by_role("button", name="Zoom in").click()


def test_a_name_that_is_cut_is_whole_in_its_tooltip(page: Page) -> None:
    labels = page.evaluate("() => window.headwater.canvas.cy.nodes('.name').map(name => name.data('label'))")
    assert len(set(labels)) == len(labels), "no two names are cut alike"
    shown = {title for title, key in titles(page).items() if page.evaluate(IN_SIGHT, key)}
    cut = next(title for title in sorted(shown) if title.startswith("BALANCES") and title not in labels)
    canvas = page.locator("#canvas")
    for title, name in ((HUB_TITLE, HUB), (cut, cut)):
        hover_box(page, title)
        expect(canvas).to_have_attribute("title", re.compile(rf"/(.+\.)?{re.escape(name)}$"))
    canvas.hover(position={"x": 8, "y": 8})
    expect(canvas).to_have_attribute("title", "")


def test_an_overview_moves_a_picture_that_is_not_all_in_sight(page: Page) -> None:
    overview = page.get_by_role("img", name="Overview of the picture")
    page.locator("#canvas").focus()
    page.keyboard.press("9")
    expect(overview).to_have_count(0)
    for _ in range(3):
        page.keyboard.press("+")
    expect(overview.locator("rect:not(.view)")).to_have_count(15)
    # The legend has room beside it and above the buttons on a narrow screen, too.
    page.set_viewport_size({"width": 1024, "height": 768})
    page.wait_for_function("""() => {
        const place = each => document.querySelector(each).getBoundingClientRect()
        const legend = place('.legend')
        return ['.minimap', '.stage-zoom'].map(place).every(other =>
            legend.right <= other.left || legend.bottom <= other.top || legend.top >= other.bottom)
    }""")
    page.set_viewport_size({"width": 1440, "height": 900})
    hub = titles(page)[HUB_TITLE]
    middle = "key => window.headwater.canvas.cy.getElementById(key).renderedPosition()"
    overview.click(position={"x": 4, "y": 56})
    assert page.evaluate(middle, hub)["x"] > 0
    page.wait_for_function(f"key => !({IN_SIGHT})(key)", arg=hub)
    start = overview.locator("rect.start").bounding_box()
    assert start is not None
    page.mouse.click(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.wait_for_function(IN_SIGHT, arg=hub)
    page.keyboard.press("9")
    expect(overview).to_have_count(0)


def test_nothing_moves_by_itself_where_the_reader_wants_less_motion(page: Page) -> None:
    page.evaluate("""() => {
        const {cy} = window.headwater.canvas, animate = cy.animate.bind(cy)
        window.moved = 0
        cy.animate = (...given) => { window.moved += 1; return animate(...given) }
    }""")
    wishes: tuple[Literal["no-preference", "reduce"], ...] = ("no-preference", "reduce")
    for wish in wishes:
        page.emulate_media(reduced_motion=wish)
        page.locator("#canvas").focus()
        page.keyboard.press("Escape")
        page.keyboard.press("0")
        for _ in range(5):
            page.keyboard.press("+")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".panel-title h2")).not_to_have_text(HUB_TITLE)
        chosen = page.evaluate("() => window.headwater.canvas.cy.nodes('.box.chosen').id()")
        page.wait_for_function(IN_SIGHT, arg=chosen)
        assert page.evaluate("() => window.moved") == 1, wish
        page.keyboard.press("Escape")


def test_impact_counts_the_hits_that_are_not_drawn(page: Page) -> None:
    with page.expect_response("**/impact/analyze?*") as asked:
        go(page, dataset(LAKE, HUB, change="REMOVED", changedcol="amount_net"))
    expect(page.locator("#impact")).to_contain_text("If amount_net of")
    hit = {(item["asset"]["namespace"], item["asset"]["name"]) for item in asked.value.json()["items"]}
    boxes = page.evaluate("() => window.headwater.picture.boxes.flatMap(box => box.asset ?? [])")
    undrawn = len(hit - {(box["namespace"], box["name"]) for box in boxes})
    assert 12 < undrawn < len(hit)
    expect(page.locator("#undrawn")).to_contain_text(f"{undrawn} datasets that are hit aren't drawn")
    page.locator("#undrawn").get_by_role("link").click()
    expect(page.locator("h1")).to_contain_text(HUB_TITLE)
    table = page.get_by_role("region", name="Owners of what is hit")
    expect(table).to_contain_text("team:customers")


def test_columns_beyond_the_first_are_reached(page: Page) -> None:
    go(page, dataset(LAKE, HUB, columns="1"))
    page.wait_for_function("() => window.headwater.picture.boxes.find(box => box.start).rows.length === 40")
    last = HUB_COLUMNS[-1]
    page.locator("#panel").get_by_role("tab", name="Columns").click()
    page.locator("#panel-body").get_by_label("Filter: Columns").fill(last)
    page.locator("#panel-body").get_by_role("button", name=last).click()
    rows = "() => window.headwater.picture.boxes.find(box => box.start).rows.map(row => row.name)"
    page.wait_for_function(f"name => ({rows})().includes(name)", arg=last)
    go(page, dataset(LAKE, WIDE, "columns"))
    expect(page.locator("#content")).to_contain_text("300")
    # Of a column that is chosen in the picture, the panel shows the row, though it draws only rows in sight.
    go(page, dataset(LAKE, WIDE, col="feature_250"))
    page.locator("#panel").get_by_role("tab", name="Columns").click()
    expect(page.locator("#panel-body").get_by_role("button", name="feature_250")).to_be_in_viewport()


def test_a_search_finds_the_hub_first_and_shows_names_in_full_width(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("customers_mas")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("customers_master")
    for each in page.get_by_role("option").all():
        box = each.bounding_box()
        assert box is not None
        assert box["width"] > 250
    page.keyboard.press("Escape")
    go(page, "#/search?q=team:logistics")
    expect(page.locator("#content")).to_contain_text("hits")
    expect(page.locator("#content table").first).to_contain_text("team:logistics")


def test_long_names_are_never_stacked_letters(chromium: Browser, served: str, estate: Driver) -> None:
    narrow = """() => [...document.querySelectorAll('main *')].filter(element =>
        [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim().length > 12)
        && element.getClientRects().length && element.clientWidth > 0 && element.clientWidth < 56
        && getComputedStyle(element).whiteSpace !== 'nowrap').map(element => element.outerHTML.slice(0, 120))"""
    wider = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with without_errors(chromium, width=390, height=844) as page:
        for name in ("search", "table", "impact", "column", "job", "home"):
            page.goto(f"{served}/{ROUTES[name]}")
            expect(page.locator("#content h1, #content h2").first).to_be_visible()
            page.wait_for_load_state("networkidle")
            assert page.evaluate(narrow) == [], name
            assert page.evaluate(wider) <= 0, name


def test_on_a_phone_the_table_comes_first_and_the_panel_is_a_sheet(
    chromium: Browser, served: str, estate: Driver
) -> None:
    with without_errors(chromium, width=390, height=844) as page:
        page.goto(f"{served}/{HUB_ADDRESS}")
        expect(page.locator(".table-place")).to_contain_text("402 datasets")
        expect(page.locator("#panel")).to_have_count(0)
        page.locator(".table-place tbody tr").nth(2).click(position={"x": 5, "y": 5})
        sheet = page.locator("#panel").bounding_box()
        assert sheet is not None
        assert sheet["width"] == 390
        page.get_by_role("button", name="Close the panel").click()
        # Nothing that a desk shows is out of reach: the panel of the start, and columns that the table leaves out.
        page.get_by_role("button", name="Panel", exact=True).click()
        expect(page.locator("#panel")).to_contain_text(HUB_TITLE)
        page.get_by_role("button", name="Close the panel").click()
        expect(page.locator("#panel")).to_have_count(0)
        page.get_by_role("button", name="All columns").click()
        expect(page.locator(".table-place th", has_text="Criticality")).to_have_count(1)
        page.get_by_role("button", name="Graph", exact=True).click()
        drawn(page, 15)
        field = page.get_by_role("combobox").bounding_box()
        assert field is not None
        assert field["width"] > 330


def test_opening_a_hub_asks_little_and_nothing_twice(chromium: Browser, served: str, estate: Driver) -> None:
    with without_errors(chromium, width=1440) as page:
        asked: list[str] = []
        sizes: list[int] = []

        def note(request: Any) -> None:
            if "/api/" in request.url:
                asked.append(urlsplit(request.url).path + "?" + urlsplit(request.url).query)
                sizes.append(request.sizes()["responseBodySize"])

        page.on("requestfinished", note)
        page.goto(f"{served}/{HUB_ADDRESS}")
        drawn(page, 15)
        page.wait_for_load_state("networkidle")
        assert len(asked) == len(set(asked))
        assert sum(sizes) < 150_000, dict(zip(asked, sizes, strict=True))


def test_what_was_chosen_meanwhile_is_not_replaced_by_a_late_answer(page: Page) -> None:
    held: list[Any] = []
    page.route("**/api/v1/checks?*", lambda route: held.append(route))  # noqa: PLW0108  a function that Playwright can wrap
    go(page, "#/checks")
    expect(page.locator("h1")).to_have_text("Checks")
    go(page, HUB_ADDRESS)
    drawn(page, 15)
    assert len(held) == 1
    with page.expect_event("requestfinished", lambda request: "/api/v1/checks?" in request.url):
        held[0].fulfill(json={"rules": [], "total": 0, "exempted": 0, "unused": [], "unchecked": []})
    # By the second frame after it, whatever follows from the answer is there.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("h1")).to_contain_text(HUB_TITLE)
    drawn(page, 15)


def test_an_empty_graph_follows_what_is_started_meanwhile(
    chromium: Browser, served: str, clean_database: Driver
) -> None:
    """Every three seconds the page asks again, and shows how Kafka, Neo4j, consumer and events are by now."""
    away: dict[str, Any] = {"graph_reachable": False, "kafka_reachable": False}
    up = {"graph_reachable": True, "kafka_reachable": True, "prepared": False, "consumer": "NEVER", "events": 0}
    silent = up | {"prepared": True, "consumer": "SILENT", "events": 7}
    steps = [
        (away, "Neo4j does not answer", ["unreachable", "unreachable", "unknown", "unknown"], 0),
        (up, "Nothing is in the graph yet", ["reachable", "reachable, not prepared", "No consumer", "0"], 1),
        (silent, "Nothing is in the graph yet", ["reachable", "reachable, prepared", "is silent", "7"], 1),
        (
            silent | {"consumer": "REPORTING", "events": 1_234},
            "Nothing is",
            ["", "", "The consumer reports", "1,234"],
            2,
        ),
        (silent | {"consumer": "REPORTING", "datasets": 2, "jobs": 1}, "Now", [], 0),
    ]
    with without_errors(chromium, width=1440) as page:
        now: dict[str, Any] = {}
        page.route("**/api/v1/status", lambda route: route.fulfill(json=now))
        page.clock.install()
        nothing = dict.fromkeys(("prepared", "consumer", "events", "behind", "last_event", "datasets", "jobs"))
        content = page.locator("#content")
        for number, (status, title, words, done) in enumerate(steps):
            now.clear()
            now.update(
                nothing | {"graph": {"last_event": None, "behind": None, "stale": None}, "filtered": True} | status
            )
            if number:
                page.clock.fast_forward(3_000)
            else:
                page.goto(served)
            expect(content.locator("h1")).to_contain_text(title)
            parts = ("Kafka", "Neo4j", "Consumer", "Events seen")
            for part, word in zip(parts, words, strict=bool(words)):
                value = content.locator("dt", has_text=part).locator("+ dd")
                expect(value).to_contain_text(word, ignore_case=True)
            expect(content.locator(".steps > li.done")).to_have_count(done)


def test_an_empty_graph_says_what_to_do_next(chromium: Browser, served: str, clean_database: Driver) -> None:
    with without_errors(chromium, width=1440) as page:
        page.goto(served)
        content = page.locator("#content")
        for command in ("headwater up", "headwater consume", "headwater demo"):
            expect(content).to_contain_text(command)
        for part in ("Kafka", "Neo4j", "consumer"):
            expect(content).to_contain_text(part, ignore_case=True)


def test_axe_finds_nothing_at_the_first_start(chromium: Browser, served: str, clean_database: Driver) -> None:
    for width, height in WIDTHS.items():
        with without_errors(chromium, width=width, height=height) as page:
            page.goto(served)
            expect(page.locator("#content")).to_contain_text("headwater up")
            page.wait_for_load_state("networkidle")
            assert violations(page) == [], f"{width} px"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("width", "colors"),
    [
        (390, "dark"),
        (820, "light"),
        (1440, "dark"),
        pytest.param(390, "light", marks=pytest.mark.nightly),
        pytest.param(820, "dark", marks=pytest.mark.nightly),
        pytest.param(1440, "light", marks=pytest.mark.nightly),
    ],
)
def test_axe_finds_nothing(chromium: Browser, served: str, estate: Driver, width: int, colors: str) -> None:
    # Of the routes each width has a third in the gate, and all of them at night; the hub is in each.
    routes = ROUTES if in_gate() else ROUTES | ROUTES_AT_NIGHT
    names = list(ROUTES)[list(WIDTHS).index(width) :: len(WIDTHS)] if in_gate() else list(routes)
    with without_errors(chromium, width=width, height=WIDTHS[width], colors=colors) as page:
        addresses = {name: routes[name] for name in ["hub", *names]}
        axe_finds_nothing(page, served, addresses, f"{width} px, {colors}")
