"""The search by batch id finds exactly the micro-batches that a look at every one of them finds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.locate import Located, WantedOffsets, locate
from headwater_analysis.trace.parts import Datasets
from headwater_graph.keys import dataset_key
from support.analysis.chains import NAMESPACE, Oddities, Ranges, Stream, naive_users, random_stream, ranges_of, write
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

ODD = {
    "sound": Oddities(),
    "gaps and missing batches": Oddities(missing=0.3, gap=0.2),
    "partitions left out": Oddities(left_out=0.4, missing=0.1),
    "silent sinks": Oddities(silent=0.5),
    "upper bounds": Oddities(overlap=0.8),
    "rewinds": Oddities(rewind=0.1, missing=0.05),
    "topics made anew": Oddities(anew=0.05),
    "everything": Oddities(0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.05, 0.03, 0.3),
}


def located(
    reader: Reader, stream: Stream, name: str, wanted: Ranges, *, produced: bool, topic_id: str | None = None
) -> Located:
    key = dataset_key("default", NAMESPACE, name)

    def ask(tx: Transaction) -> Located:
        context = Context(tx, Datasets(tx), produced, None, 1_000)
        [query] = [query for query in context.queries_of([key])[key] if query.query_id == stream.query_id]
        spans = {partition: [span] for partition, span in wanted.items()}
        [found] = locate(tx, [WantedOffsets(query, key, spans, topic_id, produced)])
        return found

    return reader.read(ask)


def as_ranges(found: Located) -> dict[int, dict[int, list[tuple[int, int]]]]:
    return {hit.batch.first: dict(hit.spans) for hit in found.hits}


def ends(stream: Stream, *, produced: bool) -> list[int]:
    """Ends of ranges, to ask for something that is there."""
    uses = [(entry.outputs if produced else entry.inputs, "out" if produced else "in") for entry in stream.entries]
    return [end for each, name in uses for _, end in ranges_of(each, name).values()] or [0]


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_as_a_naive_scan(subtests: pytest.Subtests, clean_database: Driver, reader: Reader) -> None:
    for name, odd in ODD.items():
        with subtests.test(name):
            delete_nodes(clean_database)
            rng = random.Random(f"locate {name}")
            streams = [
                random_stream(f"q{n}", "in", "out", rng, batches=rng.choice([5, 40, 120]), odd=odd) for n in range(4)
            ]
            write(clean_database, *streams)
            asked = 0
            for _ in range(25):
                stream = rng.choice(streams)
                produced = rng.random() < 0.5
                wanted: Ranges = {}
                for partition in rng.sample(range(7), rng.choice([1, 1, 1, 3, 7])):
                    start = max(0, rng.choice(ends(stream, produced=produced)) - rng.randint(0, 50))
                    wanted[partition] = (start, start + rng.choice([1, 1, 5, 300]))
                topic_id = rng.choice([None, None, "first"]) if not produced else None
                found = located(
                    reader, stream, "out" if produced else "in", wanted, produced=produced, topic_id=topic_id
                )
                naive = naive_users(stream, "out" if produced else "in", wanted, produced=produced, topic_id=topic_id)
                expected = {batch: {p: [span] for p, span in ranges.items()} for batch, ranges in naive.items()}
                assert as_ranges(found) == dict(sorted(expected.items())), (stream.name, wanted, produced, topic_id)
                asked += bool(expected)
            assert asked > 5, "the questions must hit something"
