"""What the documents point to is there: files, headings, commands and settings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from headwater.cli import COMMANDS
from headwater.settings import OTHER_VARIABLES, environment_name, setting_names
from headwater_producers.spark.common.settings import environment_names

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```(?:sh|text)\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|[\s/])headwater ([a-z]+(?:-[a-z]+)*)\b", re.MULTILINE)
MODULE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|cypher|ts|avsc))`")
OUR_PATH = re.compile(
    r"`((?:schemas|openlineage|producers|consumers|cli|spark_jobs|tests|ops|docs|scripts|bin|\.ci)/[\w./-]*)`"
)
VARIABLE = re.compile(r"\bHEADWATER_[A-Z0-9_]*[A-Z0-9]\b")


@pytest.fixture(params=PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_a_command_is_one_that_exists(page: Path) -> None:
    code = "\n".join(block or span for block, span in CODE.findall(page.read_text(encoding="utf-8")))
    named = set(COMMAND.findall(code))
    assert named - set(COMMANDS) == set()


def test_a_setting_is_one_that_exists(page: Path) -> None:
    known = {environment_name(setting) for setting in setting_names()} | set(OTHER_VARIABLES) | environment_names()
    assert set(VARIABLE.findall(page.read_text(encoding="utf-8"))) - known == set()


def test_a_page_is_found_from_the_index() -> None:
    """Every page of docs/ is linked from docs/README.md, directly or by an index that is."""
    reached: set[Path] = set()
    waiting = [ROOT / "docs" / "README.md"]
    while waiting:
        current = waiting.pop()
        if current in reached or current.suffix != ".md":
            continue
        reached.add(current)
        links = LINK.findall(current.read_text(encoding="utf-8"))
        targets = [(current.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link]
        waiting += [target for target in targets if target.is_file() and target.is_relative_to(ROOT / "docs")]
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - reached == set()


def test_a_file_that_is_named_exists(page: Path) -> None:
    assert [name for name in OUR_PATH.findall(page.read_text(encoding="utf-8")) if not (ROOT / name).exists()] == []


@pytest.fixture(scope="session")
def tracked() -> str:
    """Every file of the repository, each on a line that begins with a slash."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return "".join(f"/{name}\n" for name in listed.splitlines())


def test_a_module_that_is_named_without_its_folder_exists(page: Path, tracked: str) -> None:
    named = MODULE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if f"/{name}\n" not in tracked] == []


def test_python_in_the_documents_compiles(page: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        compile(block, str(page), "exec")


def test_shell_in_the_documents_parses(page: Path) -> None:
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        ran = subprocess.run(["sh", "-n"], input=block, text=True, capture_output=True, timeout=10, check=False)
        assert ran.returncode == 0, ran.stderr
