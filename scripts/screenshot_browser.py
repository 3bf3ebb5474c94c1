"""Take a picture of a query's graph in Neo4j Browser.

    ./bin/headwater demo --keep
    uv run scripts/screenshot_browser.py

The database is the running embedded stack's, or the one that HEADWATER_NEO4J_* name. Nodes are dragged into the order
in which data flows; nothing else about the page is touched up.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flow_layout import flow_layout
from neo4j_browser import INSTALL_CHROMIUM, NeoBrowserError, find_chromium, open_browser

from headwater.settings import load_settings
from headwater.stack import find_running_stack

LINEAGE = "MATCH flow = (:Dataset)-[:FEEDS]->(:Dataset) RETURN flow"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "lineage-in-neo4j-browser.png"


def main() -> int:
    """Run the script and return its exit status: 0 done, 3 nothing found, 5 the Browser did not do its part."""
    flags = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    flags.add_argument("--query", default=LINEAGE, help="Cypher that returns paths or nodes")
    flags.add_argument("--output", type=Path, default=PICTURE, help="the PNG to write")
    flags.add_argument("--browser-url", help="where Neo4j Browser is served, when no embedded stack is running")
    flags.add_argument("--width", type=int, default=1600)
    flags.add_argument("--height", type=int, default=900)
    chosen = flags.parse_args()

    chromium = find_chromium()
    if chromium is None:
        print(f"Chromium is not installed: {INSTALL_CHROMIUM}", file=sys.stderr)
        return 3
    stack = find_running_stack()
    browser_url = chosen.browser_url or (stack.browser_url if stack else None)
    if browser_url is None:
        print("No embedded stack is running: start one with `headwater up`, or give --browser-url.", file=sys.stderr)
        return 3
    neo4j = load_settings(running=stack.settings() if stack else None).neo4j
    try:
        with open_browser(chromium, width=chosen.width, height=chosen.height) as browser:
            browser.sign_in(
                browser_url, bolt_uri=neo4j.uri, user=neo4j.user, password=neo4j.password.get_secret_value()
            )
            drawn = browser.draw(chosen.query)
            arrows = [(arrow.source, arrow.target) for arrow in drawn.arrows]
            browser.arrange(drawn, flow_layout([node.id for node in drawn.nodes], arrows))
            browser.save(chosen.output)
    except NeoBrowserError as error:
        print(error, file=sys.stderr)
        return 5
    print(f"{chosen.output}: {len(drawn.nodes)} nodes, {len(drawn.arrows)} relationships")
    return 0


if __name__ == "__main__":
    sys.exit(main())
