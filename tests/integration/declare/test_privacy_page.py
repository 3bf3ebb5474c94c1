"""The examples of the pages on privacy and deletion, on the demo's graph with what is declared of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.worked_examples import check_page

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[3]


@pytest.mark.nightly
def test_the_examples(
    followed_demo: dict[str, str], headwater: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    headwater("declare", "docs/examples/declare/flights.yaml")
    check_page("privacy.md")
    check_page("may-delete.md")


@pytest.mark.parametrize(("page", "file"), [("privacy", "privacy"), ("may-delete", "marks")])
def test_a_page_shows_its_file(page: str, file: str) -> None:
    text = (ROOT / "docs" / "analysis" / f"{page}.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / "declare" / f"{file}.yaml").read_text(encoding="utf-8") in text
