"""How two versions of a job write: mode, what is overwritten, format, and each option of the writer by itself."""

from __future__ import annotations

from collections.abc import Iterator

from headwater_consumers.review.compare import Difference, DifferenceKind
from headwater_consumers.review.jobs.version import JobOutput

_FAILS = "errorifexists"
# Spark's other names of that mode, which is the one of a writer without any.
_ALSO_FAILS = (None, "", "error", "default")
_ALL_ROWS = ("overwrite", "replace", "createorreplace")
_SOME_ROWS = ("overwrite ", "overwritepartitions")


def how_written(old: JobOutput, new: JobOutput) -> Iterator[Difference]:
    """WRITE_MODE, once for each thing that differs."""
    before, after = _mode(old), _mode(new)
    if before != after:
        more = _overwritten(after) > _overwritten(before)
        yield Difference(DifferenceKind.WRITE_MODE, "", before=before, after=after, overwrites_more=more)
    if old.format != new.format:
        yield Difference(DifferenceKind.WRITE_MODE, "", before=old.format, after=new.format)
    for name in sorted(old.options.keys() | new.options.keys()):
        one, other = old.options.get(name), new.options.get(name)
        if one != other:
            yield Difference(DifferenceKind.WRITE_MODE, "", before=one, after=other)


def _mode(output: JobOutput) -> str:
    return _FAILS if output.mode in _ALSO_FAILS else output.mode


def _overwritten(mode: str) -> int:
    """How much of what was there a mode overwrites: nothing, some rows, or all."""
    word = mode.lower()
    return 2 if word in _ALL_ROWS else 1 if word.startswith(_SOME_ROWS) else 0
