"""Named Cypher statements, several in a file: `cypher/<file>.cypher` of a package.

A statement begins with the line `// name: title`. A long file may be a folder of files instead. Statements of one
file or folder may share a frame: the statement named `frame`. A statement that uses the frame has two parts, divided by
a line `// row`. Its lines before `// row` replace the frame's line `// match`, and its lines after `// row` replace the
frame's line `// row`. The statements of the checks do so.

Text of events and requests never becomes Cypher: a statement is sent exactly as in its file, and all values are
parameters.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from importlib.resources import files
from typing import Final, LiteralString

_BEGIN: Final = re.compile(r"^// ([a-z][a-z0-9_]*): ", re.MULTILINE)
_FRAME: Final = "frame"
_ROW: Final = "\n// row\n"


def load(package: str, name: str) -> LiteralString:
    """Return statement `<file>/<name>` of a package, with its title as its first line.

    Raises:
        KeyError: the file has no statement of that name.
        FileNotFoundError: there is no such file.
        ValueError: the file doesn't begin with a statement, or has two statements of one name.
    """
    file, _, statement = name.partition("/")
    return _statements(package, file)[statement]


def names(package: str, file: str) -> tuple[str, ...]:
    """Names of the statements in a file, in their order.

    Raises:
        FileNotFoundError, ValueError: see `load`.
    """
    return tuple(_statements(package, file))


@cache
def _statements(package: str, file: str) -> dict[str, LiteralString]:
    folder = files(package).joinpath("cypher")
    several = folder.joinpath(file)
    paths = sorted(several.iterdir(), key=str) if several.is_dir() else [folder.joinpath(f"{file}.cypher")]
    statements: dict[str, LiteralString] = {}
    for path in paths:
        before, *parts = _BEGIN.split(path.read_text(encoding="utf-8"))
        if before or not parts:
            raise ValueError(f"{path} must begin with `// name: title`")
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in statements:
                raise ValueError(f"{path} has a second statement {name}")
            statements[name] = f"// {name}: {text.rstrip()}\n"
    frame = statements.pop(_FRAME, "")
    return {name: _framed(frame, text) if _ROW in text else text for name, text in statements.items()}


def _framed(frame: LiteralString, text: LiteralString) -> LiteralString:
    title, _, body = text.partition("\n")
    match, _, row = body.partition(_ROW)
    _, _, lines = frame.partition("\n")
    for mark, part in (("match", match), ("row", row.rstrip())):
        lines = lines.replace(f"  // {mark}\n", textwrap.indent(part, "  ") + "\n")
    return f"{title}\n{lines}"
