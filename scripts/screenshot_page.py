"""Take the pictures of the page at `/` for documents of docs/analysis/, over the demo's graph.

The pictures show paths of the data folder, so this folder is one that any machine could have. While `headwater consume`
runs, `headwater declare docs/examples/declare/flights.yaml` declares owners and consumers, and the incident is opened
and narrowed as docs/analysis/incident-example.md describes.

HEADWATER_DATA_DIR=/tmp/headwater ./bin/headwater demo --days 4 --keep
HEADWATER_DATA_DIR=/tmp/headwater/demo ./bin/headwater serve --port 8475
uv run scripts/screenshot_page.py http://127.0.0.1:8475/
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from headless_chromium import INSTALL_CHROMIUM, find_chromium, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> int:
    """Run the script and return its exit status: 0 done, 2 no address, 3 no Chromium."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    chromium = find_chromium()
    if chromium is None:
        print(f"Chromium is not installed: {INSTALL_CHROMIUM}", file=sys.stderr)
        return 3
    with open_page(chromium, width=1500, height=860) as page:
        impact(page, sys.argv[1])
        incidents(page, sys.argv[1])
    with open_page(chromium, width=1500, height=860, colors="dark") as page:
        timeline(page, sys.argv[1])
    with open_page(chromium, width=390, height=844) as page:
        phone(page, sys.argv[1])
    return 0


def impact(page: Page, url: str) -> None:
    """Picture of the columns downstream of a topic, coloured by the effect of removing one of the topic's columns."""
    supposed = "columns=1&depth=2&direction=DOWNSTREAM&nojobs=1&change=REMOVED&changedcol=value.carrier"
    page.goto(f"{url}{address(page, url, 'flights.departed')}?{supposed}")
    drawn(page)
    page.locator("#impact").wait_for()
    fit(page)
    save(page, "page-impact.png")


def timeline(page: Page, url: str) -> None:
    """Picture of an arrow's job, and of the job's runs."""
    page.goto(f"{url}{address(page, url, 'flights.enriched')}")
    drawn(page)
    page.locator("#canvas").focus()
    page.keyboard.press("e")
    page.locator(".panel-title").wait_for()
    page.keyboard.press("t")
    page.locator("#drawer [role=option]").nth(5).wait_for()
    page.locator("aside").get_by_text("complete").wait_for()
    fit(page)
    page.locator("#drawer [role=option]").nth(5).hover()
    save(page, "page-timeline.png")


def phone(page: Page, url: str) -> None:
    """Picture of whom to tell before a column is removed, on a phone."""
    page.goto(f"{url}{address(page, url, 'flights.enriched')}/impact?change=REMOVED&changedcol=value.dep_delay")
    told = page.locator("section.part", has=page.get_by_role("heading", name="Whom to tell"))
    told.locator("tbody tr").nth(3).wait_for()
    told.evaluate("part => { part.style.scrollMarginTop = '70px'; part.scrollIntoView() }")
    save(page, "page-phone.png", width=390, height=844)


def incidents(page: Page, url: str) -> None:
    """Pictures of the open incidents, and of the reach of the first incident."""
    page.goto(f"{url}#/incidents")
    page.locator("tbody a").first.wait_for()
    save(page, "page-incidents.png", height=290)
    [first, *_] = page.request.get(f"{url}api/v1/incidents").json()["items"]
    page.goto(f"{url}#/incident/{first['incident']}?view=graph")
    drawn(page)
    fit(page)
    page.locator(".rec-hops").evaluate("part => { part.style.scrollMarginTop = '70px'; part.scrollIntoView() }")
    save(page, "page-incident.png")


def address(page: Page, url: str, name: str) -> str:
    """Address of the dataset of this name on the page."""
    found = page.request.get(f"{url}api/v1/search", params={"q": name, "kind": "DATASET"}).json()["items"]
    asset = next(each["asset"] for each in found if each["asset"]["name"] == name)
    return f"#/dataset/{quote(asset['namespace'], safe=':')}/{name}"


def drawn(page: Page) -> None:
    """Wait until a picture is drawn."""
    page.locator('#canvas[data-drawn]:not([data-drawn="0"])').wait_for(state="attached")


def fit(page: Page) -> None:
    """Bring the whole drawing into view."""
    page.get_by_role("button", name="Fit", exact=True).click()
    page.wait_for_timeout(500)


def save(page: Page, name: str, *, width: int = 1500, height: int = 860) -> None:
    """Save a PNG of the topmost `height` pixels of the page."""
    page.screenshot(path=IMAGES / name, clip={"x": 0, "y": 0, "width": width, "height": height})
    print(IMAGES / name)


if __name__ == "__main__":
    sys.exit(main())
