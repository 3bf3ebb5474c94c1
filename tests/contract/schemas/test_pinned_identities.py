"""Identities that stand in somebody's topic and graph, as literals that were computed without Headwater's code.

Each is a hash of length-prefixed parts (`headwater_schemas.identity.canonical`), worked out from the tables of
`identity.py` and `keys.py`. None of them is ever refreshed: a test that fails here says that events of before would be
other events, or that the graph would get a second node for what it has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater_graph import keys
from headwater_schemas import identity
from headwater_schemas.events import (
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    Position,
    Provenance,
    SchemaDefinition,
    SchemaField,
    build,
)
from support.events import DEPARTED, JOB, POSITIONS, PRODUCER, QUERY_ID, RUN, TIME

if TYPE_CHECKING:
    import pytest

# Sort of position ⇒ source end digest of batch 7, and id of the event that reports it.
INTERVALS = {
    "kafka": ("e420d67ff9b47c533ea32b952d655b11", "7fd8224f-dc57-5baf-b3a8-f51556c182dc"),
    "table_snapshot": ("f917d169160cd5db3f09a215727d58cd", "50042d0c-4d67-58e6-b6f2-571059149240"),
    "table_range": ("5bdf806bbb4b6a23f2be477c451bf129", "fee7671c-56d2-5b09-9d57-7dfbed6a661e"),
    "files": ("22cf1b938108d2872237020135d72c81", "560e2eb4-20ee-5a98-b500-0b55170ebf1b"),
    "cdc": ("c46704ef394ccfb5c0ec70cbd0261c76", "160277b5-d65c-5a49-b08f-feaacced7688"),
    "api_cursor": ("5089ebf2a7728d34742d9c95bc86a497", "07383008-574d-535c-8292-feeeaafc6738"),
    "time_range": ("38ffe0de036bb43087ed9124290ecb4d", "d7b4e085-246e-52aa-8034-8944b4e10e8b"),
    "opaque": ("f0a6c3587d0d26ff709369d0b897e20a", "1cd839f1-e1c2-551c-a3cb-6c72b1a560e6"),
    "none": ("6b8aede68160fa370450fd8bcae48b1a", "36f64d31-69e1-57f9-aff5-9e3048cdbbbd"),
}
BY_SORT: dict[str, Position | None] = {
    next(name for name in INTERVALS if name != "none" and getattr(position, name) is not None): position
    for position in POSITIONS
}
BY_SORT["none"] = None


def test_where_a_micro_batch_ended_makes_its_digest_and_its_event_id(subtests: pytest.Subtests) -> None:
    for sort, (digest, event_id) in INTERVALS.items():
        with subtests.test(sort=sort):
            use = DatasetUse(dataset=DEPARTED, position=BY_SORT[sort])
            assert identity.source_end_digest([use]) == digest
            body = IntervalEvent(
                query_id=QUERY_ID,
                entries=(IntervalEntry(batch_id=7, processing_time=TIME, inputs=(use,)),),
                provenance=Provenance.OBSERVED,
            )
            event = build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME, tenant="acme")
            assert event.event_id == event_id


def test_a_position_of_a_newer_version_is_none() -> None:
    """This version reads a position of a sort that it doesn't know as one without any."""
    assert identity.source_end_digest([DatasetUse(dataset=DEPARTED, position=Position())]) == INTERVALS["none"][0]


JOB_KEY = "519414d51dd9dbb4e6ca493b0e3f94ba"
DATASET_KEY = "9a94c7138b1325b32db852c76162ea7f"
FILES_KEY = "f70c6aefd425a6f42f3447df87a75d64"
RUN_KEY = "8e0ad68e62278fb854c8deca8b198c72"
QUERY_KEY = "7bac3af022405a6c6b78deb2ef7bbcae"
PLAN_KEY = "371227783471b112ea803e79788ade7c"
INTERVAL_KEY = "91b3988dfb0aee8946cc3572d02d8732"
SET_KEY = "0a293e828a4e3a719659f490bc13a948"
ONE, TWO = "1" * 32, "2" * 32  # keys of columns


