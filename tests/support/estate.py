"""A company's lineage in small: a hub with 400 readers and 60 columns, a wide table, a chain of eight, long names.

A consumer is declared to read the wide table, about which an incident is open.

The names have the lengths that real ones have. Every document is a client's, received as from outside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from headwater_analysis.declaring.reading import read_set
from headwater_analysis.incidents.actions import PRODUCER
from headwater_openlineage.intake.receiving import Received, receive
from headwater_schemas.events import (
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    IncidentScope,
    IncidentSeverity,
    LineageEvent,
)
from headwater_schemas.events.build import lineage_event
from support.openlineage import run_event

LAKE = "s3://acme-lakehouse-prod-eu-central-1"
TOPICS = "kafka://prod-events-eu.acme.example:9092"
WAREHOUSE = "snowflake://acme-finance.eu-central-1.aws"
HUB = "warehouse/silver/customers/customers_master_scd2_enriched_with_consents_and_segments"
HUB_TITLE = HUB.rpartition("/")[2]
WIDE = "warehouse/silver/customers/wide_feature_table_300_columns"
MID = "ANALYTICS_PROD.GOLD_MARKETING.EVENTS_ENRICHED_WITH_CUSTOMER_MASTER_1357"
READERS = 400
HUB_COLUMNS = ("id", "amount_net", "currency", *(f"attribute_{n:03d}_of_the_customer" for n in range(57)))
CHAIN = 8
FAILED_EVERY = 50
CONSUMER = "Regulatory report of balances at the end of the month"
INCIDENT = "INC-5d20a8e1c4"
_OPENED_AT = datetime(2026, 11, 21, tzinfo=UTC)
_DECLARED = f"""
set: reports
namespace: n
consumers: [{{name: {CONSUMER}, type: REPORT, owners: ['team:finance'], reads: ['{LAKE}/{WIDE}']}}]
"""
_DOMAINS = ("customers", "orders", "payments", "logistics", "marketing", "web_analytics", "finance", "inventory")


def reader(number: int) -> str:
    """Name of a reader of the hub; the one by number 7 is the longest."""
    domain = _DOMAINS[number % len(_DOMAINS)].upper()
    long = "FORECAST_ENRICHED_WITH_CUSTOMER_MASTER_FOR_REGULATORY_REPORTING"
    noun = long if number == 7 else "BALANCES_MONTH_END_CLOSE"
    return f"ANALYTICS_PROD.GOLD_{domain}.{noun}_{number:04d}"


@cache
def estate_events() -> tuple[LineageEvent, ...]:
    """Events of all documents."""
    return tuple(_events())


def _events() -> Iterator[LineageEvent]:
    for document in _documents():
        received = receive(json.dumps(document).encode(), tenant="default")
        assert isinstance(received, Received)
        yield from received.events
    yield from read_set("f.yaml", _DECLARED).events(1, tenant="default", event_time=_OPENED_AT)
    opened = IncidentEvent(
        incident=INCIDENT,
        by="ann",
        action=IncidentAction.OPENED,
        title="Balances at the end of the month are doubled for accounts with two holders",
        severity=IncidentSeverity.SEV2,
        scope=(IncidentScope(dataset=DatasetRef(LAKE, WIDE)),),
    )
    yield lineage_event(opened, producer=PRODUCER, event_time=_OPENED_AT)


def _documents() -> Iterator[dict[str, Any]]:
    number = 0
    raw = _dataset(TOPICS, "customers.master.events.0", ("id", "amount_net"), "TOPIC")
    yield _run(number, "silver.customers.build_master", [raw], [_dataset(LAKE, HUB, HUB_COLUMNS)], tag="pii")
    for n in range(READERS):
        number += 1
        mapped = [("amount", "amount_net")] if n < 30 else [("id", "id")]
        written = _dataset(WAREHOUSE, reader(n), ("amount", "id"), from_hub=mapped)
        domain = _DOMAINS[n % len(_DOMAINS)]
        job = f"gold.{domain}.build_{reader(n).rpartition('.')[2].lower()}"
        state = "FAIL" if n % FAILED_EVERY == 1 else "COMPLETE"
        yield _run(number, job, [_dataset(LAKE, HUB)], [written], state=state, owner=f"team:{domain}")
    number += 1
    wide = _dataset(LAKE, WIDE, [f"feature_{n:03d}" for n in range(300)])
    yield _run(number, "silver.customers.build_wide_feature_table", [raw], [wide])
    names = [f"warehouse/bronze/web_analytics/sessions_step_{n}" for n in range(CHAIN)]
    for before, after in zip(["web.sessions.raw", *names], [*names, MID], strict=True):
        number += 1
        source = _dataset(TOPICS if before.startswith("web") else LAKE, before, ("id",))
        target = _dataset(WAREHOUSE if after == MID else LAKE, after, ("id",))
        yield _run(number, f"bronze.build_{after.rpartition('/')[2].lower()}", [source], [target])


def _dataset(
    namespace: str,
    name: str,
    columns: Sequence[str] = (),
    kind: str = "TABLE",
    from_hub: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    facets: dict[str, Any] = {"datasetType": _facet("DatasetTypeDatasetFacet", datasetType=kind)}
    if columns:
        fields = [{"name": column, "type": "string"} for column in columns]
        facets["schema"] = _facet("SchemaDatasetFacet", fields=fields)
    if from_hub:
        direct = [{"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}]
        facets["columnLineage"] = _facet(
            "ColumnLineageDatasetFacet",
            fields={
                written: {"inputFields": [{"namespace": LAKE, "name": HUB, "field": read, "transformations": direct}]}
                for written, read in from_hub
            },
        )
    return {"namespace": namespace, "name": name, "facets": facets}


def _run(
    number: int,
    job: str,
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]],
    *,
    state: str = "COMPLETE",
    owner: str = "team:customers",
    tag: str | None = None,
) -> dict[str, Any]:
    query = f"insert into {outputs[0]['name']}\nselect a.*, b.customer_id\nfrom a\nleft join customers b on a.id = b.id"
    facets = {
        "sql": _facet("SQLJobFacet", query=query),
        "ownership": _facet("OwnershipJobFacet", owners=[{"name": owner, "type": "MAINTAINER"}]),
    }
    if tag is not None:
        tags = [{"key": tag, "value": "true", "source": "TEST"}]
        outputs[0]["facets"]["tags"] = _facet("TagsDatasetFacet", tags=tags)
    minute = f"{number // 60 % 24:02d}:{number % 60:02d}"
    return run_event(
        10_000 + number,
        eventType=state,
        eventTime=f"2026-11-20T{minute}:00.000Z",
        job={"namespace": "airflow-prod", "name": job, "facets": facets},
        inputs=inputs,
        outputs=outputs,
    )


def _facet(kind: str, **members: Any) -> dict[str, Any]:
    url = f"https://openlineage.io/spec/facets/1-0-0/{kind}.json"
    return {"_producer": "https://example.com/estate", "_schemaURL": url, **members}
