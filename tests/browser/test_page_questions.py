"""The questions of docs/analysis/page-questions.md, asked of the page by the clicks and keys that it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from headwater_analysis.declaring.files import read_file
from support.demo_graph import DECLARED, demo_events
from support.graph.writing import hold
from support.page import asked, axe_finds_nothing, dataset, drawn, go, search, titles, without_errors

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

KAFKA = "kafka://embedded"
DEPARTED = dataset(KAFKA, "flights.departed")
TITLES = ("Owners", "Criticality", "Last run", "Checks", "Severity")
AT_FIRST = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def declared_demo(neo4j_driver: Driver) -> Driver:
    """The demo's graph with what the example declares of it."""
    declarations = read_file(DECLARED.name, DECLARED.read_text(encoding="utf-8"))
    events = [*demo_events(), *declarations.events(1, tenant="default", event_time=AT_FIRST)]
    return hold(neo4j_driver, "the demo with declarations", events)


@pytest.fixture
def page(chromium: Browser, served: str, declared_demo: Driver) -> Iterator[Page]:
    with without_errors(chromium) as opened:
        opened.goto(served)
        yield opened


def section(page: Page, heading: str) -> Locator:
    return page.locator("section.part").filter(has=page.get_by_role("heading", name=heading))


def column(table: Locator, title: str) -> list[str]:
    return table.locator(f"td[data-title='{title}']").all_inner_texts()


def test_who_must_be_told_before_a_column_of_the_most_used_dataset_is_dropped(page: Page) -> None:
    section(page, "Used most").get_by_role("table").get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("flights.enriched")
    page.get_by_role("tab", name="What if").click()
    page.locator("#of").fill("value.dep_delay")
    page.locator("#change").select_option("is removed")
    page.get_by_role("button", name="Show impact").press("Enter")
    page.locator("#impact").get_by_role("link", name="See all hits").click()
    told = section(page, "Whom to tell")
    expect(told.get_by_role("table")).to_have_count(2)
    consumers, owners = told.get_by_role("table").all()
    assert column(consumers, "Consumer") == ["delay board", "delay model", "punctuality report"]
    assert column(consumers, "Contact") == ["#operations", "–", "finance@example.com"]
    assert column(consumers, "Notice") == ["14 days", "–", "–"]
    assert column(owners, "Owner") == ["team:flights", "team:operations"]
    # On a phone, whom to reach needs no scrolling to the side.
    page.set_viewport_size({"width": 390, "height": 844})
    for each in (*consumers.get_by_role("cell").all(), *owners.get_by_role("cell").all()):
        place = each.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= 390


@pytest.mark.parametrize(("days_later", "boxes"), [(8, 7), (0, 1)])
def test_how_a_table_looked_last_monday(
    chromium: Browser, served: str, declared_demo: Driver, days_later: int, boxes: int
) -> None:
    """Eight days after the demo ran, the last Monday was after it; at its end, before it."""
    last = max(event.event_time for event in demo_events())
    with without_errors(chromium) as page:
        page.clock.set_fixed_time(last + timedelta(days=days_later))
        page.goto(served)
        search(page, "flights.enriched")
        drawn(page, 7)
        page.get_by_role("button", name="As of now").click()
        page.get_by_role("button", name="Last Monday 00:00").click()
        expect(page.get_by_role("region", name="As of")).to_contain_text(re.compile(r"\d{4}-\d\d-\d\d 00:00:00"))
        drawn(page, boxes)
        notes = page.locator(".stage-notes")
        if boxes == 1:
            expect(notes).to_contain_text("Nothing is recorded of its lineage up to")
        page.get_by_role("navigation").get_by_role("link", name="Columns").click()
        expect(page.locator("#content")).to_contain_text(
            "value.dep_delay" if boxes > 1 else "No schema of this dataset"
        )


