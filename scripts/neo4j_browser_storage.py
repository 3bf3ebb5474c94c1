"""Contents for Neo4j Browser's local storage: its settings, and the style of nodes and relationships."""

from __future__ import annotations

import re
from pathlib import Path

STYLE = Path(__file__).parents[1] / "ops" / "neo4j-browser" / "headwater.grass"

# Settings: open on an empty page, send no reports, draw only what the query returned.
LOCAL_STORAGE = {
    "settings": {
        "theme": "light",
        "initCmd": "",
        "playImplicitInitCommands": False,
        "allowCrashReports": False,
        "allowUserStats": False,
        "showWheelZoomInfo": False,
        "autoComplete": False,
    },
    "udc": {"consentBannerShownCount": 1_000},
}


def grass(path: Path = STYLE) -> dict[str, dict[str, str]]:
    """Read a style file as the Browser stores it: the properties of each selector, by name. Comments aren't stored."""
    text = path.read_text(encoding="utf-8")
    rules = re.findall(r"^([\w.]+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {
        selector: {name: value.strip('"') for name, value in re.findall(r"^  ([\w-]+): (.*);$", body, re.MULTILINE)}
        for selector, body in rules
    }
