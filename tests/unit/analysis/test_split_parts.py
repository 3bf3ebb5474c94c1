"""Parts of datasets, split by partition or file."""

from __future__ import annotations

from dataclasses import replace

from headwater_analysis.assets import dataset_asset
from headwater_analysis.trace.parts import split_by_file, split_by_partition
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_schemas.events import Certainty

DATASET = dataset_asset({"key": "0" * 32, "namespace": "s3://lake", "name": "orders"})
FILES = Part(
    dataset=DATASET,
    kind=PartKind.FILES,
    certainty=Certainty.EXACT,
    files=("s3://lake/orders/day=1/a", "s3://lake/orders/day=2/b"),
    file_count=2,
    format="delta",
    version="7",
    rows=100,
)


def test_rows_and_version_of_a_split_part_are_unknown() -> None:
    taken, left = split_by_partition(FILES, ("day=1",))
    first, second = (replace(FILES, files=(path,), file_count=1, version=None, rows=None) for path in FILES.files)
    assert (taken, left) == (first, second)
    assert split_by_file(FILES, lambda path: path.endswith("/b")) == (second, first)


def test_a_part_of_which_all_or_nothing_is_taken_stays_as_it_is() -> None:
    assert split_by_partition(FILES, ("day=1", "day=2")) == (FILES, None)
    assert split_by_partition(FILES, ("day=3",)) == (None, FILES)


def test_files_that_are_not_listed_are_taken_only_if_all_their_partitions_are() -> None:
    many = replace(FILES, file_count=9, partitions=("day=1", "day=2"))
    assert split_by_partition(many, ("day=1", "day=2")) == (many, None)
    taken, left = split_by_partition(many, ("day=1",))
    assert taken is not None
    assert taken.file_count == 1
    assert left is not None
    assert (left.files, left.file_count) == (FILES.files[1:], 8)
    _, unknown = split_by_partition(replace(many, partitions=()), ("day=1", "day=2"))
    assert unknown is not None
    assert (unknown.files, unknown.file_count) == ((), 7)


def test_a_version_is_split_by_its_partitions() -> None:
    version = replace(FILES, kind=PartKind.SNAPSHOT, files=(), file_count=None, partitions=("day=1", "day=2"))
    taken, left = split_by_partition(version, ("day=1",))
    assert (taken, left) == (replace(version, partitions=("day=1",)), replace(version, partitions=("day=2",)))
    assert split_by_partition(replace(version, partitions=()), ("day=1",)) == (None, replace(version, partitions=()))
