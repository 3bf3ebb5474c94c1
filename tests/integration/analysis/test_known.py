"""Facts of one dataset or job, and the estate in lists, compared with plain statements over the whole graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater_analysis.errors import GraphRefusedError, NotFoundError, QuestionError
from headwater_analysis.known import (
    broken_chains,
    dataset_details,
    datasets,
    estate_runs,
    job_details,
    jobs,
)
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from headwater_graph.schema import GRAPH_VERSION
from headwater_schemas.events import RunEventType
from support.analysis.history import History
from support.analysis.paging import all_items
from support.events import full_dataset_event, full_job_event
from support.graph.cases import load_case
from support.graph.chains import chains
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

FAULTS = Path(__file__).parents[2] / "recordings" / "neo4j_browser" / "faults.yaml"
FAILED = (RunEventType.FAIL, RunEventType.ABORT)


@pytest.fixture
def estate(neo4j_driver: Driver, layout: str) -> Driver:
    """Many jobs with runs and queries, and one query whose chain is broken."""
    return hold(neo4j_driver, f"an estate, {layout}", [*History(2).events(), *load_case(FAULTS).events])


@pytest.fixture
def acme(quiet_driver: Driver, target: Neo4jTarget) -> Reader:
    """Reader of the tenant that `full_dataset_event` belongs to."""
    return Reader(quiet_driver, target, tenant="acme")


def values(driver: Driver, text: str) -> list[Any]:
    return [record[0] for record in driver.execute_query(text).records]


def test_lists_have_every_dataset_and_job(estate: Driver, reader: Reader) -> None:
    listed = [each.asset.key for each in all_items(datasets, reader, limit=2)]
    assert listed == values(estate, "MATCH (d:HwDataset) RETURN d.key ORDER BY d.key")
    assert [each.asset.key for each in all_items(jobs, reader, limit=2)] == values(
        estate, "MATCH (j:HwJob) RETURN j.key ORDER BY j.key"
    )
    for name, asked in (("namespace", "namespaces"), ("type", "types")):
        for value in values(estate, f"MATCH (d:HwDataset) WHERE d.{name} IS NOT NULL RETURN DISTINCT d.{name}"):
            alike = values(estate, f"MATCH (d:HwDataset) WHERE d.{name} = '{value}' RETURN d.key ORDER BY d.key")
            assert [each.asset.key for each in all_items(datasets, reader, limit=2, **{asked: [value]})] == alike
    gone = values(estate, "MATCH (d:HwDataset) WHERE d.dropped RETURN d.key ORDER BY d.key")
    assert [each.asset.key for each in all_items(datasets, reader, limit=2, gone=True)] == gone


def test_lists_are_filtered_by_owner_and_tag(clean_database: Driver, acme: Reader) -> None:
    store(clean_database, [full_dataset_event(), full_job_event()])
    # One dataset by the names that it has and had: what is reported of one is shown of each.
    listed, *names = [each for each in datasets(acme).items if each.owners and each.tags]
    assert {(each.owners, each.tags) for each in names} == {(listed.owners, listed.tags)}
    owner, tag = listed.owners[0].name, listed.tags[0]
    for of, with_tag in ((owner, None), (None, tag.key), (None, f"{tag.key}={tag.value}"), (owner, tag.key)):
        assert listed in datasets(acme, owner=of, tag=with_tag).items, (of, with_tag)
    for of, with_tag in ((f"{owner}x", None), (None, tag.key[:-1]), (None, f"{tag.key}=another")):
        assert listed not in datasets(acme, owner=of, tag=with_tag).items, (of, with_tag)


def test_runs_of_the_estate_are_the_latest_first(estate: Driver, reader: Reader) -> None:
    every = "MATCH (r:HwRun) WHERE r.last_seen IS NOT NULL AND r.state IS NOT NULL"
    order = "RETURN r.key ORDER BY r.last_seen DESC, r.key DESC"
    assert [each.key for each in all_items(estate_runs, reader, limit=2)] == values(estate, f"{every} {order}")
    failed = values(estate, f"{every} AND coalesce(r.inferred_state, r.state) IN ['FAIL', 'ABORT'] {order}")
    assert failed
    assert [each.key for each in all_items(estate_runs, reader, limit=2, states=FAILED)] == failed
    with pytest.raises(QuestionError, match="another question"):
        estate_runs(reader, limit=2, cursor=estate_runs(reader, states=FAILED, limit=1).next_cursor)


def test_runs_listed_without_a_name_are_those_of_all_jobs(
    estate: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    order = "ORDER BY r.last_seen DESC, r.key DESC"
    newest = values(
        estate, f"MATCH (r:HwRun) WHERE r.last_seen IS NOT NULL AND r.state IS NOT NULL RETURN r.key {order}"
    )
    assert main(["runs", "list", "--limit", "3", "--json"]) == 0
    assert [run["key"] for run in json.loads(capsys.readouterr().out)["items"]] == newest[:3]
    assert main(["runs", "list", "--read"]) == 2


def test_every_broken_chain_is_found(estate: Driver, reader: Reader) -> None:
    found = all_items(broken_chains, reader, limit=2)
    naive = [
        [
            before["query_id"],
            before["batch_id"],
            after["batch_id"],
            joint.get("missing", 0),
            len(joint.get("gap_partitions", ())),
            len(joint.get("overlap_partitions", ())),
        ]
        for before, after, joint in chains(estate)
        if joint.get("missing", 0) > 0 or "gap_partitions" in joint or "overlap_partitions" in joint
    ]
    assert naive
    assert [
        [one.query_id, one.after_batch, one.before_batch, one.missing, len(one.gaps), len(one.overlaps)]
        for one in found
    ] == naive
    assert any(one.missing for one in found)
    assert any(one.gaps for one in found)
    assert all(one.job is not None for one in found)


@pytest.mark.parametrize("version", [GRAPH_VERSION - 1, GRAPH_VERSION + 1])
def test_a_graph_of_another_version_gives_no_answer(
    clean_database: Driver,
    reader: Reader,
    settings_of_stack: None,
    capsys: pytest.CaptureFixture[str],
    version: int,
) -> None:
    # Such as one whose broken chains are in no index: "nothing is broken" would be the answer.
    store(clean_database, load_case(FAULTS).events)
    clean_database.execute_query("MATCH (v:HeadwaterGraph) SET v.version = $version", version=version)
    with pytest.raises(GraphRefusedError, match=f"version {version} of .* reads version {GRAPH_VERSION}"):
        broken_chains(reader)
    for command in (["search", "enrich"], ["serve", "--port", "0"]):
        assert main([*command, "--json"]) == 6
        error = json.loads(capsys.readouterr().out)["error"]
        assert "graph rebuild" in error["message"]
        assert "HEADWATER_NEO4J_DATABASE" in error["fix"]


def test_a_chain_that_is_mended_is_found_no_more(clean_database: Driver, reader: Reader) -> None:
    # The same events one by one: each batch that comes later mends what its absence had broken.
    events = load_case(FAULTS).events
    for event in reversed(events):
        store(clean_database, [event])
    joints = [each.properties for each in chains(clean_database)]
    broken = [joint for joint in joints if "_broken" in joint]
    assert len(broken) == broken_chains(reader).total
    naive = [joint for joint in joints if joint.get("missing", 0) > 0 or joint.keys() & {"gap_from", "overlap_from"}]
    assert len(naive) == len(broken)
    stored = values(clean_database, "MATCH (s:HwSegment) UNWIND s.broken AS batch RETURN batch")
    assert len(stored) == len(broken)
    marked = values(clean_database, "MATCH (s:HwSegment) WHERE s.broken IS NOT NULL RETURN s.query = s._broken")
    assert marked
    assert all(marked)


def test_what_is_known_of_a_dataset(clean_database: Driver, acme: Reader) -> None:
    store(clean_database, [full_dataset_event(), full_job_event()])
    (key,) = values(clean_database, "MATCH (d:HwDataset) WHERE d.description IS NOT NULL RETURN d.key")
    stored = values(clean_database, f"MATCH (d:HwDataset {{key: '{key}'}}) RETURN properties(d)")[0]
    known = dataset_details(acme, key)
    assert known.description == stored["description"]
    assert [owner.name for owner in known.owners] == stored["owners"]
    assert [column.name for column in known.columns if column.current] == stored["columns"]
    assert [link.name for link in known.symlinks] == stored["symlinks"]
    assert known.lifecycle == stored["lifecycle"]
    tags = [*known.tags, *(tag for column in known.columns for tag in column.tags)]
    assert sorted(tag.key for tag in tags) == sorted(stored["tags"])
    assert [facet.name for facet in known.facets] == stored["facet_names"]
    with pytest.raises(NotFoundError):
        dataset_details(acme, "no such dataset")


def test_who_makes_and_who_reads_a_dataset(estate: Driver, reader: Reader) -> None:
    for key in values(estate, "MATCH (d:HwDataset) RETURN d.key"):
        known = dataset_details(reader, key)
        for uses, type_ in ((known.producers, "WRITES"), (known.consumers, "READS")):
            naive = values(estate, f"MATCH (:HwDataset {{key: '{key}'}})<-[:{type_}]-(j:HwJob) RETURN j.key")
            assert sorted(use.job.key for use in uses) == sorted(naive)
        assert known.producers_total == len(known.producers)
    for key in values(estate, "MATCH (j:HwJob) RETURN j.key"):
        job = job_details(reader, key)
        assert job.job.key == key
        for used, type_ in ((job.outputs, "WRITES"), (job.inputs, "READS")):
            naive = values(estate, f"MATCH (:HwJob {{key: '{key}'}})-[:{type_}]->(d:HwDataset) RETURN d.key")
            assert sorted(use.dataset.key for use in used) == sorted(naive)
        queries = values(estate, f"MATCH (:HwJob {{key: '{key}'}})<-[:OF]-(q:HwQuery) RETURN q.query_id")
        assert sorted(query.query_id for query in job.queries) == sorted(queries)
