"""Every example of docs/analysis/http.md, by the real curl, answers what the page says; UPDATE_GOLDENS=1 writes it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.settings import environment_name, setting_names
from headwater_server.app import openapi_document
from headwater_server.problems import ProblemType
from support.run_rules import rewrite, updating
from support.waiting import patience

if TYPE_CHECKING:
    import httpx

PAGE = Path(__file__).parents[3] / "docs" / "analysis" / "http.md"
HERE = "http://localhost:8470"
EXAMPLE = re.compile(r"(?<=^```sh\n)(curl .*?)\n```\n\n```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
WIDTH = 120


def printed(value: Any, indent: int = 0, room: int = WIDTH) -> str:
    """JSON with each object and list on one line where it fits."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) <= room - indent or not isinstance(value, dict | list) or not value:
        return short
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {printed(each, indent + 2, room - len(key) - 5)}" for key, each in value.items()]
    else:
        parts = [printed(each, indent + 2, room - 1) for each in value]
    inner = ",\n".join(" " * (indent + 2) + part for part in parts)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}\n{' ' * indent}{closing}"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed: apt install curl")
def test_the_examples(demo: httpx.Client) -> None:
    def answer(command: str) -> str:
        arguments = shlex.split(command.replace("\\\n", " ").replace(HERE, str(demo.base_url)))
        answered = subprocess.run(arguments, capture_output=True, check=True, timeout=patience(60)).stdout
        assert b"urn:headwater:defect" not in answered, command
        return printed(json.loads(answered))

    text = PAGE.read_text(encoding="utf-8")
    found = EXAMPLE.findall(text)
    assert len(found) >= 5
    if updating():
        written = EXAMPLE.sub(lambda match: f"{match[1]}\n```\n\n```json\n{answer(match[1])}\n```", text)
        rewrite(PAGE, written)
        return
    for command, shown in found:
        assert answer(command) == shown.rstrip("\n"), command


def test_the_page_names_every_path_setting_and_problem() -> None:
    text = PAGE.read_text(encoding="utf-8")
    # `…/outputs` stands for the path before it with another end.
    named = set(re.findall(r"`([/…][^`]*)`", text))
    ends = {name.rpartition("/")[2] for name in named}
    for path in openapi_document()["paths"]:
        short = path.removeprefix("/api/v1")
        assert short in named or f"…/{short.rpartition('/')[2]}" in named, short
        assert short.rpartition("/")[2] in ends
    for setting in setting_names():
        if setting.startswith("serve."):
            assert environment_name(setting) in text
    for kind in ProblemType:
        assert f"| {int(kind.status)} | `{kind.value}` |" in text
