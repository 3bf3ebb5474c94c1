"""The page that is shipped is built of the sources that are committed beside it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
WEB = ROOT / "web"
PAGE = ROOT / "consumers" / "headwater_consumers" / "api" / "page"


def sources() -> list[str]:
    """As web/build.mjs lists them."""
    found = [path.relative_to(WEB).as_posix() for path in (WEB / "src").rglob("*") if path.is_file()]
    return sorted([*found, "build.mjs", "package.json", "package-lock.json"])


def test_the_page_is_that_of_its_sources() -> None:
    digest = hashlib.sha256()
    for name in sources():
        digest.update(f"{name}\0".encode() + (WEB / name).read_bytes() + b"\0")
    assert (PAGE / "sources.sha256").read_text().strip() == digest.hexdigest(), "npm run build, in web/"


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert loaded
    assert [name for name in loaded if not (PAGE / name).is_file()] == []
    assert "url(" not in (PAGE / "page.css").read_text(encoding="utf-8")


def test_what_is_vendored_has_its_notices() -> None:
    notices = (PAGE / "NOTICES.txt").read_text(encoding="utf-8")
    versions = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert f"Cytoscape.js {versions['cytoscape']}" in notices
    assert f"elkjs {versions['elkjs']}" in notices
    assert "Permission is hereby granted" in notices
    assert "Eclipse Public License - v 2.0" in notices


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text(encoding="utf-8")


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in PAGE.iterdir()) < 2_300_000
