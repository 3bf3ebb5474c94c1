"""docs/messages.md lists every message that an operator may read; rewritten by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from support.messages import ROOT, messages, page
from support.run_rules import rewrite, updating

PAGE = Path(ROOT / "docs" / "messages.md")
BEGIN, END = "<!-- messages: begin -->\n", "<!-- messages: end -->\n"


def test_the_page_lists_every_message() -> None:
    listed = page(messages())
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    there, _, tail = rest.partition(END)
    if updating():
        rewrite(PAGE, f"{head}{BEGIN}{listed}{END}{tail}")
    else:
        assert there == listed, (
            "run UPDATE_GOLDENS=1 pytest tests/unit/architecture/test_messages.py, and read the change"
        )
