"""Take the documents' pictures: the demo's lineage as Neo4j Browser draws it.

    ./bin/headwater demo --keep
    uv run scripts/screenshot_browser.py

The database is the running embedded stack's, or the one that HEADWATER_NEO4J_* name. Nodes are dragged into the order
of the data flow; nothing else on the page is changed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flow_layout import flow_layout
from headless_chromium import INSTALL_CHROMIUM, find_chromium
from neo4j_browser import NeoBrowserError, open_browser
from neo4j_browser_kit import load_favorites

from headwater.settings import Settings, load_settings
from headwater.stack import find_running_stack

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {
    "dataset-lineage.png": "MATCH flow = (:HwDataset)-[:FEEDS]->(:HwDataset) RETURN flow",
    "column-lineage.png": "MATCH trace = (:HwColumn)-[:DERIVES*]->(:HwColumn {name: 'mean_delay'}) RETURN trace",
}
FAVORITES = {
    "browser-lineage.png": "Around a dataset: two hops each way",
    "browser-trace.png": "Which segment read an offset of a topic, drawn: its query, its runs, what it read and wrote",
    "browser-impact.png": "Impact, drawn: jobs and datasets behind a dataset",
}
AGAINST = {"READS", "CONSUMED", "READ"}  # relationships that point against the data flow: from the reader to its source


def main() -> int:
    """Run the script and return its exit status: 0 done, 3 nothing found, 5 the Browser failed."""
    flags = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    flags.add_argument("--query", help="Cypher that returns paths or nodes, to be drawn instead; needs --output")
    flags.add_argument("--output", type=Path, help="PNG file for the picture of --query")
    flags.add_argument("--browser-url", help="address of Neo4j Browser, needed if no embedded stack is running")
    flags.add_argument("--width", type=int, default=1680, help="width of the page, in pixels")
    flags.add_argument("--height", type=int, default=920, help="height of the page, in pixels")
    chosen = flags.parse_args()
    if bool(chosen.query) != bool(chosen.output):
        flags.error("--query and --output need each other")
    pictures = {chosen.output: chosen.query} if chosen.query else every_picture()

    chromium = find_chromium()
    if chromium is None:
        print(f"Chromium is not installed: {INSTALL_CHROMIUM}", file=sys.stderr)
        return 3
    stack = find_running_stack()
    browser_url = chosen.browser_url or (stack.browser_url if stack else None)
    if browser_url is None:
        print("No embedded stack is running: start one with `headwater up`, or give --browser-url.", file=sys.stderr)
        return 3
    settings = load_settings(running=stack.settings() if stack else None)
    try:
        for path, query in pictures.items():
            take(path, query, chromium, browser_url, settings, size=(chosen.width, chosen.height))
    except NeoBrowserError as error:
        print(error, file=sys.stderr)
        return 5
    return 0


def every_picture() -> dict[Path, str]:
    """Query of each picture, by the picture's file."""
    by_title = {one.title: one.cypher for one in load_favorites()}
    queries = PICTURES | {name: by_title[title] for name, title in FAVORITES.items()}
    return {IMAGES / name: query for name, query in queries.items()}


def take(path: Path, query: str, chromium: str, browser_url: str, settings: Settings, *, size: tuple[int, int]) -> None:
    """Take one picture, in a new Browser."""
    neo4j = settings.neo4j
    uri, password = neo4j.require_uri(), neo4j.password.get_secret_value()
    with open_browser(chromium, width=size[0], height=size[1]) as browser:
        browser.sign_in(browser_url, bolt_uri=uri, user=neo4j.user, password=password)
        drawn = browser.draw(query)
        arrows = [
            (arrow.target, arrow.source) if arrow.type in AGAINST else (arrow.source, arrow.target)
            for arrow in drawn.arrows
        ]
        browser.arrange(drawn, flow_layout([node.id for node in drawn.nodes], arrows))
        browser.save(path)
    print(f"{path}: {len(drawn.nodes)} nodes, {len(drawn.arrows)} relationships")


if __name__ == "__main__":
    sys.exit(main())
