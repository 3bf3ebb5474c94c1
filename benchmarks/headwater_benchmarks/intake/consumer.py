"""Headwater's consumer in the benchmark: `python -m headwater_benchmarks.intake.consumer consume …`.

It is `headwater consume`, wired by the same function and configured by the same variables, whose metrics also record
when each RUN event was committed. It prints one JSON document on stdout, and has in a file how many events are applied:
to ask for `/metrics` every few milliseconds would cost it as much time as some of its events.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from headwater.consuming import consume
from headwater.settings import load_settings
from headwater_benchmarks.ingest.consumer import end_with_parent
from headwater_consumers.materializer.graph import WriteSummary
from headwater_consumers.materializer.metrics import Metrics
from headwater_consumers.materializer.records import Decoded

APPLIED_FILE: Final = "BENCH_APPLIED_FILE"
"""The variable that has the path of the file."""


class CommitTimes(Metrics):
    """The metrics, with the time of each RUN event's commit.

    Args:
        applied: the file that has how many events are applied.

    Attributes:
        committed_ms: by event id, when its first transaction was committed; Unix time.
    """

    def __init__(self, applied: Path) -> None:
        super().__init__()
        self._count = 0
        self._file = applied
        applied.write_text("0")
        self.committed_ms: dict[str, float] = {}

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteSummary) -> None:
        """A transaction with these events was committed."""
        now = time.time() * 1_000
        for each in events:
            if each.event.run_event is not None:
                self.committed_ms.setdefault(each.event.event_id, now)
        super().wrote(events, seconds, summary)
        self._count += len(events)
        new = self._file.with_suffix(".new")
        new.write_text(str(self._count))
        new.replace(self._file)


def main() -> None:
    """Consume until stopped, then print the report."""
    end_with_parent()
    metrics = CommitTimes(Path(os.environ[APPLIED_FILE]))
    totals = consume(load_settings(), until_caught_up=False, metrics=metrics)
    json.dump({**totals.document(), "committed_ms": metrics.committed_ms}, sys.stdout)


if __name__ == "__main__":
    main()
