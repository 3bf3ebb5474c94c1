"""`headwater` as a process whose wall clock a test sets: `python -m support.clock FILE COMMAND …`."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from pathlib import Path

import time_machine

_LOOK_SECONDS = 0.1


class Clock:
    """A clock of processes; monotonic clocks and those of other programs go on as they do.

    Args:
        file: its offset in seconds, which the processes read again and again.

    Attributes:
        program: Python arguments that run `headwater` with it.
        variables: what these need in their environment.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.program = ("-m", "support.clock", str(file))
        self.variables = {"PYTHONPATH": str(Path(__file__).parents[1])}

    def set(self, offset: timedelta) -> None:
        """Set it ahead of, or behind, what time it is."""
        new = self._file.with_suffix(".new")
        new.write_text(str(offset.total_seconds()), encoding="utf-8")
        new.replace(self._file)


def _follow(file: Path) -> None:
    """Keep this process's clock at the file's offset."""
    offset = float(file.read_text(encoding="utf-8"))
    traveller = time_machine.travel(timedelta(seconds=offset)).start()

    def follow(now: float) -> None:
        pause = threading.Event()
        while not pause.wait(_LOOK_SECONDS):
            wanted = float(file.read_text(encoding="utf-8"))
            if wanted != now:
                traveller.shift(wanted - now)
                now = wanted

    threading.Thread(target=follow, args=(offset,), daemon=True).start()


if __name__ == "__main__":
    from headwater.cli import main

    _follow(Path(sys.argv.pop(1)))
    sys.exit(main(sys.argv[1:]))
