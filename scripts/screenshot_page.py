"""Take the pictures of the page at `/` for docs/analysis/page.md, over the demo's graph.

./bin/headwater demo --keep
./bin/headwater serve --port 8475
uv run scripts/screenshot_page.py http://127.0.0.1:8475/
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    with open_page(chromium, width=1500, height=860, colors="dark") as page:
        timeline(page, sys.argv[1])
    return 0


def impact(page: Page, url: str) -> None:
    """Columns behind a topic, coloured by what the loss of one of them would break."""
    page.goto(f"{url}#asset=flights.enriched&columns=1")
    drawn(page, 7)
    page.evaluate("() => window.headwater.canvas.cy.nodes('.more[side = \"down\"]').emit('tap')")
    drawn(page, 8)
    page.evaluate(
        "() => { const {store, canvas} = window.headwater;"
        " const topic = [...store.datasets.values()].find(one => one.asset.title === 'flights.departed');"
        " canvas.cy.getElementById(topic.asset.key).emit('tap') }"
    )
    page.locator("#of").select_option("value.carrier")
    page.locator("#change").select_option("REMOVED")
    page.locator("#analyze").click()
    page.locator("#impact").wait_for()
    save(page, "page-impact.png")


def timeline(page: Page, url: str) -> None:
    """An arrow's job, and when it ran."""
    page.goto(f"{url}#asset=flights.enriched")
    drawn(page, 7)
    page.keyboard.press("e")
    page.locator(".mappings").wait_for()
    page.keyboard.press("t")
    page.locator("#drawer rect").nth(5).hover()
    save(page, "page-timeline.png")


def drawn(page: Page, datasets: int) -> None:
    """Wait until a number of datasets is drawn."""
    page.locator(f'#canvas[data-drawn="{datasets}"]').wait_for(state="attached")


def save(page: Page, name: str) -> None:
    """Fit the whole drawing into view, and save a PNG."""
    page.get_by_role("button", name="Fit").click()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / name)
    print(IMAGES / name)


if __name__ == "__main__":
    sys.exit(main())
