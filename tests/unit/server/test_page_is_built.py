"""The page that is shipped is built of the sources that are committed beside it, and these pass their own tests."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import page_types
import pytest

from headwater_server.app import openapi_document
from support.node import npm, npm_ci

ROOT = Path(__file__).parents[3]
WEB = ROOT / "web"
PAGE = ROOT / "server" / "headwater_server" / "page"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the sources, with the packages that they name, to build in."""
    root = tmp_path_factory.mktemp("checkout")
    web = root / "web"
    shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules"))
    npm_ci(web)
    yield web
    shutil.rmtree(root)


def sources() -> list[str]:
    """Source files in the order in which web/build.mjs lists them."""
    found = [path.relative_to(WEB).as_posix() for path in (WEB / "src").rglob("*") if path.is_file()]
    return sorted([*found, "build.mjs", "package.json", "package-lock.json"])


def test_the_page_is_that_of_its_sources() -> None:
    digest = hashlib.sha256()
    for name in sources():
        digest.update(f"{name}\0".encode() + (WEB / name).read_bytes() + b"\0")
    assert (PAGE / "sources.sha256").read_text().strip() == digest.hexdigest(), "npm run build, in web/"


@pytest.mark.parametrize(("name", "style"), [("index.html", "page.css"), ("docs.html", "swagger-ui.css")])
def test_the_pages_load_nothing_from_elsewhere(name: str, style: str) -> None:
    page = (PAGE / name).read_text(encoding="utf-8")
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert style in loaded
    assert [name for name in loaded if not (PAGE / name).is_file()] == []
    assert not re.search(r"""url\((?!["']?data:)""", (PAGE / style).read_text(encoding="utf-8"))


def test_what_is_vendored_has_its_notices() -> None:
    notices = (PAGE / "NOTICES.txt").read_text(encoding="utf-8")
    versions = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert f"Cytoscape.js {versions['cytoscape']}" in notices
    assert f"elkjs {versions['elkjs']}" in notices
    assert f"Preact {versions['preact']}" in notices
    assert f"@preact/signals {versions['@preact/signals']}" in notices
    assert "Permission is hereby granted" in notices
    assert "Eclipse Public License - v 2.0" in notices
    assert f"Swagger UI {versions['swagger-ui-dist']}" in notices
    assert "Apache License" in notices


def test_the_types_of_answers_are_those_of_the_api() -> None:
    committed = page_types.FILE.read_text(encoding="utf-8")
    assert committed == page_types.typescript(openapi_document()), "answers have changed: uv run scripts/page_types.py"


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text(encoding="utf-8")


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in PAGE.iterdir()) < 4_500_000


@pytest.mark.timeout(600)
def test_what_is_committed_is_what_a_build_makes(copied: Path) -> None:
    built = npm(copied, "run", "build")
    assert built.returncode == 0, built.stderr
    made = copied.parent / "server" / "headwater_server" / "page"
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {
        path.name: path.read_bytes() for path in PAGE.iterdir()
    }, "npm run build, in web/"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("script", ["check", "test"])
def test_the_sources_pass_their_own_tests(copied: Path, script: str) -> None:
    ran = npm(copied, "run", script)
    assert ran.returncode == 0, ran.stdout + ran.stderr
