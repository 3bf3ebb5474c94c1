"""Why a run failed, as a RunError free of credentials."""

from __future__ import annotations

import re
import traceback
from typing import Final

from headwater_schemas.events import RunError
from headwater_schemas.redaction import redact

# Enough to find the line that failed, small enough for any record.
MAX_MESSAGE_CHARS: Final = 4_000
MAX_STACK_CHARS: Final = 8_000

# `org.apache.spark.SparkException: text`; the class is dotted, and neither holds a space.
_HEAD: Final = re.compile(r"^([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+)(?::\s*|$)")
_FRAME: Final = re.compile(r"^\s*(?:at [\w.$<>/]+\(|\.\.\. \d+ more|Caused by: |Suppressed: )")


def from_java_text(text: str) -> RunError:
    """Reads `Throwable.toString`, or a whole printed stack trace."""
    lines = text.strip().splitlines() or ["unknown error"]
    end = next((number for number, line in enumerate(lines) if number and _FRAME.match(line)), len(lines))
    message = "\n".join(lines[:end]).strip()
    kind = None
    if found := _HEAD.match(message):
        kind = found[1]
        message = message[found.end() :].strip() or kind
    return RunError(
        type=kind,
        message=redact(message, max_chars=MAX_MESSAGE_CHARS),
        stack_trace=redact("\n".join(lines[end:]), max_chars=MAX_STACK_CHARS) if end < len(lines) else None,
    )


def from_exception(error: BaseException) -> RunError:
    """An exception of the driver's script."""
    kind = type(error)
    return RunError(
        type=kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}",
        message=redact(str(error) or kind.__qualname__, max_chars=MAX_MESSAGE_CHARS),
        stack_trace=redact("".join(traceback.format_exception(error)), max_chars=MAX_STACK_CHARS),
    )
