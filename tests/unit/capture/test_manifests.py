"""Files that a batch write has committed, by a listing: its own, or more than its own, or none that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.connectors.connector_answers import CommittedVersion
from headwater_producers.spark.connectors.files.manifest import ListedPath, Manifests, parse_listing
from headwater_producers.spark.events.writes import Counts, join_outputs
from headwater_producers.spark.plan import PlanSettings
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, FileSet, Position
from headwater_schemas.identity import manifest_digest

if TYPE_CHECKING:
    import pytest

A, B = "4f2c9e1a-0000-4000-8000-00000000000a", "4f2c9e1a-0000-4000-8000-00000000000b"
ROOT = "file:/out"


def file(write_id: str, task: int, length: int, folder: str = ROOT) -> ListedPath:
    return ListedPath(f"{folder}/part-{task:05}-{write_id}-c000.snappy.parquet", length, 1_000)


def chosen(
    listed: list[ListedPath],
    files: int,
    size: int,
    *,
    depth: int = 0,
    settings: PlanSettings | None = None,
    manifests: Manifests | None = None,
) -> CommittedVersion:
    counts, settings = Counts(files=files, bytes=size), settings or PlanSettings()
    return (manifests or Manifests()).chosen(listed, counts, settings, root=ROOT, depth=depth)


def files_of(found: CommittedVersion) -> FileSet:
    assert found.position is not None
    assert found.position.files is not None
    return found.position.files


def test_the_files_of_the_one_write_that_fits_are_its_own() -> None:
    mine, other = [file(A, 0, 10), file(A, 1, 20)], [file(B, 0, 10), file(B, 1, 21)]
    found = chosen([*other, *reversed(mine)], 2, 30)
    paths = tuple(each.path for each in mine)
    assert found.certainty is Certainty.EXACT
    assert files_of(found) == FileSet(
        count=2,
        bytes=30,
        manifest_digest=manifest_digest(paths),
        paths=paths,
        pattern=f"file:/out/part-*-{A}*",
    )


def test_of_two_writes_that_fit_both_are_a_bound_unless_one_is_known_to_be_anothers() -> None:
    manifests = Manifests()
    first, second = [file(A, 0, 10)], [file(B, 0, 10)]
    assert chosen(first, 1, 10, manifests=manifests).certainty is Certainty.EXACT
    assert files_of(chosen(first + second, 1, 10, manifests=manifests)).paths == (second[0].path,)
    bound = chosen(first + second, 1, 10)
    assert (bound.certainty, files_of(bound).count, files_of(bound).pattern) == (Certainty.UPPER_BOUND, 2, None)


def test_files_of_other_names_are_a_bound() -> None:
    listed = [ListedPath(f"{ROOT}/0001.csv", 10, 1_000), ListedPath(f"{ROOT}/0002.csv", 5, 1_000)]
    assert chosen(listed, 2, 15).certainty is Certainty.UPPER_BOUND
    assert files_of(chosen(listed, 1, 10)).count == 2


def test_what_cannot_hold_what_was_counted_names_no_files(subtests: pytest.Subtests) -> None:
    for listed in ([], [file(A, 0, 9)], [file(A, 0, 90)]):
        with subtests.test(listed=listed):
            found = chosen(listed, 2, 30)
            assert found.position == Position(files=FileSet(count=2, bytes=30))
            assert found.certainty is Certainty.EXACT


def test_more_files_than_are_listed_have_their_pattern_and_digest() -> None:
    listed = [file(A, task, 1) for task in range(101)]
    found = files_of(chosen(listed, 101, 101))
    assert (found.count, len(found.paths)) == (101, 100)
    assert found.manifest_digest == manifest_digest(sorted(each.path for each in listed))
    assert found.pattern == f"file:/out/part-*-{A}*"


def test_partitions_are_named_unless_literals_are_hidden() -> None:
    listed = [file(A, 0, 1, f"{ROOT}/day={day}/city={city}") for day, city in (("1", "S%3At"), ("2", "Oslo"))]
    found = chosen(listed, 2, 2, depth=2)
    assert found.partitions == ((("day", "1"), ("city", "S:t")), (("day", "2"), ("city", "Oslo")))
    assert files_of(found).pattern == f"file:/out/*/*/part-*-{A}*"
    hidden = chosen(listed, 2, 2, depth=2, settings=PlanSettings(literals=False))
    assert (hidden.partitions, files_of(hidden).paths, files_of(hidden).count) == ((), (), 2)


FOLDER = (
    "DeprecatedRawLocalFileStatus{path=file:/out/day=1; isDirectory=true; modification_time=1700000000002; "
    "access_time=17; owner=; group=; permission=rwxrwxrwx; isSymlink=false}"
)
LISTING = f"""{FOLDER}
{FOLDER.replace("day=1", "day=2")}
DeprecatedRawLocalFileStatus{{path=file:/out/a, b; isDirectory=false; length=792; replication=1; blocksize=33554432; \
modification_time=1700000000001; access_time=17; owner=; group=; permission=rw-rw-rw-; isSymlink=false; hasAcl=false; \
isEncrypted=false; isErasureCoded=false}}"""


def test_a_listing_is_read_from_one_text() -> None:
    assert parse_listing(LISTING) == [
        ListedPath("file:/out/day=1", None, 1_700_000_000_002),
        ListedPath("file:/out/day=2", None, 1_700_000_000_002),
        ListedPath("file:/out/a, b", 792, 1_700_000_000_001),
    ]


def use(*paths: str, position: bool = True) -> DatasetUse:
    files = FileSet(count=len(paths), bytes=len(paths), manifest_digest=manifest_digest(paths), paths=paths)
    return DatasetUse(
        dataset=DatasetRef("file", "/out"),
        position=Position(files=files) if position else None,
        certainty=Certainty.EXACT if position else Certainty.UNKNOWN,
        files=len(paths),
    )


def test_two_writes_into_one_folder_have_made_the_files_of_both() -> None:
    [both] = join_outputs([use("a", "b"), use("c")])
    assert (both.position, both.certainty, both.files) == (use("a", "b", "c").position, Certainty.EXACT, 3)
    [unknown] = join_outputs([use("a"), use("c", position=False)])
    assert (unknown.position, unknown.certainty) == (None, Certainty.UNKNOWN)
