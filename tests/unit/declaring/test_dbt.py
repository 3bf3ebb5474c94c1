"""dbt's manifest and catalog: what is declared of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.declaring.sets import DeclaredSet
from headwater_graph.fold import reject
from headwater_schemas.events import ConsumerType, DatasetRead, DatasetRef, DeclaredColumn, JobRef, Owner, Tag
from support.events import TIME

NAMESPACE = "postgres://db:5432"


def model(name: str, *depends: str, **more: Any) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "database": "dw",
        "schema": "gold",
        "depends_on": {"nodes": list(depends)},
        "config": {"materialized": "table"},
        **more,
    }


MANIFEST: dict[str, Any] = {
    "metadata": {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "project_name": "flights",
    },
    "nodes": {
        "model.flights.delays": model(
            "delays",
            "model.flights.cleaned",
            "seed.flights.airlines",
            alias="delays_v2",
            description="Delays by day",
            group="ops",
            tags=["gold"],
            columns={
                "carrier": {"description": "Two letters", "tags": ["key"], "data_type": "char(2)"},
                "mean": {"data_type": "double"},
            },
        ),
        "model.flights.cleaned": model("cleaned", "source.flights.raw.departed", config={"materialized": "ephemeral"}),
        "seed.flights.airlines": {**model("airlines"), "resource_type": "seed", "config": {"meta": {"owner": "jo"}}},
        "test.flights.not_null": {
            "resource_type": "test",
            "attached_node": "model.flights.delays",
            "column_name": "carrier",
            "test_metadata": {"name": "not_null"},
        },
        "test.flights.rows": {
            "resource_type": "test",
            "name": "rows",
            "depends_on": {"nodes": ["model.flights.delays"]},
        },
    },
    "sources": {
        "source.flights.raw.departed": {
            "resource_type": "source",
            "name": "departed",
            "identifier": "departed_raw",
            "database": "dw",
            "schema": "raw",
            "freshness": {
                "warn_after": {"count": 12, "period": "hour"},
                "error_after": {"count": 1, "period": "day"},
            },
        }
    },
    "metrics": {"metric.flights.late": {"name": "late", "depends_on": {"nodes": ["semantic_model.flights.days"]}}},
    "semantic_models": {
        "semantic_model.flights.days": {"name": "days", "depends_on": {"nodes": ["model.flights.delays"]}}
    },
    "groups": {"group.flights.ops": {"name": "ops", "owner": {"name": "team:operations", "email": "o@example.com"}}},
    "exposures": {
        "exposure.flights.board": {
            "name": "board",
            "type": "dashboard",
            "url": "https://bi.example/board",
            "maturity": "high",
            "owner": {"name": "team:bi", "email": "bi@example.com"},
            "depends_on": {"nodes": ["metric.flights.late", "model.flights.cleaned"]},
        }
    },
}
CATALOG = {"nodes": {"model.flights.delays": {"columns": {"CARRIER": {"type": "text"}, "DAY": {"type": "date"}}}}}
DELAYS = DatasetRef(NAMESPACE, "dw.gold.delays_v2")
AIRLINES = DatasetRef(NAMESPACE, "dw.gold.airlines")
DEPARTED = DatasetRef(NAMESPACE, "dw.raw.departed_raw")


@pytest.fixture
def declared() -> DeclaredSet:
    return read_file("manifest.json", json.dumps(MANIFEST), namespace=NAMESPACE, catalog=json.dumps(CATALOG))


def test_a_project_is_a_set(declared: DeclaredSet) -> None:
    assert (declared.name, declared.format) == ("dbt:flights", "dbt")
    events = list(declared.events(1, tenant="default", event_time=TIME))
    assert [reject(event) for event in events] == [None] * len(events)


def test_a_source_can_be_declared_to_be_a_dataset_of_the_lake(subtests: pytest.Subtests) -> None:
    topic = DatasetRef("kafka://broker-1:9092", "departed")
    for meta, expected in [
        ("s3a://lake/departed/", DatasetRef("s3://lake", "departed")),
        ({"namespace": topic.namespace, "name": topic.name}, topic),
    ]:
        for more in ({"meta": {"headwater_dataset": meta}}, {"config": {"meta": {"headwater_dataset": meta}}}):
            with subtests.test(more=more):
                source = MANIFEST["sources"]["source.flights.raw.departed"] | more
                manifest = MANIFEST | {"sources": {"source.flights.raw.departed": source}}
                bodies = read_file("manifest.json", json.dumps(manifest), namespace=NAMESPACE).declarations.values()
                assert expected in {each.dataset for each in bodies}
                assert DEPARTED not in {each.dataset for each in bodies}
                [job] = [each for each in bodies if each.job == JobRef("dbt", "model.flights.delays")]
                assert job.inputs == tuple(sorted([AIRLINES, expected]))
                [board] = [each for each in bodies if each.consumer == "board"]
                assert DatasetRead(expected) in (board.reads or ())


def test_models_seeds_and_sources_are_datasets(declared: DeclaredSet) -> None:
    found = {body.dataset: body for body in declared.declarations.values() if body.dataset is not None}
    assert found.keys() == {DELAYS, AIRLINES, DEPARTED}
    delays = found[DELAYS]
    assert (delays.description, delays.owners) == ("Delays by day", (Owner("team:operations"),))
    assert delays.tags == (Tag(key="gold"), Tag(key="test", value="rows"))
    assert delays.columns == (
        DeclaredColumn(
            path="CARRIER",
            description="Two letters",
            tags=(Tag(key="key"), Tag(key="test", value="not_null")),
            type="text",
        ),
        DeclaredColumn(path="DAY", type="date"),
        DeclaredColumn(path="mean", type="double"),
    )
    assert found[AIRLINES].owners == (Owner("jo"),)
    assert (found[DEPARTED].freshness_seconds, found[AIRLINES].freshness_seconds) == (86_400, None)


def test_what_a_model_is_made_from_goes_through_ephemeral_ones(declared: DeclaredSet) -> None:
    jobs = {body.job: (body.inputs, body.outputs) for body in declared.declarations.values() if body.job is not None}
    assert jobs == {
        JobRef("dbt", "model.flights.delays"): ((AIRLINES, DEPARTED), (DELAYS,)),
        JobRef("dbt", "seed.flights.airlines"): ((), (AIRLINES,)),
    }


def test_exposures_are_consumers_also_of_what_metrics_are_made_from(declared: DeclaredSet) -> None:
    (board,) = [body for body in declared.declarations.values() if body.consumer is not None]
    assert (board.consumer, board.type) == ("board", ConsumerType.DASHBOARD)
    assert (board.owners, board.contact) == ((Owner("team:bi"),), "bi@example.com")
    assert (board.url, board.tags) == ("https://bi.example/board", (Tag(key="maturity", value="high"),))
    assert board.reads == (DatasetRead(DELAYS), DatasetRead(DEPARTED))


def test_mistakes(subtests: pytest.Subtests) -> None:
    cases = [
        (json.dumps(MANIFEST), None, "a manifest doesn't have the address of the database: give --namespace"),
        (json.dumps(MANIFEST)[:-1], NAMESPACE, "not JSON"),
        (json.dumps(MANIFEST).replace('"gold"', '"\\ud800"'), NAMESPACE, "half of a surrogate pair"),
        (json.dumps(MANIFEST)[:-1] + ', "x": ' + "[" * 100_000, NAMESPACE, "nested too deeply"),
        (
            json.dumps({**MANIFEST, "exposures": {"e": {"name": "e", "depends_on": {"nodes": 5}}}}),
            NAMESPACE,
            r"exposures.e.depends_on.nodes: must be a list",
        ),
        (
            json.dumps({**MANIFEST, "nodes": {"model.a": {"description": 5}}}),
            NAMESPACE,
            r'nodes\["model.a"\].description: must be a text',
        ),
    ]
    for text, namespace, expected in cases:
        with subtests.test(text=text), pytest.raises(DeclarationError, match=expected):
            read_file("manifest.json", text, namespace=namespace)


def test_mistakes_have_their_lines() -> None:
    node = {"description": "\n{", "columns": {"a": {}, "b": {"description": ["x", 5], "tags": [1]}}}
    wrong = {
        **MANIFEST,
        "nodes": {"model.a": {"name": "a"}, "model.b": node},
        "exposures": {"e": {"name": "e", "url": 5}},
    }
    for indent in (None, 2):
        text = json.dumps(wrong, indent=indent)
        with pytest.raises(DeclarationError) as raised:
            read_file("manifest.json", text, namespace=NAMESPACE)
        rows = text.split("\n")
        found = {each.pointer: rows[each.line - 1].strip() for each in raised.value.problems}
        if indent is None:
            assert set(found.values()) == {text}  # as dbt writes it, in one line
        else:
            assert found == {
                "/nodes/model.b/columns/b/description": '"description": [',
                "/nodes/model.b/columns/b/tags/0": "1",
                "/exposures/e/url": '"url": 5',
            }


def test_a_dataset_that_has_half_a_name_is_a_mistake() -> None:
    source = MANIFEST["sources"]["source.flights.raw.departed"] | {"meta": {"headwater_dataset": {"name": "n"}}}
    manifest = json.dumps(MANIFEST | {"sources": {"source.flights.raw.departed": source}})
    with pytest.raises(DeclarationError, match=r"^manifest\.json, line 1: sources.*meta\.headwater_dataset\.namespace"):
        read_file("manifest.json", manifest, namespace=NAMESPACE)


def test_mistakes_of_a_catalog_name_it(subtests: pytest.Subtests) -> None:
    cases = [
        ("{", r"^catalog\.json, line 1: not JSON"),
        ("[]", r"^catalog\.json, line 1"),
        ('{"nodes": []}', r"^catalog\.json, line 1: nodes"),
        ('{"nodes": {"model.p.m": {"columns": ["a"]}}}', r"^catalog\.json, line 1: nodes"),
        ('{"sources": {"s": 1}}', r"^catalog\.json, line 1: sources"),
        ('{"nodes": {},\n\n"sources":\n{"s":\n1}}', r"^catalog\.json, line 5: sources.s"),
    ]
    for catalog, expected in cases:
        with subtests.test(catalog=catalog):
            manifest = '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}'
            with pytest.raises(DeclarationError, match=expected):
                read_file("manifest.json", manifest, namespace="n", catalog=catalog)
