"""The examples of the page on privacy, on the demo's graph with what is declared of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.worked_examples import check_page

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[3]


def test_the_examples(
    followed_demo: dict[str, str], headwater: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    headwater("declare", "docs/examples/declare/flights.yaml")
    check_page("privacy.md")


def test_the_page_shows_the_file() -> None:
    page = (ROOT / "docs" / "analysis" / "privacy.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / "declare" / "privacy.yaml").read_text(encoding="utf-8") in page
