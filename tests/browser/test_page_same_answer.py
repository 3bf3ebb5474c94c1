"""Picture and table state the same answer, whichever question it answers; `v` leads from one to the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from support.page import dataset, drawn, go, titles, without_errors

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

KAFKA = "kafka://embedded"
ENRICHED = dataset(KAFKA, "flights.enriched", since="2001-01-01T00:00:00Z")
PATH = dataset(KAFKA, "flights.departed", col="value.carrier", only="1")
WORDS = {"ADDED": "added", "REMOVED": "removed", "CHANGED": "changed"}
ARROWS = """() => {
    const {boxes, arrows} = window.headwater.picture, title = new Map(boxes.map(box => [box.key, box.title]))
    return arrows.map(({source, target, ...rest}) => ({...rest, source: title.get(source), target: title.get(target)}))
}"""


@pytest.fixture
def page(chromium: Browser, served: str, read_demo: Driver) -> Iterator[Page]:
    with without_errors(chromium) as opened:
        opened.goto(served)
        yield opened


def rows(page: Page, place: str = ".table-place") -> Locator:
    """Rows of the table that stands where the picture stood."""
    found = page.locator(f"{place} tbody tr")
    expect(found.first).to_be_visible()
    expect(page.locator("#canvas")).to_have_count(0)
    return found


def names(row: Locator, column: str) -> list[str]:
    return row.locator(f"td[data-title='{column}'] .asset > a").all_inner_texts()


def path_rows(page: Page) -> set[tuple[str, str, str]]:
    """From column, to column and job of each row; the whole name of a job is in its tooltip."""
    found = set()
    for row in rows(page).all():
        [source], [target] = names(row, "From column"), names(row, "To column")
        jobs = row.locator("td[data-title='Job'] a").evaluate_all("all => all.map(link => link.title.split('/').pop())")
        found |= {(source, target, job) for job in jobs}
    return found


def test_what_changed_since(page: Page) -> None:
    go(page, ENRICHED)
    drawn(page, 7)
    changed: dict[str, set[str]] = {title: set() for title in titles(page)}
    for box in page.evaluate("() => window.headwater.picture.boxes"):
        changed[box["title"]] |= {WORDS[box["change"]]} if box["change"] else set()
    for arrow in page.evaluate(ARROWS):
        if arrow["change"]:
            changed[arrow["target"]].add(f"flow from {arrow['source']} {WORDS[arrow['change']]}")
    assert sum("added" in texts for texts in changed.values()) == 6
    page.keyboard.press("v")
    listed = {}
    for row in rows(page).all():
        cell = row.locator("td[data-title='Change']").inner_text()
        listed[row.get_by_role("link").first.inner_text()] = set(cell.split("; ")) - {"–"}
    assert listed == changed
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    head, *lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    at = head.split(",").index("Change")
    assert {"; ".join(sorted(texts)) for texts in changed.values()} == {
        "; ".join(sorted(line.split(",")[at].split("; "))) for line in lines
    }
    # The filter finds what changed.
    go(page, f"{ENRICHED}&view=table&find=flow from flights.departed")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("flights.enriched")


def test_the_path_of_a_column(page: Page, chromium: Browser, served: str) -> None:
    go(page, PATH)
    page.wait_for_function("() => window.headwater?.picture.boxes.some(box => box.title === 'delays')")
    drawn(page)
    arrows = page.evaluate(ARROWS)
    mapped = {
        (f"{mapping['source']} of {arrow['source']}", f"{mapping['target']} of {arrow['target']}", arrow["label"])
        for arrow in arrows
        for mapping in arrow["mappings"]
    }
    assert len(mapped) >= 3
    page.get_by_role("button", name="Table", exact=True).click()
    assert path_rows(page) == mapped
    assert {"only=1", "view=table"} <= set(page.url.partition("?")[2].split("&"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert len(Path(saved.value.path()).read_text(encoding="utf-8").splitlines()) == len(mapped) + 1
    # By the key, too, wherever the focus is.
    page.keyboard.press("v")
    drawn(page)
    page.keyboard.press("v")
    assert path_rows(page) == mapped
    # A phone begins with it, and nothing covers it.
    with without_errors(chromium, width=390, height=844) as phone:
        phone.goto(f"{served}/{PATH}")
        assert path_rows(phone) == mapped
        expect(phone.locator("#panel")).to_have_count(0)


@pytest.mark.parametrize(
    "address",
    [
        "#/trace?topic=flights.departed&partition=0&offset=12",
        "#/blast?topic=flights.departed&partition=0&offset=0&end=5&view=graph",
    ],
    ids=["trace", "blast"],
)
def test_hops_of_records(page: Page, address: str) -> None:
    go(page, address)
    drawn(page)
    arrows = {(arrow["source"], arrow["target"]) for arrow in page.evaluate(ARROWS)}
    assert ("flights.departed", "flights.enriched") in arrows
    boxes = len(titles(page))
    page.locator("#canvas").focus()
    page.keyboard.press("v")
    listed = {
        (source, target)
        for row in rows(page, ".rec-hops").all()
        for source in names(row, "Read")
        for target in names(row, "Wrote")
    }
    assert listed == arrows
    assert "view=table" in page.url
    page.keyboard.press("v")
    drawn(page, boxes)
