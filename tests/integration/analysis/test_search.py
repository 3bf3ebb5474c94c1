"""Search on names that are hard to find: paths, cases, scripts, 10 KB, and all that Lucene would read as its own."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.counted_values import ValueCount
from headwater_analysis.errors import QuestionError
from headwater_analysis.reader import Reader
from headwater_analysis.search import Hit, Match, SearchPage, exact, nearest, search
from headwater_graph.connection import Neo4jTarget
from headwater_graph.schema import ensure_schema
from headwater_graph.words import words
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LineageEvent,
    Owner,
    ProcessingType,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    Tag,
)
from headwater_schemas.events.build import lineage_event
from support.analysis.declared_graph import declare
from support.analysis.paging import all_items
from support.gate import first_in_gate
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

TIME = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "/very/" + "long/" * 2_000 + "name"
NAMES = [
    "flights.departed",
    "flights.enriched",
    "s3/x_2013/Orders",
    "/data/flights/daily_report",
    "/data/OrderLines/part",
    "camelCaseName",
    "Büro.Straße",
    "注文データ",
    "we`ird` name",
    'a"b\\c',
    "x AND y OR NOT z",
    "+x -y !z (a) [b] {c} ^d ~e *f ?g :h /i",
    "/",
    "???",
    LONG,
]


def dataset(name: str, **stated: object) -> LineageEvent:
    body = DatasetEvent(dataset=DatasetRef("ns", name), **stated)  # type: ignore[arg-type]
    tenant = str(stated.pop("tenant", "default"))
    return lineage_event(body, producer="p", event_time=TIME, tenant=tenant)


@pytest.fixture
def named(neo4j_driver: Driver) -> Driver:
    events = [dataset(name) for name in NAMES]
    events += [
        dataset(
            "crm.customers",
            owners=(Owner("team:crm"), Owner("Jo")),
            tags=(
                Tag(key="pii", value="yes"),
                Tag(key="pii", value="strong", field="email"),
                Tag(key="tier", value="1"),
            ),
            schema=SchemaDefinition(
                tuple(SchemaField(path=path) for path in ("id", "email", "homeAddress.postal_code"))
            ),
        ),
        dataset(
            "crm.orders",
            owners=(Owner("team:shop"),),
            tags=(Tag(key="tier", value="yes"),),
            schema=SchemaDefinition((SchemaField(path="id"), SchemaField(path="customer_email"))),
        ),
        lineage_event(
            JobEvent(owners=(Owner("team:crm"),)), job=JobRef("default", "loadCustomers"), producer="p", event_time=TIME
        ),
    ]
    other = DatasetEvent(dataset=DatasetRef("ns", "flights.departed"), owners=(Owner("secret"),))
    events.append(lineage_event(other, producer="p", event_time=TIME, tenant="other"))
    hold(neo4j_driver, "names to search for", events)
    refreshed(neo4j_driver)
    return neo4j_driver


def refreshed(driver: Driver) -> None:
    """Columns come into the index in the background."""
    with driver.session(database="neo4j") as session:
        session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()").consume()


def found(page: SearchPage) -> list[str]:
    return [hit.asset.column or hit.asset.name for hit in page.items]


def exactly(reader: Reader, kind: AssetKind, name: str) -> list[Asset]:
    return [asset for _, asset in reader.read(lambda tx: exact(tx, kind, name))]


def near(reader: Reader, kind: AssetKind, text: str) -> list[Asset]:
    return reader.read(lambda tx: nearest(tx, kind, text))


def test_a_whole_name_is_the_first_hit(subtests: pytest.Subtests, named: Driver, reader: Reader) -> None:
    for name in NAMES:
        with subtests.test(name[:80]):
            hit = search(reader, name).items[0]
            assert (hit.asset.name, hit.match) == (name, Match.EXACT)
            assert [asset.name for asset in exactly(reader, AssetKind.DATASET, name)] == [name]


PARTS_OF_NAMES: list[tuple[str, str]] = [
    ("departed", "flights.departed"),
    ("DEPARTED", "flights.departed"),
    ("fli dep", "flights.departed"),
    ("2013", "s3/x_2013/Orders"),
    ("case name", "camelCaseName"),
    ("lines", "/data/OrderLines/part"),
    ("dailyreport", "/data/flights/daily_report"),
    ("buro", "Büro.Straße"),
    ("STRASSE", "Büro.Straße"),
    ("データ", "注文データ"),
    ("ird", "we`ird` name"),
    ("very long", LONG),
    ("flihgts.departed", "flights.departed"),
    ("departd", "flights.departed"),
    ("daily_reprot", "/data/flights/daily_report"),
]


def test_part_of_a_name_finds_it(subtests: pytest.Subtests, named: Driver, reader: Reader) -> None:
    for text, name in PARTS_OF_NAMES:
        with subtests.test(text):
            assert name in found(search(reader, text))


ODD_TEXTS: list[str] = [
    '"',
    "\\",
    "*",
    "~",
    "(",
    "a:b",
    "AND",
    "_words:*",
    "n._words",
    "`",
    "'; MATCH (n) DETACH DELETE n",
    "\x00",
    "\ud800",
    "/" * 10_000,
    "a " * 5_000,
    "*:*",
    "t_*",
    "[* TO *]",
]


def test_no_text_is_an_error(subtests: pytest.Subtests, named: Driver, reader: Reader) -> None:
    for text in ODD_TEXTS:
        with subtests.test(text=text):
            for fuzzy in (False, True):
                assert {hit.owners for hit in search(reader, text, fuzzy=fuzzy).items} <= {
                    (),
                    ("team:crm",),
                    ("Jo", "team:crm"),
                    ("team:shop",),
                }
            exactly(reader, AssetKind.JOB, text)
            near(reader, AssetKind.DATASET, text)
            if not words(text):
                assert not text or search(reader, text).total == search(reader, text, fuzzy=True).total == 0
                assert search(reader, owner=text).total == search(reader, column=text).total == 0
            with named.session() as session:
                assert (
                    session.run("MATCH (d:HwDataset) RETURN count(d) AS n").single(strict=True)["n"] == len(NAMES) + 3
                )


def test_tenants_never_meet(named: Driver, reader: Reader, quiet_driver: Driver, target: Neo4jTarget) -> None:
    others = Reader(quiet_driver, target, tenant="other")
    assert [hit.owners for hit in search(others, "flights").items] == [("secret",)]
    assert ("secret",) not in [hit.owners for hit in search(reader, "flights").items]
    assert search(reader, owner="secret").total == 0
    assert search(others, "").total == 1
    assert reader.read(lambda tx: len(exact(tx, AssetKind.DATASET, "flights.departed"))) == 1


def test_owner_and_tag(named: Driver, reader: Reader) -> None:
    assert found(search(reader, owner="team:crm")) == ["crm.customers", "loadCustomers"]
    assert found(search(reader, owner="CRM", kinds=[AssetKind.DATASET])) == ["crm.customers"]
    assert found(search(reader, tag="pii")) == ["crm.customers"]
    assert found(search(reader, tag="pii=YES")) == ["crm.customers"]
    assert found(search(reader, tag="tier=yes")) == ["crm.orders"]
    assert found(search(reader, tag="tier")) == ["crm.customers", "crm.orders"]
    assert found(search(reader, "orders", tag="pii")) == []
    assert found(search(reader, "email", tag="pii=strong")) == ["email"]
    assert found(search(reader, namespace="ns", owner="shop")) == ["crm.orders"]
    assert found(search(reader, "customers", namespace="default")) == ["loadCustomers"]


def test_columns(named: Driver, reader: Reader) -> None:
    assert found(search(reader, column="email")) == ["email", "customer_email"]
    assert found(search(reader, "orders", column="email")) == ["customer_email"]
    assert found(search(reader, column="postalCode")) == ["homeAddress.postal_code"]
    assert found(search(reader, column="emial")) == ["email", "customer_email"]
    assert found(search(reader, "home postal", kinds=[AssetKind.COLUMN])) == ["homeAddress.postal_code"]
    assert found(search(reader, "orders", column="emial")) == ["customer_email"]
    assert found(search(reader, "orders", column="emial", fuzzy=True)) == ["customer_email"]
    assert found(search(reader, "nothing like it", column="email")) == []
    with pytest.raises(QuestionError):
        search(reader, column="email", kinds=[AssetKind.DATASET])


def test_what_owners_and_tags_were_is_forgotten(named: Driver, reader: Reader) -> None:
    body = DatasetEvent(dataset=DatasetRef("ns", "crm.customers"), owners=(Owner("team:new"),), tags=())
    later = lineage_event(body, producer="p", event_time=TIME.replace(year=2027))
    store(named, [later])
    assert found(search(reader, owner="team:crm")) == ["loadCustomers"]
    assert found(search(reader, owner="new")) == ["crm.customers"]
    assert search(reader, tag="pii").total == 0


def test_nearest(named: Driver, reader: Reader) -> None:
    assert near(reader, AssetKind.DATASET, "flights.deprted")[0].name == "flights.departed"
    assert near(reader, AssetKind.DATASET, "flightsdeparted")[0].name == "flights.departed"
    assert near(reader, AssetKind.DATASET, "ns/flights.enrichd")[0].name == "flights.enriched"
    assert near(reader, AssetKind.JOB, "load_customer")[0].name == "loadCustomers"
    assert near(reader, AssetKind.DATASET, "zzzzzz") == near(reader, AssetKind.DATASET, "") == []
    assert len(near(reader, AssetKind.DATASET, "flights order data name")) <= 5


def begins(word: str, asked: str) -> bool:
    return word == asked or (len(asked) > 1 and word.startswith(asked))


def starts(hit: Hit, text: str) -> bool:
    return hit.asset.name.casefold().startswith(text.casefold())


VOCABULARY = ["order", "orders", "ordering", "flight", "delay", "daily", "customer", "report", "lake", "2013", "x"]


@pytest.mark.parametrize("seed", first_in_gate(1, range(3)))
def test_like_a_naive_search_page_by_page(clean_database: Driver, reader: Reader, seed: int) -> None:
    dice = random.Random(seed)
    names = {"_".join(dice.sample(VOCABULARY, dice.randint(1, 3))).title() + dice.choice(["", "V2"]) for _ in range(60)}
    store(clean_database, [dataset(name) for name in names])
    for text in (*VOCABULARY, "order daily", "ord fl", "flight 2013", "v2", "ns"):
        asked = words(text)
        expected = {name for name in names if all(any(begins(w, a) for w in [*words(name), "ns"]) for a in asked)}
        whole = search(reader, text, kinds=[AssetKind.DATASET], limit=1_000)
        if not expected:
            assert {hit.match for hit in whole.items} <= {Match.ALIKE}
            continue
        joined = {name for name in names if len(asked) == 1 and begins("".join(words(name)), asked[0])}
        assert set(found(whole)) == expected | joined
        ranks = [0 if starts(hit, text) else 1 + list(Match).index(hit.match) for hit in whole.items]
        assert ranks == sorted(ranks)
        assert tuple(all_items(search, reader, text, kinds=[AssetKind.DATASET], limit=4)) == whole.items


def test_owners_and_tags_are_found_by_the_text(clean_database: Driver, reader: Reader) -> None:
    store(
        clean_database,
        [
            dataset("fleet", owners=(Owner("team:flights"),)),
            dataset("planes", tags=(Tag(key="domain", value="flights"),)),
            dataset("flights"),
            dataset("flights_old"),
            dataset("seats"),
            lineage_event(
                JobEvent(owners=(Owner("team:flights"),)), job=JobRef("ns", "load"), producer="p", event_time=TIME
            ),
        ],
    )
    declare(clean_database, "datasets: [{namespace: ns, name: seats, owners: ['team:flights'], tags: {area: air}}]")
    page = search(reader, "flights")
    assert [(hit.asset.name, hit.match) for hit in page.items] == [
        ("flights", Match.EXACT),
        ("flights_old", Match.WORDS),
        *((name, Match.OWNER_OR_TAG) for name in ("fleet", "planes", "seats", "load")),
    ]
    assert found(search(reader, "air")) == ["seats"]
    assert found(search(reader, "team flights")) == ["fleet", "seats", "load"]
    assert found(search(reader, "flights", owner="team", kinds=[AssetKind.DATASET])) == ["fleet", "seats"]
    assert found(search(reader, "flights", namespace="other")) == []


def test_a_hub_is_the_first_of_the_names_that_begin_with_the_text(clean_database: Driver, reader: Reader) -> None:
    names = ["fct_ord", "fct_orders_daily", "fct_orders", "mart/fct_order_lines", "old.ord_fct"]
    hub = DatasetRef("ns", "fct_orders")
    run = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=(DatasetUse(dataset=hub),),
        outputs=tuple(DatasetUse(dataset=DatasetRef("ns", f"out_{n}")) for n in range(3)),
    )
    load = lineage_event(run, job=JobRef("ns", "load"), run=RunRef("r"), producer="p", event_time=TIME)
    store(clean_database, [*(dataset(name) for name in names[1:]), load])
    kinds = [AssetKind.DATASET]
    assert found(search(reader, "fct_ord", kinds=kinds))[0] == "fct_orders"
    assert found(search(reader, "fct_ord", kinds=kinds))[-1] == "old.ord_fct"
    store(clean_database, [dataset(names[0])])
    assert found(search(reader, "fct_ord", kinds=kinds))[:2] == ["fct_ord", "fct_orders"]


def test_types_sensitivities_and_facets(clean_database: Driver, reader: Reader) -> None:
    schema = SchemaDefinition((SchemaField(path="email"), SchemaField(path="id")))
    store(
        clean_database,
        [
            dataset(
                "crm.people",
                type="TABLE",
                schema=schema,
                owners=(Owner("team:crm"),),
                tags=(Tag(key="pii", value="yes"),),
            ),
            dataset("crm.events", type="TOPIC", owners=(Owner("team:crm"),)),
            dataset("crm.files", type="FILE"),
            lineage_event(
                JobEvent(processing_type=ProcessingType.BATCH),
                job=JobRef("f", "crm.load"),
                producer="p",
                event_time=TIME,
            ),
        ],
    )
    declare(
        clean_database,
        "datasets: [{namespace: ns, name: crm.people, columns: {email: {sensitivity: PII}}}, "
        "{namespace: ns, name: crm.events, sensitivity: INTERNAL}]",
    )
    refreshed(clean_database)
    assert found(search(reader, "crm", types=["table", "Batch"])) == ["crm.people", "crm.load"]
    assert found(search(reader, types=["TOPIC"])) == ["crm.events"]
    assert found(search(reader, "email", types=["TABLE"], kinds=[AssetKind.COLUMN])) == ["email"]
    assert found(search(reader, sensitivity=Sensitivity.PII)) == ["crm.people"]
    assert found(search(reader, "crm", sensitivity=Sensitivity.INTERNAL)) == ["crm.events"]
    assert found(search(reader, "email", sensitivity=Sensitivity.PII)) == ["email"]
    assert found(search(reader, "crm", sensitivity=Sensitivity.PII, owner="team:shop")) == []
    assert search(reader, "crm").facets is None
    page = search(reader, "crm", facets=True, limit=1)
    facets = page.facets
    assert facets is not None
    assert page.total == 4
    assert [(each.value, each.total) for each in facets.types] == [
        ("BATCH", 1),
        ("FILE", 1),
        ("TABLE", 1),
        ("TOPIC", 1),
    ]
    assert facets.namespaces == (ValueCount("ns", 3), ValueCount("f", 1))
    assert facets.owners == (ValueCount("team:crm", 2),)
    assert facets.tags == (ValueCount("pii=yes", 1),)
    assert facets.sensitivities == (ValueCount("INTERNAL", 1), ValueCount("PII", 1))
    assert facets.kinds == (ValueCount("DATASET", 3), ValueCount("JOB", 1))
    more = search(reader, "crm", types=["TABLE", "TOPIC"], limit=1)
    assert more.next_cursor is not None
    with pytest.raises(QuestionError):
        search(reader, "crm", limit=1, cursor=more.next_cursor)


def test_a_graph_that_was_never_prepared_has_nothing(clean_database: Driver, reader: Reader) -> None:
    clean_database.execute_query("DROP INDEX headwater_dataset_words IF EXISTS")
    try:
        empty = search(reader, "orders", facets=True)
        assert (empty.items, empty.total, empty.next_cursor) == ((), 0, None)
        assert empty.facets is not None
        assert not any((empty.facets.types, empty.facets.kinds))
    finally:
        ensure_schema(clean_database, "neo4j")


def test_a_cursor_belongs_to_its_question(named: Driver, reader: Reader) -> None:
    cursor = search(reader, "flights", limit=1).next_cursor
    assert cursor is not None
    with pytest.raises(QuestionError):
        search(reader, "orders", limit=1, cursor=cursor)


def test_declared_consumers(clean_database: Driver, reader: Reader) -> None:
    text = (
        "consumers: [{name: Delay board, type: DASHBOARD, owners: ['team:ops'], tags: {tier: '1'}, reads: [boards]}, "
        "{name: board of directors, owners: [ceo], reads: [boards]}, {name: report, reads: [boards]}]"
    )
    declare(clean_database, text)

    def found(text: str = "", **more: Any) -> list[str]:
        return [each.name for each in search(reader, text, **more).consumers]

    assert found("board") == ["Delay board", "board of directors"]
    assert found("del boa") == ["Delay board"]
    assert found("REPORT") == ["report"]
    assert found("oard") == []
    assert found("+-") == []
    assert found("board", owner="ops") == ["Delay board"]
    assert found(tag="tier=1") == ["Delay board"]
    assert found("board", kinds=[AssetKind.DATASET]) == found("board", namespace="ns") == []
    (board,) = search(reader, "delay board").consumers
    assert (board.type, board.owners) == ("DASHBOARD", ("team:ops",))
    assert len(search(reader, "board", limit=1).consumers) == 2
    declare(clean_database, "consumers: [{name: report}]", revision=2)
    assert found("board") == []
