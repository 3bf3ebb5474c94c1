"""Several reads of one dataset in one query, as one use: two of its partitions' folders, the same files twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater_producers.spark.plan.settings import MAX_PATHS
from headwater_schemas.events import Certainty, FileSet, Position
from headwater_schemas.identity import manifest_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater_schemas.events import DatasetRef, DatasetUse


def join_inputs(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Each dataset once, as far as one position can record it.

    Of files it is all of them. Two versions of a table stay two uses: each of them was read.

    Args:
        uses: of one query, each with the counts of all that was read of its dataset.
    """
    joined: dict[tuple[DatasetRef, str | None], DatasetUse] = {}
    for use in uses:
        key = (use.dataset, None if _is_of_files(use) else repr(use.position))
        earlier = joined.get(key)
        joined[key] = use if earlier is None else _both(earlier, use)
    return tuple(joined.values())


def _is_of_files(use: DatasetUse) -> bool:
    return use.position is not None and use.position.files is not None


def _both(one: DatasetUse, other: DatasetUse) -> DatasetUse:
    if one.position == other.position or one.position is None or other.position is None:
        return one
    found = _union(one.position.files, other.position.files)
    if found is None:
        return msgspec.structs.replace(one, position=None, certainty=Certainty.UNKNOWN)
    is_exact = one.certainty is other.certainty is Certainty.EXACT
    certainty = Certainty.EXACT if is_exact else Certainty.UPPER_BOUND
    return msgspec.structs.replace(one, position=Position(files=found), certainty=certainty)


def _union(one: FileSet | None, other: FileSet | None) -> FileSet | None:
    """The files of both; None where one of them doesn't name all of its files."""
    if one is None or other is None or any(len(each.paths) != each.count for each in (one, other)):
        return None
    paths = sorted({*one.paths, *other.paths})
    are_apart = len(paths) == one.count + other.count
    size = one.bytes + other.bytes if are_apart and one.bytes is not None and other.bytes is not None else None
    return FileSet(count=len(paths), bytes=size, manifest_digest=manifest_digest(paths), paths=tuple(paths[:MAX_PATHS]))
