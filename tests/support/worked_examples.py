"""Worked examples of the documents: a command and what it printed, run again on the recorded demo and compared.

In a page, an example is these two blocks, one after the other:

    ```sh
    headwater upstream flights.departed
    ```

    ```text
    what it prints, messages included
    ```

A command that is meant to fail says so: `headwater upstream nothing  # exit 3`. UPDATE_GOLDENS=1 writes what was
printed into the page: look at every difference before you commit it.

A test of a page is one line, with the fixtures of tests/integration/analysis/conftest.py:

    def test_the_examples(asked_demo: None) -> None:
        check_page("lineage.md")
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headwater.cli import main
from support.run_rules import rewrite, updating

PAGES = Path(__file__).parents[2] / "docs" / "analysis"
_EXAMPLE = re.compile(
    r"(?<=^```sh\n)(?P<command>headwater .*?)\n```\n\n```text\n(?P<output>.*?)^```", re.MULTILINE | re.DOTALL
)
# Which database it is differs from reader to reader.
_USING = re.compile(r"(?:Kafka \S+ \(the environment\); )?Neo4j \S+ \(the environment\), database neo4j")
_EXIT = re.compile(r"\s+# exit (\d+)$")


@dataclass(frozen=True)
class Example:
    """One command of a page, as it stands there."""

    page: Path
    line: int
    command: str
    output: str
    exit_code: int


def examples(page: Path) -> list[Example]:
    """In the order of the page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _EXAMPLE.finditer(text):
        command = match["command"].replace("\\\n", " ")
        code = _EXIT.search(command)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Example(page, line, _EXIT.sub("", command), match["output"], int(code[1]) if code else 0))
    return found


def run(example: Example) -> str:
    """Run the command and return its output, without spaces at the ends of lines."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = main(shlex.split(example.command)[1:])
    assert code == example.exit_code, f"{example.page.name}:{example.line} exits {code}: {printed.getvalue()}"
    lines = (line.rstrip() for line in printed.getvalue().splitlines())
    return "".join(f"{line}\n" for line in lines if not _USING.fullmatch(line))


def check_page(name: str, run: Callable[[Example], str] = run) -> None:
    """Every example of `docs/analysis/<name>` prints what the page says.

    Args:
        name: name of the page.
        run: runs an example and returns its output as the page has it.
    """
    page = PAGES / name
    found = examples(page)
    assert found, f"{name} has no examples"
    printed = [run(example) for example in found]
    if updating():
        outputs = iter(printed)

        def with_output(match: re.Match[str]) -> str:
            return f"{match['command']}\n```\n\n```text\n{next(outputs)}```"

        rewrite(page, _EXAMPLE.sub(with_output, page.read_text(encoding="utf-8")))
        return
    for example, now in zip(found, printed, strict=True):
        before, after = example.output.splitlines(), now.splitlines()
        difference = "\n".join(difflib.unified_diff(before, after, "the page", "printed now", lineterm=""))
        assert now == example.output, f"{name}:{example.line}: {example.command}\n{difference}"
