"""Targets of the documents' references: files, headings, commands and settings."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from headwater.command_list import COMMANDS
from headwater.settings import OTHER_VARIABLES, environment_name, setting_names
from headwater_producers.spark.common.settings import environment_names
from support.waiting import patience

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```(?:sh|text)\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|[\s/])headwater ([a-z]+(?:-[a-z]+)*)\b", re.MULTILINE)
MODULE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|cypher|ts|avsc))`")
OUR_PATH = re.compile(
    r"`((?:schemas|openlineage|graph|analysis|producers|consumers|review|audit|server|cli|spark_jobs|tests|ops|docs|scripts|bin|\.ci)/[\w./-]*)`"
)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"\bHEADWATER_[A-Z0-9_]*[A-Z0-9]\b")


@functools.cache
def content(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def found(pattern: re.Pattern[str]) -> Iterator[tuple[Path, str, re.Match[str]]]:
    """Every match in a page, with the page and "page:line"."""
    assert PAGES
    for page in PAGES:
        for match in pattern.finditer(content(page)):
            line = content(page).count("\n", 0, match.start()) + 1
            yield page, f"{page.relative_to(ROOT)}:{line}", match


@functools.cache
def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", content(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_link_leads_somewhere() -> None:
    faults = []
    for page, where, match in found(LINK):
        link = match[1]
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if "://" not in link and (not target.exists() or (anchor and anchor not in anchors(target))):
            faults.append(f"{where}: the link {link} leads nowhere")
    assert not faults, "\n".join(faults)


def test_a_command_is_one_that_exists() -> None:
    faults = [
        f"{where}: there is no command headwater {command}"
        for _, where, code in found(CODE)
        for command in COMMAND.findall(code[1] or code[2])
        if command not in COMMANDS
    ]
    assert not faults, "\n".join(faults)


def test_a_setting_is_one_that_exists() -> None:
    known = {environment_name(setting) for setting in setting_names()} | set(OTHER_VARIABLES) | environment_names()
    faults = [f"{where}: there is no setting {name[0]}" for _, where, name in found(VARIABLE) if name[0] not in known]
    assert not faults, "\n".join(faults)


def test_a_page_is_found_from_the_index() -> None:
    """Every page of docs/ is linked from docs/README.md, directly or by an index that is."""
    reached: set[Path] = set()
    waiting = [ROOT / "docs" / "README.md"]
    while waiting:
        current = waiting.pop()
        if current in reached or current.suffix != ".md":
            continue
        reached.add(current)
        links = LINK.findall(content(current))
        targets = [(current.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link]
        waiting += [target for target in targets if target.is_file() and target.is_relative_to(ROOT / "docs")]
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - reached == set()


def test_a_file_that_is_named_exists() -> None:
    faults = [f"{where}: there is no {path[1]}" for _, where, path in found(OUR_PATH) if not (ROOT / path[1]).exists()]
    assert not faults, "\n".join(faults)


def test_a_module_that_is_named_without_its_folder_exists() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = "".join(f"/{name}\n" for name in listed.splitlines())
    faults = [
        f"{where}: no file is called {name[1]}" for _, where, name in found(MODULE) if f"/{name[1]}\n" not in tracked
    ]
    assert not faults, "\n".join(faults)


def test_python_in_the_documents_compiles() -> None:
    faults = []
    for _, where, block in found(PYTHON):
        try:
            compile(block[1], where, "exec")
        except SyntaxError as error:
            faults.append(f"{where}: {error}")
    assert not faults, "\n".join(faults)


def test_shell_in_the_documents_parses() -> None:
    faults = []
    for _, where, block in found(SHELL):
        ran = subprocess.run(
            ["sh", "-n"], input=block[1], text=True, capture_output=True, timeout=patience(10), check=False
        )
        if ran.returncode:
            faults.append(f"{where}: {ran.stderr}")
    assert not faults, "\n".join(faults)