def test_which_batch_wrote_a_file_and_where_its_records_are_from(page: Page) -> None:
    went = asked(page, "traces?topic=flights.departed&partition=0&offset=12&depth=all&limit=1000")
    file = next(file for hop in went["hops"] for part in hop["outputs"] for file in part["files"] if "/delays/" in file)
    page.get_by_role("navigation").get_by_role("link", name="Trace records").click()
    page.get_by_label("File", exact=True).check()
    page.get_by_label("Where is it from").check()
    page.get_by_role("textbox", name="Path").fill(file)
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_contain_text("delays 1 file came from")
    drawn(page)
    page.locator("#content").get_by_role("button", name="Table", exact=True).click()
    hops = page.locator(".rec-hops").get_by_role("table")
    expect(hops).to_be_visible()
    [first, *others] = column(hops, "Run or batches")
    came = asked(page, f"traces?path={quote(file, safe='')}&direction=BACKWARD&depth=all&limit=1000")
    assert first.startswith(f"delays batch {came['hops'][0]['step']['first_batch']}\n")
    assert any("enrich batch" in each for each in others)
    assert "flights.csv" in " ".join(column(hops, "Read"))
    expect(section(page, "Ends")).to_contain_text("flights.csv")


def test_picture_and_table_state_the_same_of_each_dataset(page: Page) -> None:
    """Owners and criticality by the panel, severity, last run and checks by the marks of boxes."""
    go(page, f"{DEPARTED}?depth=all")
    drawn(page)
    panel = page.locator("#panel")
    people: dict[str, tuple[list[str], str]] = {}
    for title, key in titles(page).items():
        go(page, f"{DEPARTED}?depth=all&sel={key}")
        expect(panel.locator(".panel-title h2")).to_have_text(title)
        expect(panel.get_by_text("Declared consumers")).to_be_visible()
        criticality = panel.locator("dt", has_text="Criticality").locator("+ dd").all_inner_texts()
        owners = panel.locator("dt", has_text="Owners").locator("+ dd").get_by_role("link").all_inner_texts()
        people[title] = (sorted(owners) or ["nobody is named"], "".join(criticality) or "–")
    go(page, f"{DEPARTED}?depth=all&change=REMOVED&changedcol=value.carrier")
    page.wait_for_function("() => window.headwater.picture.boxes.some(box => box.severity)")
    marks: dict[str, dict[str, str | None]] = page.evaluate(
        "() => Object.fromEntries(window.headwater.picture.boxes.map(box => [box.title, box]))"
    )
    page.locator("#canvas").focus()
    page.keyboard.press("v")
    rows = page.locator(".table-place tbody tr")
    expect(rows).to_have_count(len(marks))
    signs = {"complete": "good", "passed": "good", "fail": "bad", "failed": "bad", "–": None}
    for row in rows.all():
        title = row.get_by_role("link").first.inner_text()
        cell = {each: row.locator(f"td[data-title='{each}']").inner_text() for each in TITLES}
        box = marks[title]
        assert (sorted(cell["Owners"].split(", ")), cell["Criticality"]) == people[title], title
        assert signs[cell["Last run"].split()[0]] == box["lastRun"]
        assert signs[cell["Checks"]] == box["quality"]
        assert cell["Severity"] == (box["severity"] or "not hit").lower()
    assert {criticality for _, criticality in people.values()} == {"tier-1", "–"}
    page.keyboard.press("v")
    drawn(page, len(marks))
    # A column has the owners of its dataset.
    report = asked(page, "assets/daily_report")["dataset"]
    go(page, f"{dataset(report['namespace'], report['name'])}/mean_delay".replace("#/dataset", "#/column"))
    named = page.locator("#content dt", has_text="Owners").locator("+ dd")
    expect(named).to_have_text(people["daily_report"][0][0])