def test_keys_of_nodes() -> None:
    assert keys.job_key("acme", "flights", "enrich") == JOB_KEY
    assert keys.dataset_key("acme", DEPARTED.namespace, DEPARTED.name) == DATASET_KEY
    assert keys.dataset_key("acme", "file", "/data/größe") == FILES_KEY
    assert keys.column_key("acme", DATASET_KEY, "legs.[].dep_delay") == "39350a442bfe6acfc778b7c1edd86cc7"
    assert keys.version_key("acme", DATASET_KEY, "delta", "42") == "61b3eb63bdc40c07d2898bbfca13851e"
    assert keys.run_key("acme", "0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f") == RUN_KEY
    assert keys.query_key("acme", QUERY_ID) == QUERY_KEY
    assert keys.plan_key("acme", JOB_KEY, "ab" * 16) == PLAN_KEY
    assert keys.interval_key("acme", QUERY_KEY, 7) == INTERVAL_KEY
    assert keys.conflict_key("acme", QUERY_KEY, 7, "cd" * 16) == "e945d72f7007490682de758b30d872df"
    assert keys.alias_key("acme", "trino://warehouse:8080", "hive.größe.flights") == "c31f0f7f53a5ec7f1956b6e317a3655f"
    assert keys.segment_key("acme", QUERY_KEY, 3) == "24a6a88fcf90bc55172e26a997d55e01"
    assert keys.summary_key("acme", QUERY_KEY, RUN_KEY, 20_000) == "43d3a0f684686edfc8dfca8d57b0f239"
    assert keys.summary_key("acme", QUERY_KEY, None, None) == "bd8bdd2d31a71be36de841cfae378929"
    assert keys.retention_key("acme", "flights", "enrich") == "891eb289c6e7f77cf065bd3dcd1bb106"
    assert keys.scope_key("acme", "dataset", "kafka://broker:9092") == "dfddd7e1d0585df0"
    assert keys.retention_key("acme", None, None) == "7036be2fd6cbed28a9d1c019cfd19f93"
    assert keys.consumer_key("acme", "ops dashboard") == "b6717395c9ec896b4588dc3640ccd970"
    assert keys.declaration_set_key("acme", "dbt/flights") == SET_KEY
    assert keys.declaration_key("acme", SET_KEY, "ef" * 16) == "13bc2b0094fbbae3b1e9e56fb7e72b47"
    assert keys.campaign_key("acme", "backfill-2013-01") == "eb2685ea2a2f5615b4034c7c679fe034"
    assert keys.incident_key("acme", "delays-2013-01-01") == "a4cc92ababf4655387131336b8409f70"


def test_a_schema_is_the_paths_types_and_nullability_of_its_fields() -> None:
    fields = (
        SchemaField(path="id", type="bigint", nullable=False, description="not part of it"),
        SchemaField(path="größe", type="double", nullable=True),
        SchemaField(path="extra"),
    )
    digest = identity.schema_digest(SchemaDefinition(fields))
    assert digest == "3f5c27ae3bf5916920ddbcd6b9d676f5"
    assert identity.schema_digest(SchemaDefinition(())) == "cae66941d9efbd404e4d88758ea67670"
    assert identity.schema_digest(SchemaDefinition(fields[::-1])) != digest
    assert keys.schema_key("acme", DATASET_KEY, digest) == "6c2c02809a638d73556a53d29adcbae9"


def test_keys_of_relationships() -> None:
    assert keys.use_key("acme", "CONSUMED", INTERVAL_KEY, DATASET_KEY, 0) == "330aabbf883de696559fd51ec87f6e98"
    assert keys.use_key("acme", "PRODUCED", INTERVAL_KEY, DATASET_KEY, 1) == "5c308c96b048a26637706b35a2bb936d"
    assert keys.feeds_key("acme", JOB_KEY, DATASET_KEY, FILES_KEY) == "ed082ceab5c85bc210f76ccf6bfd016f"
    derives = ("DERIVES", PLAN_KEY, ONE, TWO, "DIRECT", "AGGREGATION", "AGGREGATE", 1, "e1")
    assert keys.edge_key("acme", *derives) == "4d0f931736dbf7d9c304090a221dd8ac"
    generates = ("GENERATES", PLAN_KEY, PLAN_KEY, TWO, "DIRECT", None, "GENERATE", 0, None)
    assert keys.edge_key("acme", *generates) == "3b23295853efa6c04db78ab17e57d1a0"
    influences = ("INFLUENCES", PLAN_KEY, ONE, DATASET_KEY, "INDIRECT", "FILTER", "FILTER_DEPENDENCY", 0, None)
    assert keys.edge_key("acme", *influences) == "1cd46de34afab6fed766141f24633dcc"


def test_every_key_is_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    functions = [name for name in vars(keys) if name.endswith("_key") and name != "graph_key"]
    assert len(functions) > 15
    assert [name for name in functions if f"keys.{name}(" not in here] == []
