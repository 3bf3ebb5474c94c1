"""The page's timeline, from the latest micro-batches out to all of them and in again, over segments of 64."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from headless_chromium import new_page
from playwright.sync_api import expect

from headwater_graph.fold import fold
from headwater_graph.segments import segment
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunRef,
    build,
)
from support.page import dataset, drawn

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

START = datetime(2025, 1, 1, tzinfo=UTC)
TOPIC = DatasetRef("kafka://b:9092", "orders")
SINK = DatasetRef("kafka://b:9092", "orders.clean")
BATCHES = 2_000
LOST = 700


def micro_batch(number: int) -> IntervalEntry:
    """Ten seconds after the one before."""
    ranges = (OffsetRange(partition=0, from_=10 * number, to_exclusive=10 * number + 10),)
    uses = [
        (
            DatasetUse(
                dataset=topic,
                position=Position(kafka=KafkaRanges(topic=topic.name, ranges=ranges)),
                certainty=Certainty.EXACT,
            ),
        )
        for topic in (TOPIC, SINK)
    ]
    time = START + timedelta(seconds=10 * number)
    return IntervalEntry(
        batch_id=number, processing_time=time, inputs=uses[0], outputs=uses[1], duration_ms=4_000, rows_in=10
    )


def reported(numbers: range) -> LineageEvent:
    entries = tuple(micro_batch(number) for number in numbers)
    body = IntervalEvent(query_id=str(UUID(int=1)), entries=entries, query_name="clean", provenance=Provenance.OBSERVED)
    time = entries[-1].processing_time
    assert time is not None
    return build.lineage_event(
        body, job=JobRef("default", "clean"), run=RunRef(str(UUID(int=2))), producer="test", event_time=time
    )


@pytest.fixture
def long_stream(clean_database: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 micro-batches but for one, in 32 segments."""
    for name, value in (("PLACES", 8), ("BLOCKS", 8), ("SIZE", 64), ("TAIL", 4)):
        monkeypatch.setattr(segment, name, value)
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    numbers = [range(LOST), range(LOST + 1, BATCHES)]
    writer.apply(fold([reported(each) for each in numbers]))


@pytest.fixture
def page(chromium: Browser, served: str, long_stream: None) -> Iterator[Page]:
    with new_page(chromium) as opened:
        opened.goto(f"{served}/{dataset(TOPIC.namespace, TOPIC.name)}")
        drawn(opened, 2)
        yield opened


def address(page: Page) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(page.url.rpartition("?")[2]).items() if "#" not in name}


def blocks(page: Page) -> list[str]:
    found: list[str] = page.locator("#drawer [role=option]").evaluate_all("all => all.map(mark => mark.ariaLabel)")
    return [label for label in found if label.startswith("batch")]


@pytest.mark.nightly
def test_out_to_all_of_it_and_in_to_micro_batches(page: Page) -> None:
    drawer, marks = page.locator("#drawer"), page.get_by_role("listbox")
    page.locator("#canvas").focus()
    page.keyboard.press("t")
    expect(drawer).to_contain_text("the latest 200 of 1,999 micro-batches, no gaps")
    assert blocks(page) == [f"batch {number}" for number in range(BATCHES - 200, BATCHES)]
    assert address(page).keys() == {"timeline"}

    # Bars of segments.
    marks.focus()
    page.keyboard.press("-")
    expect(drawer).to_contain_text("micro-batches in 14 bars, no gaps")
    assert address(page).keys() == {"timeline", "from", "until"}
    drawer.get_by_role("button", name="All of it").click()
    expect(drawer).to_contain_text("1,999 micro-batches in 32 bars, 1 batch missing")
    assert blocks(page)[10].startswith("batches 640 to 703")

    # Into the bar: its micro-batches, exactly.
    bar = drawer.get_by_role("option", name="batches 640 to 703")
    before = drawer.bounding_box()
    bar.hover(position={"x": 2, "y": 2})
    expect(drawer.get_by_role("region", name="Details")).to_contain_text("1 batch")
    assert drawer.bounding_box() == before, "nothing moves under the pointer"
    bar.click(position={"x": 2, "y": 2})
    expect(drawer).to_contain_text("63 micro-batches, 1 batch missing")
    inside = [f"batch {number}" for number in range(640, 704) if number != LOST]
    assert blocks(page) == inside
    assert address(page)["from"] == "2025-01-01T01:46:40.000Z"

    # The address has the span.
    page.reload()
    expect(drawer).to_contain_text("63 micro-batches, 1 batch missing")
    assert blocks(page) == inside

    # The same by keyboard and by wheel.
    marks.focus()
    page.keyboard.press("0")
    expect(drawer).to_contain_text("32 bars")
    page.keyboard.press("l")
    expect(drawer).to_contain_text("the latest 200 of 1,999 micro-batches, no gaps")
    drawer.locator("svg").hover()
    for _ in range(3):
        page.mouse.wheel(0, 100)
    expect(drawer).to_contain_text("bars, ")
    drawer.get_by_role("button", name="Close the timeline").click()
    expect(drawer).to_have_count(0)
    assert address(page) == {}


@pytest.mark.nightly
def test_a_span_without_micro_batches_says_so(page: Page, served: str) -> None:
    drawer = page.locator("#drawer")
    span = {"timeline": "clean", "from": "2001-01-01T00:00:00Z", "until": "2001-01-02T00:00:00Z"}
    page.goto(f"{served}/{dataset(TOPIC.namespace, TOPIC.name, **span)}")
    expect(drawer).to_contain_text("No micro-batch is known in this span of time")
    drawer.get_by_role("button", name="All of it").click()
    expect(drawer).to_contain_text("32 bars")
    page.route("**/timeline/overview?*", lambda route: route.abort())
    page.route("**/timeline?*", lambda route: route.abort())
    drawer.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")


def test_a_micro_batch_leads_to_its_run_and_to_what_came_of_it(page: Page) -> None:
    page.locator("#canvas").focus()
    page.keyboard.press("t")
    mark = page.get_by_role("option", name="batch 1999", exact=True)
    details = page.get_by_role("region", name="Details")
    parts = (page.locator("#drawer"), page.locator("#canvas"))
    before = [part.bounding_box() for part in parts]
    mark.hover()
    expect(details).to_contain_text("Batch 1999")
    assert [part.bounding_box() for part in parts] == before, "nothing moves under the pointer"
    mark.click()
    details.get_by_role("link", name="The lineage at that time").click()
    expect(page.get_by_role("button", name="Back to now")).to_be_visible()
    page.get_by_role("button", name="Back to now").click()
    details.get_by_role("link", name="Where did it go").click()
    expect(page.locator("h1")).to_have_text("Bad records")
    assert "first=1999" in page.url
