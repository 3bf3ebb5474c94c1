"""Owners and tags that are only declared are found by search and in lists, beside those that events report."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.assets import AssetKind
from headwater_analysis.known import datasets, jobs
from headwater_analysis.reader import Reader
from headwater_analysis.search import SearchPage, search
from headwater_schemas.events import DatasetEvent, DatasetRef, Owner, Tag
from headwater_schemas.events.build import lineage_event
from support.analysis.declared_graph import declare

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

TIME = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = """\
datasets:
- {name: crm.customers, owners: [team:x], tags: {layer: gold}, criticality: tier-1,
   columns: {email: {tags: {pii: strong}}}}
- {name: crm.orders, tags: {layer: silver}}
- {name: web.clicks, owners: [{name: team:x, type: STEWARD}, team:y], tags: {pii: }}
jobs: [{name: load, owners: [team:x], tags: {pii: }, outputs: [crm.orders]}]
consumers: [{name: board, owners: [team:x], reads: [crm.orders]}]
"""


@pytest.fixture
def stated(clean_database: Driver) -> Driver:
    body = DatasetEvent(dataset=DatasetRef("n", "crm.orders"), owners=(Owner("team:x"),), tags=(Tag(key="pii"),))
    declare(clean_database, TEXT, more=[lineage_event(body, producer="p", event_time=TIME)])
    clean_database.execute_query("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    return clean_database


def found(page: SearchPage) -> set[str]:
    return {hit.asset.spelling for hit in page.items}


def test_search(stated: Driver, reader: Reader) -> None:
    every = {"n/crm.customers", "n/crm.orders", "n/web.clicks", "n/load"}
    assert found(search(reader, owner="team:x")) == every
    assert found(search(reader, owner="X team")) == every
    assert found(search(reader, owner="team:y")) == {"n/web.clicks"}
    assert found(search(reader, owner="team:z")) == set()
    assert found(search(reader, tag="pii")) == every
    assert found(search(reader, tag="pii=strong")) == {"n/crm.customers"}
    # With words of a name, and both at once: the owner of one kind, the tag of another.
    assert found(search(reader, "crm", owner="team:x", kinds=[AssetKind.DATASET])) == {
        "n/crm.customers",
        "n/crm.orders",
    }
    assert found(search(reader, "crm", owner="team:x", tag="silver")) == {"n/crm.orders"}
    assert found(search(reader, owner="team:x", tag="gold")) == {"n/crm.customers"}
    assert found(search(reader, owner="team:x", namespace="m")) == set()
    # Columns by their own tags.
    assert found(search(reader, tag="strong", kinds=[AssetKind.COLUMN])) == {"n/crm.customers#email"}
    assert found(search(reader, "crm", column="email", tag="pii")) == {"n/crm.customers#email"}
    assert found(search(reader, "crm", column="email", owner="team:x")) == {"n/crm.customers#email"}
    # A hit has them, each once, behind those that events report.
    (hit,) = search(reader, "crm.orders", kinds=[AssetKind.DATASET]).items
    assert (hit.owners, {(tag.key, tag.value) for tag in hit.tags}) == (("team:x",), {("pii", ""), ("layer", "silver")})


def test_lists(stated: Driver, reader: Reader) -> None:
    def listed(**filters: str) -> set[str]:
        page = datasets(reader, **filters)  # type: ignore[arg-type]
        assert page.total == len(page.items)
        return {item.asset.name for item in page.items}

    assert listed(owner="team:x") == {"crm.customers", "crm.orders", "web.clicks"}
    assert listed(owner="team") == set()
    assert listed(tag="pii") == {"crm.customers", "crm.orders", "web.clicks"}
    assert listed(tag="pii=strong") == {"crm.customers"}
    assert listed(tag="layer=gold", owner="team:x") == {"crm.customers"}
    (one,) = datasets(reader, tag="layer=gold").items
    assert one.criticality == "tier-1"
    assert {(tag.key, tag.value, tag.column) for tag in one.tags} == {
        ("layer", "gold", None),
        ("pii", "strong", "email"),
    }
    (job,) = jobs(reader, owner="team:x", tag="pii").items
    assert ([owner.name for owner in job.owners], job.asset.name) == (["team:x"], "load")


def test_what_is_withdrawn_is_not_found(stated: Driver, reader: Reader) -> None:
    declare(stated, "datasets: []\n", revision=2)
    assert found(search(reader, owner="team:x")) == {"n/crm.orders"}
    assert [item.asset.name for item in datasets(reader, owner="team:x").items] == ["crm.orders"]
    assert found(search(reader, tag="strong", kinds=[AssetKind.COLUMN])) == set()
