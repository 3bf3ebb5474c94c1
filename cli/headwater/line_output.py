"""Lines of JSON for other programs: to stdout, or to a file that appears only once it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from headwater.errors import InputError
from headwater_schemas.visible import json_escaped


def write_line(sink: BinaryIO, line: str) -> None:
    """Write a line of JSON; control characters are escaped for a terminal, and unchanged for a file or program."""
    sink.write((json_escaped(line) if sink.isatty() else line).encode() + b"\n")


@contextmanager
def line_sink(output: Path | None, *, silent: bool) -> Iterator[BinaryIO | None]:
    """Open the destination of lines. The file gets its name only when it is complete.

    Args:
        output: the file; None: stdout.
        silent: whether to print nothing to stdout; the destination is then None.

    Raises:
        InputError: the file can't be written.
    """
    if output is None:
        try:
            yield None if silent else sys.stdout.buffer
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has closed the pipe (`| head`). Otherwise Python would flush again at its exit, and fail.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(output)
    except OSError as error:
        raise InputError(f"{output} can't be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
