"""Run errors: exceptions as RunError, without credentials and without lines of code."""

from __future__ import annotations

import re
import traceback
from typing import Final

import msgspec

from headwater_producers.spark.common.settings import ErrorDetail
from headwater_producers.spark.plan.names import without_keys
from headwater_schemas.events import RunError
from headwater_schemas.quoted_source import without_source
from headwater_schemas.redaction import redact

NO_TYPE: Final = "unknown error"
# Enough to find the line that failed, small enough for any record.
MAX_MESSAGE_CHARS: Final = 4_000
MAX_STACK_CHARS: Final = 8_000

# `org.apache.spark.SparkException: text`; the class name has dots, and no spaces.
_HEAD: Final = re.compile(r"^([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+)(?::\s*|$)")
_FRAME: Final = re.compile(r"^\s*(?:at [\w.$<>/]+\(|\.\.\. \d+ more|Caused by: |Suppressed: )")
# Py4J's sentence about an error in a Python function called by the JVM, as by foreachBatch; a traceback follows.
_PROXY: Final = "An exception was raised by the Python Proxy. Return Message: "
_TRACEBACK: Final = "Traceback (most recent call last):\n"
# `ValueError: text` below the indented lines of a traceback.
_RAISED: Final = re.compile(r"^([A-Za-z_][\w.]*)(?::[ ]*|$)", re.MULTILINE)
_OF_PY4J: Final = re.compile(r"An error occurred while calling [^\n]*\n: ")
_SQLSTATE: Final = re.compile(r"\s*SQLSTATE: \w{5}\s*\Z")


def from_java_text(text: str) -> RunError:
    """Parse `Throwable.toString`, or a whole printed stack trace.

    For a failed foreachBatch function, the error is the function's own, without Py4J's and Spark's errors around it.
    """
    return _of_function(text) or _of_java(text)


def _of_function(text: str) -> RunError | None:
    _, wrapped, inner = text.partition(_PROXY)
    _, found, last = _java_frames_off(inner)[0].rpartition(_TRACEBACK)
    raised = _RAISED.search(last)
    if not wrapped or not found or raised is None:
        return None
    message = _SQLSTATE.sub("", last[raised.end() :]).strip()
    if (called := _OF_PY4J.match(message)) is not None:
        # The function itself called the JVM, where the error occurred.
        cause = _of_java(message[called.end() :])
        kind, message = cause.type, cause.message
    else:
        kind, message = raised[1], message or raised[1]
    return RunError(
        type=kind, message=_shown(message, MAX_MESSAGE_CHARS), stack_trace=_shown(inner.strip(), MAX_STACK_CHARS)
    )


def _java_frames_off(text: str) -> tuple[str, str]:
    """Split a JVM's stack trace before its first frame; return both parts."""
    lines = text.split("\n")
    end = next((number for number, line in enumerate(lines) if number and _FRAME.match(line)), len(lines))
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def _of_java(text: str) -> RunError:
    message, stack_trace = _java_frames_off(text.strip() or NO_TYPE)
    message = message.strip()
    kind = None
    if found := _HEAD.match(message):
        kind = found[1]
        message = message[found.end() :].strip() or kind
    return RunError(
        type=kind,
        message=_shown(message, MAX_MESSAGE_CHARS),
        stack_trace=_shown(stack_trace, MAX_STACK_CHARS) if stack_trace else None,
    )


def first_line(error: BaseException) -> str:
    """Return an exception's text on one line, without the plan or stack trace that Spark appends."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(": \t")]
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling "):
        # py4j's own sentence; the error is on the next line.
        return lines[1].removeprefix(": ")
    return lines[0] if lines else type(error).__name__


def from_exception(error: BaseException) -> RunError:
    """Build the error of the driver's script; for a failed foreachBatch function, the error that it raised."""
    if (of_function := _of_function(str(error))) is not None:
        return of_function
    kind = type(error)
    return RunError(
        type=kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}",
        message=_shown(str(error) or kind.__qualname__, MAX_MESSAGE_CHARS),
        stack_trace=_shown("".join(traceback.format_exception(error)), MAX_STACK_CHARS),
    )


def in_detail(error: RunError, detail: ErrorDetail) -> RunError:
    """Reduce an error to the detail that the setting `capture_errors` allows."""
    if detail == "stack":
        return error
    if detail == "message":
        return msgspec.structs.replace(error, stack_trace=None)
    return RunError(type=error.type, message=error.type or NO_TYPE)


def _shown(text: str, max_chars: int) -> str:
    # Names of columns are in messages, too.
    return redact("\n".join(map(without_keys, without_source(text).split("\n"))), max_chars=max_chars)