@pytest.mark.nightly
@pytest.mark.parametrize("colors", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_axe_finds_nothing_in_answers_about_records(
    chromium: Browser, served: str, declared_demo: Driver, width: int, colors: str
) -> None:
    """Micro-batches and files: the estate has none."""
    with without_errors(chromium, width=width, colors=colors) as page:
        page.goto(served)
        went = asked(page, "traces?topic=flights.departed&partition=0&offset=12&depth=all&limit=1000")
        file = next(file for hop in went["hops"] for part in hop["outputs"] for file in part["files"])
        of_file = f"#/trace?direction=BACKWARD&path={quote(file, safe='')}"
        job = next(hop["step"]["job"]["key"] for hop in went["hops"])
        run = next(hop["step"]["runs"][0]["run_id"] for hop in went["hops"])
        addresses = {
            "origin of a file": of_file,
            "origin of a file, drawn": f"{of_file}&view=graph",
            "origin of a file, as a table": f"{of_file}&view=table",
            "bad run": f"#/blast?run={run}&view=table",
            "micro-batches": f"#/run/{run}/batches",
            "outputs": f"#/run/{run}/outputs",
            "timeline": f"{DEPARTED}?view=graph&timeline={quote(job, safe='')}",
            "as of": f"{DEPARTED}?view=graph&asof=2099-01-01T00:00:00Z&change=REMOVED&changedcol=value.carrier",
        }
        axe_finds_nothing(page, served, addresses, f"{width} px, {colors}")


@pytest.mark.nightly
def test_which_columns_one_is_made_from(page: Page) -> None:
    search(page, "mean_delay")
    page.get_by_role("link", name="Its whole path on the picture").click()
    drawn(page)
    expect(page.locator(".stage-notes")).to_contain_text("Only the path of mean_delay")
    made_from = {"flights.csv", "flights.departed", "flights.enriched", "delays", "delays.xlsx"}
    assert set(titles(page)) == made_from | {"daily_report"}


@pytest.mark.nightly
def test_where_one_record_went(page: Page) -> None:
    page.get_by_role("navigation").get_by_role("link", name="Trace records").click()
    for label, text in (("Topic", "flights.departed"), ("Partition", "0"), ("First offset", "12")):
        page.get_by_role("textbox", name=label).fill(text)
    page.keyboard.press("Enter")
    drawn(page)
    assert {"flights.departed", "flights.enriched", "delays"} <= set(titles(page))


@pytest.mark.nightly
def test_whether_a_stream_misses_a_batch(page: Page) -> None:
    search(page, "flights.enriched")
    drawn(page, 7)
    page.locator("#canvas").focus()
    page.keyboard.press("t")
    expect(page.locator("#drawer")).to_contain_text("micro-batches, no gaps")


@pytest.mark.nightly
def test_what_bad_records_reached_and_whom_to_notify(page: Page) -> None:
    page.get_by_role("navigation").get_by_role("link", name="Bad records").click()
    page.get_by_label("Offsets of a topic").check()
    for label, text in (("Topic", "flights.departed"), ("Partition", "0"), ("First offset", "0"), ("End offset", "5")):
        page.get_by_role("textbox", name=label).fill(text)
    page.keyboard.press("Enter")
    expect(section(page, "Whom to notify")).to_contain_text("punctuality report")
    expect(page.get_by_role("region", name="Tainted", exact=True)).to_contain_text("daily_report")


@pytest.mark.nightly
def test_what_changed_since_yesterday(chromium: Browser, served: str, declared_demo: Driver) -> None:
    with without_errors(chromium) as page:
        page.clock.set_fixed_time(max(event.event_time for event in demo_events()))
        page.goto(served)
        search(page, "flights.enriched")
        drawn(page, 7)
        page.get_by_role("button", name="Show").click()
        page.get_by_role("button", name="Yesterday").click()
        expect(page.locator(".stage-notes")).to_contain_text("6 datasets and 7 flows added")


@pytest.mark.nightly
def test_how_two_datasets_are_connected(page: Page) -> None:
    search(page, "flights.departed")
    drawn(page, 3)
    page.get_by_role("button", name="Show").click()
    page.get_by_label("Path to").fill("daily_report")
    page.keyboard.press("Enter")
    page.wait_for_function("() => window.headwater.picture.boxes.some(box => box.title === 'daily_report')")
    assert set(titles(page)) == {"flights.departed", "flights.enriched", "delays", "daily_report"}


@pytest.mark.nightly
def test_whom_a_report_belongs_to_and_what_it_reads(page: Page) -> None:
    search(page, "punctuality")
    expect(page.locator("h1")).to_contain_text("punctuality report")
    for shown in ("finance@example.com", "07:00 Europe/Berlin", "daily_report"):
        expect(page.locator("#content")).to_contain_text(shown)
