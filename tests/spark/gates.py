"""Gate: holds the tasks of a query until the test opens it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.waiting import eventually


class Gate:
    """A closed gate, which tasks come to in a Spark worker and wait at.

    A worker is another process and can't see the test's objects. So the gate is a file that the test keeps locked, and
    a task asks for the lock.

    Args:
        path: Where no file is yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    @property
    def _reached(self) -> Path:
        return self._path.with_name(f"{self._path.name}.reached")

    def wait_until_reached(self) -> None:
        """Return when a task is at the gate, or has passed it."""
        eventually(self._reached.exists, 60, expecting="a task is at the gate")

    def open(self) -> None:
        """Let through whoever waits, and whoever comes."""
        self._file.close()

    def function(self, *, fails: bool = False) -> Callable[[Any], Any]:
        """A function for a UDF: returns its argument once the gate is open.

        Args:
            fails: It raises an error instead.
        """
        path, reached = str(self._path), str(self._reached)

        def held(value: Any) -> Any:
            # Without anything of this module, which a worker can't import.
            with open(reached, "w"), open(path) as file:  # noqa: PTH123
                fcntl.flock(file, fcntl.LOCK_SH)
            if fails:
                raise ValueError("no such day")
            return value

        # Spark 4.1 warns of hints from which it can't tell how to call the function.
        held.__annotations__.clear()
        return held
