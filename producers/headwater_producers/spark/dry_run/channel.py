"""Questions to the process that started the dry run, and what is reported to it: lines of JSON on two pipes.

⇒ {"ask": {"kind": "table", "name": "shop.orders"}}      ⇐ {"columns": "id BIGINT, day DATE"}, or null
⇒ {"output": {…}}, {"input": {…}}, {"problem": {…}}, {"end": {…}}
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any


class Channel:
    """The two pipes.

    Args:
        answers: descriptor to read answers from.
        reports: descriptor to write to.
    """

    def __init__(self, answers: int, reports: int) -> None:
        os.set_inheritable(answers, False)  # noqa: FBT003  the standard library's
        os.set_inheritable(reports, False)  # noqa: FBT003
        self._answers = os.fdopen(answers, "r", encoding="utf-8")
        self._reports = os.fdopen(reports, "w", encoding="utf-8")
        self._lock = threading.Lock()

    def ask(self, kind: str, name: str) -> str | None:
        """The declared columns, as DDL; None: there are none."""
        with self._lock:
            self._write("ask", {"kind": kind, "name": name})
            line = self._answers.readline()
        answer: dict[str, Any] = json.loads(line) if line else {}
        columns: str | None = answer.get("columns")
        return columns

    def report(self, what: str, content: dict[str, Any]) -> None:
        """`output`, `input`, `problem` or `end`."""
        with self._lock:
            self._write(what, content)

    def problem(self, text: str, fix: str = "") -> None:
        """Why the review can't be complete, and what to do about it."""
        self.report("problem", {"text": text, "fix": fix})

    def _write(self, what: str, content: dict[str, Any]) -> None:
        self._reports.write(json.dumps({what: content}) + "\n")
        self._reports.flush()
