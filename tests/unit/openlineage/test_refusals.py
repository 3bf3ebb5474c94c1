"""Documents that are no event, by the pointer of the field at fault; no message has any of the document's values."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.native import SCHEMA_URL
from support.openlineage_sequences import columns, dataset, explicit, facet, run

MISSING = object()
URL = "https://openlineage.io/spec/{}/OpenLineage.json#/$defs/{}"
ASSERTIONS = "/inputs/0/inputFacets/dataQualityAssertions/assertions"
OURS = "/run/facets/headwater/event"
NO_SUCH_EDGE = {"plan_event": {"digest": "x", "lineage": {"edges": [{"output": 9}]}}}
GOOD = run(
    "COMPLETE",
    "05:10:00",
    inputs=[
        dataset(
            "orders",
            inputFacets={
                "inputStatistics": facet(rowCount=1),
                "dataQualityAssertions": facet(assertions=[{"assertion": "unique", "success": True, "actual": "7"}]),
            },
        )
    ],
    outputs=[dataset("totals", facets={**columns(a=[("orders", "x")]), "schema": facet(fields=[{"name": "a"}])})],
    facets={"nominalTime": facet(nominalStartTime="2013-01-01T00:00:00Z"), "errorMessage": facet(message="m")},
    job_facets={
        **explicit(totals=["orders"]),
        "ownership": facet(owners=[{"name": "o"}]),
        "sql": facet(query="SELECT 1"),
    },
)


def changed(pointer: str, value: Any) -> Any:
    """The good document with one member changed."""
    document = copy.deepcopy(GOOD)
    holder: Any = document
    *above, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in above:
        holder = holder[int(step) if isinstance(holder, list) else step]
    if value is MISSING:
        del holder[last]
    else:
        holder[int(last) if isinstance(holder, list) else last] = value
    return document


def test_the_good_document_is_taken() -> None:
    assert events_of(GOOD, tenant="acme")


REFUSALS: list[tuple[str, Any, str]] = [
    ("/schemaURL", MISSING, "is missing"),
    ("/schemaURL", URL.format("3-0-0", "RunEvent"), "version 1 or 2 of OpenLineage, not 3"),
    ("/schemaURL", "https://example.com/other.json", "must be the URL of OpenLineage's own schema"),
    ("/schemaURL", URL.format("2-0-2", "JobEvent"), "names a JobEvent, but the document is a RunEvent"),
    ("/producer", MISSING, "is missing"),
    ("/producer", 3, "must be a string, not a number"),
    ("/eventTime", MISSING, "is missing"),
    ("/eventTime", None, "is missing"),
    ("/eventTime", "yesterday", "must be a time with an offset"),
    ("/eventTime", "2013-01-01T05:00:00", "must be a time with an offset"),
    ("/eventTime", "2013-02-30T05:00:00Z", "there is no such day or hour"),
    ("/eventTime", "2013-01-01T05:00:00+25:00", "there is no such day or hour"),
    ("/eventTime", "0000-01-01T00:00:00Z", "there is no such day or hour"),
    ("/eventTime", "0001-01-01T00:00:00+01:00", "there is no such day or hour"),
    ("/eventTime", "1969-12-31T23:59:59Z", "in the years 1970 to 9998"),
    ("/eventTime", "9999-12-31T23:59:59Z", "in the years 1970 to 9998"),
    ("/eventTime", "9999-12-31T23:59:59-14:00", "there is no such day or hour"),
    ("/eventType", "FINISHED", "must be one of START, RUNNING, COMPLETE, FAIL, ABORT, OTHER"),
    ("/run/runId", MISSING, "is missing"),
    ("/run/runId", "", "is empty"),
    ("/run/runId", "run-17", "must be a UUID"),
    ("/run/runId", "{0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f}", "must be a UUID"),
    ("/run", [], "must be an object, not an array"),
    ("/job", MISSING, "is missing"),
    ("/job/name", MISSING, "is missing"),
    ("/job/name", "", "is empty"),
    ("/job/namespace", MISSING, "is missing"),
    ("/inputs", {}, "must be an array, not an object"),
    ("/inputs/0", "orders", "must be an object, not a string"),
    ("/inputs/0/name", "", "is empty"),
    ("/inputs/0/namespace", True, "must be a string, not a boolean"),
    ("/inputs/0/inputFacets/inputStatistics/rowCount", "7", "must be a whole number, not a string"),
    ("/inputs/0/inputFacets/inputStatistics/rowCount", 1.5, "must be a whole number, not a number"),
    ("/inputs/0/inputFacets/inputStatistics/rowCount", 2**63, "of at most 64 bits"),
    (f"{ASSERTIONS}", {}, "must be an array, not an object"),
    (f"{ASSERTIONS}/0/assertion", MISSING, "is missing"),
    (f"{ASSERTIONS}/0/success", MISSING, "is missing: must be a boolean"),
    (f"{ASSERTIONS}/0/success", "true", "must be a boolean, not a string"),
    (f"{ASSERTIONS}/0/actual", 7, "must be a string, not a number"),
    ("/outputs/0/facets/schema", "a", "must be an object, not a string"),
    ("/outputs/0/facets/schema/fields", "a", "must be an array, not a string"),
    ("/outputs/0/facets/schema/fields/0/name", MISSING, "is missing"),
    ("/outputs/0/facets/columnLineage/fields/a/inputFields/0/field", MISSING, "is missing"),
    ("/run/facets/nominalTime/nominalStartTime", "9999-12-31T00:00:00Z", "in the years 1970 to 9998"),
    ("/run/facets/errorMessage/message", {}, "must be a string, not an object"),
    ("/run/facets/a~1b~0c", 3, "must be an object, not a number"),
    ("/job/facets/lineage/entries/0/type", "TABLE", "must be DATASET or JOB"),
    ("/job/facets/lineage/entries/0/inputs/0/name", MISSING, "is missing"),
    ("/job/facets/ownership/owners/0", "o", "must be an object, not a string"),
    ("/job/facets/sql/query", 1, "must be a string"),
]  # fmt: skip


def test_a_field_at_fault_is_named(subtests: pytest.Subtests) -> None:
    for pointer, value, reason in REFUSALS:
        with subtests.test(pointer=pointer, value=value):
            document = changed(pointer, value)
            if pointer == "/job/facets/sql/query":
                # Read only where the producer gave no lineage.
                del document["job"]["facets"]["lineage"], document["outputs"][0]["facets"]["columnLineage"]
            with pytest.raises(Refused) as refused:
                events_of(document, tenant="acme")
            assert refused.value.pointer == pointer
            assert reason in refused.value.reason


def test_an_event_is_about_something() -> None:
    base = {name: GOOD[name] for name in ("eventTime", "producer", "schemaURL")}
    with pytest.raises(Refused, match=r"^/run: is missing: an event has a run and a job, a job, or a dataset$"):
        events_of(base, tenant="acme")


CLAIMS: list[tuple[Any, str]] = [
    ({"kind": "LATER", "event": {}}, "/run/facets/headwater/kind"),
    ({"kind": "RUN", "event": {"run_event": {"type": 3}}}, OURS),
    ({"kind": "RUN", "event": {"job": None}}, OURS),
    ({"kind": "RUN", "event": [3]}, OURS),
    ({"kind": "INTERVAL", "event": {}}, OURS),
    ({"kind": "PLAN", "event": NO_SUCH_EDGE}, OURS),
    ({"kind": "DATASET", "event": {"dataset_event": None}}, OURS),
]  # fmt: skip


def test_a_document_that_claims_to_be_of_ours_makes_an_event(subtests: pytest.Subtests) -> None:
    for members, pointer in CLAIMS:
        with subtests.test(members=members):
            document = changed("/run/facets/headwater", {"_producer": "p", "_schemaURL": SCHEMA_URL, **members})
            with pytest.raises(Refused) as refused:
                events_of(document, tenant="acme")
            assert refused.value.pointer == pointer


def test_the_tenant_is_the_readers() -> None:
    patch = {"tenant": "other", "event_id": "mine", "kind": "JOB"}
    document = changed("/run/facets/headwater", {"_schemaURL": SCHEMA_URL, "kind": "RUN", "event": patch})
    [event] = events_of(document, tenant="acme")
    assert (event.tenant, event.kind) == ("acme", "RUN")
