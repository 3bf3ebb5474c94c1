"""The checks of datasets and of positions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.fold.rejection import need

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater_schemas.events import DatasetRef, DatasetUse, KafkaRanges, OffsetRange, Position


def check_dataset(dataset: DatasetRef, field: str) -> None:
    """A dataset has a name. Its namespace may be empty: some catalogs have none."""
    need(dataset.name, f"{field}.name", "empty")


def check_uses(uses: Iterable[DatasetUse], field: str) -> None:
    """Uses name a dataset, and a position at most once."""
    for index, use in enumerate(uses):
        at = f"{field}[{index}]"
        check_dataset(use.dataset, f"{at}.dataset")
        for position, source in enumerate(use.inputs or ()):
            check_dataset(source, f"{at}.inputs[{position}]")
        if use.position is not None:
            _check_position(use.position, f"{at}.position")


def _check_position(position: Position, field: str) -> None:
    is_set = [name for name in position.__struct_fields__ if getattr(position, name) is not None]
    # None at all is a sort that a newer version added.
    need(len(is_set) <= 1, field, f"{len(is_set)} sorts of position at once")
    if position.kafka is not None:
        _check_ranges(position.kafka, f"{field}.kafka")
    elif (table := position.table_snapshot) is not None:
        need(table.snapshot_id, f"{field}.table_snapshot.snapshot_id", "empty")
    elif (files := position.files) is not None:
        need(files.count >= 0, f"{field}.files.count", "negative")
        need(files.manifest_digest != "", f"{field}.files.manifest_digest", "empty")
    elif (times := position.time_range) is not None:
        need(times.from_ <= times.to_exclusive, f"{field}.time_range", "ends before it begins")


def _check_ranges(kafka: KafkaRanges, field: str) -> None:
    seen: set[int] = set()
    for index, part in enumerate(kafka.ranges):
        # Nearly all are good, and there may be a thousand: what is wrong is only worded where something is.
        if not (0 <= part.partition not in seen and 0 <= part.from_ <= part.to_exclusive):
            _reject_range(part, seen, f"{field}.ranges[{index}]")
        seen.add(part.partition)


def _reject_range(part: OffsetRange, seen: set[int], at: str) -> None:
    need(part.partition >= 0, f"{at}.partition", "negative")
    need(part.partition not in seen, f"{at}.partition", f"{part.partition} is there twice")
    need(part.from_ >= 0, f"{at}.from", "negative")
    need(part.from_ <= part.to_exclusive, at, f"ends at {part.to_exclusive}, before it begins at {part.from_}")
