"""Channel to the process that started the dry run: questions and reports, as lines of JSON on two pipes.

⇒ {"ask": {"kind": "table", "name": "shop.orders"}}      ⇐ {"columns": "id BIGINT, day DATE"}, or null
⇒ {"output": {…}}, {"input": {…}}, {"look": {…}}, {"problem": {…}}, {"lines": {…}}, {"end": {…}}
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from typing import Any, Final

from headwater_schemas.redaction import redact

_PARENT_EVERY_SECONDS: Final = 1.0
_FORKED: Final = {
    "problem": {
        "text": "The script continues in a process that it has forked, which a dry run can't observe.",
        "fix": "Use Spark only in the process that created the session, and end forked processes with os._exit.",
    }
}


def end_with_parent(parent: int) -> None:
    """End this process and its JVM, which form a process group, once the starting process is gone.

    The parent ends this process, unless the parent itself is killed. Then this process ends itself, so that a cancelled
    CI step leaves nothing behind.

    Args:
        parent: process id of the parent, as the parent passed it: the parent may have ended by now.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_EVERY_SECONDS)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()


class Channel:
    """Channel over two pipes."""

    def __init__(self, answers: int, reports: int) -> None:
        os.set_inheritable(answers, False)  # noqa: FBT003  the standard library's
        os.set_inheritable(reports, False)  # noqa: FBT003
        self._answers = os.fdopen(answers, "r", encoding="utf-8")
        self._reports = os.fdopen(reports, "w", encoding="utf-8")
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def forked(self) -> bool:
        """True in a process that the script has forked: its parent process gets the answers and reports the end."""
        return os.getpid() != self._process

    def ask(self, kind: str, name: str) -> str | None:
        """Ask for a source's declared columns, as DDL; None if no columns are declared."""
        if self.forked:
            self._report_fork()
            return None
        with self._lock:
            self._write("ask", {"kind": kind, "name": name})
            line = self._answers.readline()
        answer: dict[str, Any] = json.loads(line) if line else {}
        columns: str | None = answer.get("columns")
        return columns

    def report(self, what: str, content: dict[str, Any]) -> None:
        """Report `content`; a forked process only reports that it exists."""
        if self.forked:
            self._report_fork()
            return
        with self._lock:
            self._write(what, content)

    def problem(self, text: str, fix: str = "") -> None:
        """Report a reason why the review is incomplete, and its fix, with likely secrets redacted."""
        self.report("problem", {"text": redact(text), "fix": redact(fix)})

    def _report_fork(self) -> None:
        # A single write, smaller than a pipe's buffer, needs no lock; another thread may have held it at the fork.
        os.write(self._reports.fileno(), f"{json.dumps(_FORKED)}\n".encode())

    def _write(self, what: str, content: dict[str, Any]) -> None:
        self._reports.write(json.dumps({what: content}) + "\n")
        self._reports.flush()
