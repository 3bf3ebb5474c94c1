"""The estate: as large as asked, shaped as promised, the same for the same seed, in the model of the graph."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from headwater_benchmarks.estate import batches
from headwater_benchmarks.estate.drawn import Estate, draw
from headwater_benchmarks.estate.lines import QUERIES, lines_of
from headwater_benchmarks.estate.micro_batches import Entries
from headwater_benchmarks.estate.sizes import FEEDS_PER_DATASET, Sizes
from headwater_benchmarks.estate.starts import draw_starts
from headwater_benchmarks.estate.store import write_sheets
from headwater_graph.facts.model import KEYED, Label, RelType
from headwater_graph.fold.rejection import reject
from headwater_graph.keys import column_key, dataset_key
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import IntervalEntry

pytestmark = pytest.mark.nightly

SIZES = Sizes(datasets=1_000, columns=8_000, intervals=11_000, seed=7)


@pytest.fixture(scope="module")
def estate() -> Estate:
    return draw(SIZES)


@pytest.fixture(scope="module")
def sheets(estate: Estate, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    folder = tmp_path_factory.mktemp("sheets")
    write_sheets(estate, folder, lambda _: None)
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.stem] = list(csv.DictReader(file))
    return found


def test_out_degrees_follow_a_power_law_with_mean_three(estate: Estate) -> None:
    degrees = np.bincount(estate.feeds.sources, minlength=SIZES.datasets)
    assert degrees.mean() == pytest.approx(FEEDS_PER_DATASET, rel=0.03)
    # In a network without hubs, of Poisson degrees, nobody would have more than 15, and 5 % none.
    assert degrees.max() > 50
    assert (degrees == 0).mean() > 0.2


def test_there_are_cycles(estate: Estate) -> None:
    edges = set(zip(estate.feeds.sources.tolist(), estate.feeds.targets.tolist(), strict=True))
    assert any(source > target for source, target in edges)
    assert any((target, source) in edges for source, target in edges)
    assert not any(source == target for source, target in edges)


def test_a_job_writes_one_dataset_and_reads_others(estate: Estate) -> None:
    assert (estate.feeds.job_targets[estate.feeds.jobs] == estate.feeds.targets).all()
    assert set(estate.feeds.jobs.tolist()) == set(range(len(estate.jobs)))


def test_columns_derive_from_columns_of_what_their_job_reads(estate: Estate) -> None:
    drawn = estate.columns
    owner = np.repeat(np.arange(SIZES.datasets), np.diff(drawn.firsts))
    assert len(owner) == pytest.approx(SIZES.columns, rel=0.02)
    reads = defaultdict(set)
    for source, job in zip(estate.feeds.sources.tolist(), estate.feeds.jobs.tolist(), strict=True):
        reads[job].add(source)
    for source, target, job in zip(drawn.sources, drawn.targets, drawn.derives_jobs.tolist(), strict=True):
        assert owner[source] in reads[job]
        assert owner[target] == estate.feeds.job_targets[job]


def test_what_is_read_was_written_before(estate: Estate) -> None:
    for query in estate.lines.queries[: len(QUERIES)]:
        read = batches.read(SIZES, estate.lines, query)
        written = batches.written(SIZES, estate.lines, query.reads)
        assert (np.diff(read, axis=0) > 0).all()
        assert (read <= written).all()
        assert (read[1:] > written[:-1]).all()


def test_the_same_seed_draws_the_same_and_another_another(estate: Estate) -> None:
    again, other = draw(SIZES), draw(Sizes(SIZES.datasets, SIZES.columns, SIZES.intervals, seed=8))
    assert again.feeds.sources.tolist() == estate.feeds.sources.tolist()
    assert draw_starts(again, 5) == draw_starts(estate, 5)
    assert other.feeds.sources.tolist() != estate.feeds.sources.tolist()
    assert len({SIZES.digest, Sizes(1_000, 8_000, 300, 8).digest, Sizes(1_001, 8_000, 300, 7).digest}) == 3


def test_far_starts_reach_nearly_as_much_as_any(estate: Estate) -> None:
    feeds = defaultdict(list)
    for source, target in zip(estate.feeds.sources.tolist(), estate.feeds.targets.tolist(), strict=True):
        feeds[source].append(target)
    index = {dataset.key: number for number, dataset in enumerate(estate.datasets)}

    def reached(start: int) -> int:
        seen, frontier = {start}, [start]
        while frontier:
            frontier = [new for node in frontier for new in feeds[node] if new not in seen and not seen.add(new)]  # type: ignore[func-returns-value]
        return len(seen) - 1

    most = max(map(reached, range(SIZES.datasets)))
    assert all(reached(index[key]) >= 0.85 * most for key in draw_starts(estate, 5).far)


def test_sheets_have_the_labels_and_types_of_the_model(sheets: dict[str, list[dict[str, str]]]) -> None:
    assert set(sheets) <= {label.value for label in Label} | {type_.value for type_ in RelType}
    for name, rows in sheets.items():
        assert ("key" in rows[0]) is (":ID" in rows[0] or name in KEYED), name


def test_nodes_are_numbered_through_and_relationships_join_them(sheets: dict[str, list[dict[str, str]]]) -> None:
    label = {int(row[":ID"]): name for name, rows in sheets.items() for row in rows if ":ID" in row}
    assert sorted(label) == list(range(len(label)))
    ends = {
        name: Counter((label[int(row[":START_ID"])], label[int(row[":END_ID"])]) for row in rows)
        for name, rows in sheets.items()
        if ":START_ID" in rows[0]
    }
    assert set(ends["FEEDS"]) == {("Dataset", "Dataset")}
    assert set(ends["DERIVES"]) == {("Column", "Column")}
    assert set(ends["INFLUENCES"]) == {("Column", "Dataset")}
    assert set(ends["OF"]) == {("Plan", "Job"), ("Run", "Job")}
    assert set(ends["CONSUMED"]) == set(ends["PRODUCED"]) == {("Run", "Dataset")}
    assert set(ends["READS"]) == set(ends["WRITES"]) == {("Job", "Dataset")}


def test_keys_are_the_materializers_own_and_unique(sheets: dict[str, list[dict[str, str]]]) -> None:
    dataset, column = sheets["Dataset"][100], sheets["Column"][0]
    assert dataset["key"] == dataset_key("default", dataset["namespace"], dataset["name"])
    assert column["key"] == column_key("default", column["dataset"], column["name"])
    for name, rows in sheets.items():
        if "key" in rows[0]:
            assert len({row["key"] for row in rows}) == len(rows), name


@pytest.mark.parametrize("number", [0, 7])
def test_micro_batches_go_on_where_the_one_before_ended(estate: Estate, number: int) -> None:
    query = estate.lines.queries[number]
    assert query.to_table is (number == 7)
    event = Entries(estate, query).event(range(10, 30))
    assert Decoder().decode(encode(event)) == event
    assert reject(event) is None
    assert event.interval_event is not None
    entries = event.interval_event.entries
    assert [entry.batch_id for entry in entries] == list(range(10, 30))
    for one, other in pairwise(entries):
        assert _positions(one)[1] == _positions(other)[0]


def _positions(entry: IntervalEntry) -> tuple[list[object], list[object]]:
    """Begins and ends of everything that a micro-batch used."""
    begins: list[object] = []
    ends: list[object] = []
    for position in (use.position for use in (*entry.inputs, *entry.outputs)):
        assert position is not None
        if (snapshot := position.table_snapshot) is not None:
            begins.append(snapshot.parent_id)
            ends.append(snapshot.snapshot_id)
        if position.kafka is not None:
            begins += [part.from_ for part in position.kafka.ranges]
            ends += [part.to_exclusive for part in position.kafka.ranges]
    assert len(begins) > 8
    return begins, ends


def test_a_small_estate_has_one_whole_pipeline() -> None:
    lines = lines_of(Sizes(1_000, 2_000, 1_000, 1))
    assert (lines.lines, lines.batches, lines.intervals) == (1, 100, 1_000)
