"""ODCS data contracts: what is declared of them, and that nothing of them is lost."""

from __future__ import annotations

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.declaring.sets import DeclaredSet
from headwater_graph.fold import fold, reject
from headwater_schemas.events import (
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    JobRef,
    Owner,
    Sensitivity,
    Tag,
)
from support.events import TIME

CONTRACT = """\
# Reviewed by operations.
kind: DataContract
apiVersion: v3.1.0
id: 53581432-6c55-4ba2-a65f-72344a91553a
name: delays
version: 1.1.0
status: active
domain: travel
dataProduct: punctuality
tenant: Airport
tags: [finance, "layer:gold"]
contractCreatedTs: 2024-11-15T02:59:43+00:00
description: {purpose: Delays for reports, limitations: None, usage: Reports}
authoritativeDefinitions: [{type: businessDefinition, url: https://glossary.example/delay}]
servers:
  - {server: lake, type: s3, location: "s3://bucket/gold/{model}.parquet", format: parquet, roles: [{role: reader}]}
schema:
  - name: delays
    physicalName: delays
    physicalType: table
    businessName: Delays
    description: By carrier and day
    tags: [daily]
    quality: [{type: library, metric: rowCount, mustBeGreaterThan: 0, unit: rows}]
    properties:
      - name: carrier
        primaryKey: true
        logicalType: string
        classification: public
        transformSourceObjects: [departed.carrier]
      - name: tailnum
        logicalType: string
        physicalType: varchar(6)
        classification: PII
        criticalDataElement: true
        tags: [masked]
        description: Registration
        encryptedName: tailnum_enc
      - name: legs
        logicalType: array
        items:
          logicalType: object
          properties:
            - {name: mean, transformSourceObjects: [departed, raw_legs], transformLogic: avg(delay)}
      - name: "odd.name"
        classification: top secret
  - name: departed
slaDefaultElement: delays
slaProperties:
  - {property: latency, value: 4, unit: h}
  - {property: frequency, value: 1, unit: d, element: delays.carrier}
  - {property: retention, value: 3, unit: y}
  - {property: timeOfAvailability, value: "06:00-08:00", element: delays, driver: regulatory}
  - {property: latency, value: 1, unit: d, element: departed}
support: [{channel: "#delays", tool: slack, url: https://slack.example/delays}]
price: {priceAmount: 9.95, priceCurrency: EUR, priceUnit: megabyte}
team:
  name: flights
  members:
    - {username: jo, role: Owner}
    - {username: kim, role: Owner, dateOut: 2024-01-01}
roles: [{role: reader, access: read}]
customProperties: [{property: ruleset, value: gold}]
"""
UNNAMED = (
    "its dataset is unknown, since no server gives a namespace: add customProperties headwater.namespace and "
    "headwater.name, or give --namespace"
)
HEAD = "kind: DataContract\napiVersion: v3.1.0\nid: x\nversion: '1'\nstatus: s"
DELAYS = DatasetRef("s3://bucket", "gold/delays")
DEPARTED = DatasetRef("s3://bucket", "gold/departed")


def read(text: str = CONTRACT, namespace: str | None = None) -> DeclaredSet:
    return read_file("contract.yaml", text, namespace=namespace)


def of(declared: DeclaredSet, subject: DatasetRef | JobRef) -> DeclarationEvent:
    (found,) = [body for body in declared.declarations.values() if subject in (body.dataset, body.job)]
    return found


def test_a_contract_is_a_set_with_its_document() -> None:
    declared = read()
    assert (declared.name, declared.format) == ("odcs:53581432-6c55-4ba2-a65f-72344a91553a", "odcs")
    assert declared.source == "53581432-6c55-4ba2-a65f-72344a91553a 1.1.0"
    assert declared.document == CONTRACT


def test_it_comes_out_of_the_graph_as_it_went_in() -> None:
    events = list(read().events(1, tenant="default", event_time=TIME))
    assert [reject(event) for event in events] == [None] * 4
    (found,) = fold(events).declaration_sets.values()
    assert found.revision is not None
    assert found.revision.properties["document"] == CONTRACT


def test_a_dataset() -> None:
    body = of(read(), DELAYS)
    assert body.description == "By carrier and day"
    assert body.owners == (Owner("flights", "TEAM"), Owner("jo", "Owner"))
    assert body.tags == (
        Tag(key="contract_status", value="active"),
        Tag(key="daily"),
        Tag(key="data_product", value="punctuality"),
        Tag(key="domain", value="travel"),
        Tag(key="finance"),
        Tag(key="layer", value="gold"),
    )
    assert body.glossary == ("https://glossary.example/delay",)
    assert (body.freshness_seconds, body.keep_days, body.deadline) == (4 * 3600, 3 * 365, "06:00 -08:00")
    assert (body.on_call, body.contact) == ("#delays", "https://slack.example/delays")


def test_a_time_of_availability_is_a_deadline(subtests: pytest.Subtests) -> None:
    cases = [
        ("09:00-08:00", "09:00 -08:00"),
        ("'09:00:00Z'", "09:00 Z"),
        ("'18:30'", "18:30"),
        ("18:30", "18:30"),
        ("Mon-Fri 06:00 UTC", "Mon-Fri 06:00 UTC"),
        ("by nine", "by nine"),
    ]
    for value, deadline in cases:
        with subtests.test(value=value):
            levels = f"slaProperties: [{{property: timeOfAvailability, value: {value}}}]"
            (body,) = read(f"{HEAD}\n{levels}\nschema: [{{name: d}}]\n", namespace="n").declarations.values()
            assert body.deadline == deadline


