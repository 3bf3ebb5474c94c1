"""Removal of source code from text: every text that leaves the process passes through `without_source`.

`without_source` keeps file, line and function of a Python traceback and removes the lines of code below them; from
Spark's messages it removes quoted SQL text and plans.
"""

from __future__ import annotations

import re
from typing import Final

# A line of a traceback ends with a line break; in a quoted text it ends with `\n`, and if that is quoted again, with
# more backslashes.
_FRAME_LINE: Final = re.compile(r"([ \t|]*+)File \\*+[\"'][^\r\n]*?, line \d++")
_ESCAPED_FRAME: Final = re.compile(r"(\\{1,8}+)n[ \t|]*+File \\*+[\"'][^\r\n\"']{1,1000}+[\"'], line \d")
_MARGIN: Final = re.compile(r"[ \t|]*+")
_HEADING: Final = re.compile(r"^== SQL(?: of [^\r\n]{1,400}+)?(?: \(line \d+, position \d+\))? ==\s*$")
_AFTER_SOURCE: Final = re.compile(
    r"^(?:\s+at [\w.$<>/]+\(|\s*\.\.\. \d+ more|Caused by: |Suppressed: |JVM stacktrace:|== )"
)
_CARETS: Final = re.compile(r"^[ \-]*\^+\s*$")
_TREE: Final = re.compile(r"^[ :|]*[+:]- ")

_MAX_BLANK_LINES: Final = 20
SOURCE_LEFT_OUT: Final = "(source left out)"


def without_source(text: str) -> str:
    """Return `text` without the lines of code that it quotes. Idempotent.

    A Python traceback is found anywhere in the text, at any depth of quoting (PySpark's PythonException has it in the
    middle of a stack trace of the JVM). File, line and function of each frame stay; the lines below a frame are
    removed, with the carets of Python 3.11 and 3.13. In Spark's errors the text of the statement (`== SQL ==`) and the
    plan after an AnalysisException are removed.
    """
    for escape in sorted(set(_ESCAPED_FRAME.findall(text))):
        text = _without_frames(text, re.compile(rf"((?<!\\)\\{{{len(escape)}}}n)"))
    return _without_statements(_without_frames(text, re.compile(r"(\r?\n)")))


def _without_frames(text: str, line_break: re.Pattern[str]) -> str:
    pieces = line_break.split(text)  # line, break, line, …, line
    kept: list[str] = []
    margin: int | None = None
    for index in range(0, len(pieces), 2):
        line = pieces[index]
        indent = _indent(line)
        if _FRAME_LINE.match(line):
            margin = indent
        elif margin is not None:
            # A blank line may be part of the code. The JVM's frames are indented, too.
            blank = indent == len(line)
            if _code_goes_on(pieces, index, margin) if blank else indent > margin and not _AFTER_SOURCE.match(line):
                continue
            margin = None
        kept += ((pieces[index - 1] if index else ""), line)
    return "".join(kept)


def _code_goes_on(pieces: list[str], index: int, margin: int) -> bool:
    line = next((line for line in pieces[index + 2 : index + 2 * _MAX_BLANK_LINES : 2] if line.strip(" \t|")), "")
    return _indent(line) > margin and not _AFTER_SOURCE.match(line)


def _indent(line: str) -> int:
    margin = _MARGIN.match(line)
    return margin.end() if margin else 0


def _without_statements(text: str) -> str:
    if "== SQL" not in text and "- " not in text:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if _HEADING.match(line):
            index, has_position = index + 1, "position" in line
            if index < len(lines) and lines[index] == SOURCE_LEFT_OUT:
                kept.append(line)
                continue
            while index < len(lines) and not _AFTER_SOURCE.match(lines[index]):
                index += 1
                if has_position and _CARETS.match(lines[index - 1]):
                    break
            kept += (line, SOURCE_LEFT_OUT)
        elif line.endswith(";") and any(map(_TREE.match, lines[index + 1 : index + 3])):
            index += 1
            while index < len(lines) and lines[index].strip() and not _AFTER_SOURCE.match(lines[index]):
                index += 1
            kept.append(line)
        else:
            kept.append(line)
            index += 1
    return "\n".join(kept)