def test_columns() -> None:
    assert of(read(), DELAYS).columns == (
        DeclaredColumn(path="`odd.name`", classification="top secret"),
        DeclaredColumn(path="carrier", classification="public", sensitivity=Sensitivity.PUBLIC, type="string"),
        DeclaredColumn(path="legs"),
        DeclaredColumn(path="legs.[].mean"),
        DeclaredColumn(
            path="tailnum",
            description="Registration",
            classification="PII",
            sensitivity=Sensitivity.PII,
            tags=(Tag(key="critical_data_element", value="true"), Tag(key="masked")),
            type="varchar(6)",
        ),
    )


def test_transformations_are_column_lineage() -> None:
    lineage = of(read(), JobRef("odcs", "53581432-6c55-4ba2-a65f-72344a91553a")).lineage
    assert lineage is not None
    texts = {expression.id: expression.text for expression in lineage.expressions}
    assert {
        (
            lineage.datasets[edge.output].name,
            edge.output_field,
            lineage.datasets[edge.input or 0].name,
            edge.input_field,
            texts.get(edge.expression or ""),
        )
        for edge in lineage.edges
    } == {
        ("gold/delays", "carrier", "gold/departed", "carrier", None),
        ("gold/delays", "legs.[].mean", "gold/departed", None, "avg(delay)"),
        ("gold/delays", "legs.[].mean", "gold/raw_legs", None, "avg(delay)"),
    }


def test_a_team_as_a_list_is_taken_too() -> None:
    text = HEAD.replace("v3.1.0", "v3.0.2") + "\nteam: [{username: jo}]\nschema: [{name: d}]\n"
    (body,) = read(text, "n").declarations.values()
    assert (body.dataset, body.owners) == (DatasetRef("n", "d"), (Owner("jo"),))


def test_a_server_names_the_dataset(subtests: pytest.Subtests) -> None:
    cases = [
        ("{type: kafka, host: 'broker:9092'}", DatasetRef("kafka://broker:9092", "d")),
        ("{type: postgres, host: db, port: 5433, database: a, schema: b}", DatasetRef("postgres://db:5433", "a.b.d")),
        ("{type: postgresql, host: DB, database: a, schema: b}", DatasetRef("postgres://db:5432", "a.b.d")),
        ("{type: sqlserver, host: db, database: a, schema: b}", DatasetRef("sqlserver://db:1433", "a.b.d")),
        ("{type: snowflake, account: x, database: a, schema: b}", DatasetRef("snowflake://x", "a.b.d")),
        ("{type: bigquery, project: p, dataset: q}", DatasetRef("bigquery", "p.q.d")),
        ("{type: local, path: /lake/d}", DatasetRef("file", "/lake/d")),
    ]
    for server, expected in cases:
        with subtests.test(server=server):
            text = f"{HEAD}\nservers: [{server}]\nschema: [{{name: d}}]\n"
            (body,) = read(text).declarations.values()
            assert body.dataset == expected


def test_a_custom_property_names_the_dataset() -> None:
    text = (
        HEAD + "\nschema:\n- name: d\n  customProperties:\n"
        "  - {property: headwater.namespace, value: n}\n  - {property: headwater.name, value: e}\n"
    )
    (body,) = read(text).declarations.values()
    assert body.dataset == DatasetRef("n", "e")


NAMED = HEAD + "\nschema:\n- name: d\n  customProperties: [{property: headwater.namespace, value: n}]\n"


def test_a_service_level_that_is_no_span_is_kept_in_the_document_alone(subtests: pytest.Subtests) -> None:
    for level in ["{value: .inf, unit: d}", "{value: .nan, unit: d}", "{value: 1e300, unit: y}"]:
        with subtests.test(level=level):
            text = NAMED + f"slaProperties:\n- {level.replace('{', '{property: latency, ')}\n"
            declared = read(text)
            (body,) = declared.declarations.values()
            assert (body.freshness_seconds, declared.document) == (None, text)


def test_a_mistake_is_named_by_line_and_field(subtests: pytest.Subtests) -> None:
    cases = [
        ("kind: DataContract\nid: x\nversion: '1'\nstatus: s", ["line 1: apiVersion: is missing"]),
        (
            "kind: DataContract\napiVersion: v3.1.0\nid: x\nversion: 1\nstatus: s",
            ["line 4: version: must be a text: put it into quotes"],
        ),
        (
            HEAD + "\nschema: 5",
            ["line 6: schema: must be a list"],
        ),
        (
            HEAD + "\nschema:\n- description: d",
            ["line 7: schema[0].name: is missing"],
        ),
        (
            HEAD + "\nschema:\n- name: d",
            [f"line 7: schema[0]: {UNNAMED}"],
        ),
        (
            NAMED + "  properties:\n  - {name: a}\n  - {name: b}\n  - {name: a}",
            ["line 12: schema[0].properties[2].name: is a property in line 10 already"],
        ),
        (
            NAMED + "  properties: [{name: a, description: b}, {name: a, description: c}]",
            ["line 9: schema[0].properties[1].name: is a property in line 9 already"],
        ),
        (
            NAMED + "  properties:\n  - 5\n  - {logicalType: date}\n  - {name: a, transformSourceObjects: b.c}\n"
            "  - {name: d, items: [e], authoritativeDefinitions: f}",
            [
                "line 10: schema[0].properties[0]: must be a mapping",
                "line 11: schema[0].properties[1].name: is missing",
                "line 12: schema[0].properties[2].transformSourceObjects: must be a list: put it into [ ]",
                "line 13: schema[0].properties[3].authoritativeDefinitions: must be a list: put it into [ ]",
                "line 13: schema[0].properties[3].items: must be a mapping",
            ],
        ),
    ]
    for text, expected in cases:
        with subtests.test(text=text):
            with pytest.raises(DeclarationError) as raised:
                read(text)
            assert [str(problem).removeprefix("contract.yaml, ") for problem in raised.value.problems] == expected
