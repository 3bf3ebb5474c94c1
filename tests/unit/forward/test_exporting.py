"""Events → documents, once: what leaves, and that the documents make the same graph."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from headwater_consumers.forward.exporting import Exporter, ExportScope, ExportTotals
from headwater_consumers.forward.plans import PlanCache
from headwater_graph.keys import dataset_key
from headwater_openlineage.decoding import decode
from headwater_openlineage.incoming import events_of
from headwater_schemas.events import DatasetRef, DatasetUse, JobRef, LineageEvent, RunEvent, RunEventType, RunRef
from headwater_schemas.events.build import lineage_event
from support.demo_graph import demo_events
from support.graph.colliding import Pools, colliding_events
from support.openlineage_sequences import dataset, explicit, run
from support.openlineage_spec import alone, check_official, graph_of, received

LEAVES = ("RUN", "INTERVAL", "PLAN", "DATASET", "JOB")
DEMO = demo_events()
TENANT = DEMO[0].tenant


def exported(
    events: Iterable[LineageEvent], scope: ExportScope | None = None, *, coalesced: bool = False
) -> tuple[list[dict[str, Any]], ExportTotals]:
    """The documents of events."""
    found = list(events)
    exporter = Exporter(scope or ExportScope(TENANT), PlanCache(1 << 30), coalesced=coalesced)
    exporter.look_at(found)
    return list(exporter.documents(found)), exporter.totals


def back(documents: Iterable[dict[str, Any]], tenant: str) -> list[LineageEvent]:
    return [each for one in documents for each in events_of(decode(json.dumps(one).encode()), tenant=tenant)]


@pytest.mark.parametrize("coalesced", [False, True])
def test_the_documents_of_the_demo_make_the_same_graph(*, coalesced: bool) -> None:
    documents, totals = exported(DEMO, coalesced=coalesced)
    assert graph_of(back(documents, TENANT)) == graph_of(list(DEMO))
    assert (totals.read, totals.exported, totals.documents) == (len(DEMO), len(DEMO), len(documents))


def test_the_official_schemas_accept_them_and_a_run_event_is_one() -> None:
    documents, _ = exported(DEMO)
    for document in documents:
        check_official(document)
    runs = [event for event in DEMO if event.run_event is not None]
    assert runs
    assert [
        (document["run"]["runId"], document["eventType"])
        for document in documents
        if "run" in document and document["run"]["facets"]["headwater"]["kind"] == "RUN"
    ] == [(event.run.run_id, event.run_event.type.value) for event in runs if event.run and event.run_event]


def test_column_lineage_statistics_and_versions_are_in_them() -> None:
    documents, _ = exported(DEMO)
    outputs = [each for document in documents for each in document.get("outputs", ())]
    of_runs = [each for document in documents if "run" in document for each in document["outputs"]]
    assert any("columnLineage" in each["facets"] for each in of_runs)
    assert any("outputStatistics" in each["outputFacets"] for each in outputs)
    assert any("version" in each["facets"] or "subset" in each["outputFacets"] for each in outputs)


def test_the_documents_of_any_events_make_the_same_graph(subtests: pytest.Subtests) -> None:
    for seed in range(5):
        with subtests.test(seed=seed):
            events = colliding_events(random.Random(seed), 200, Pools(tenants=1, incidents=2))
            tenant = events[0].tenant
            documents, totals = exported(events, ExportScope(tenant))
            leaving = [event for event in events if event.kind in LEAVES]
            # Of two reports of one micro-batch at the very same time the event id decides, its document's id.
            assert graph_of(back(documents, tenant)) == graph_of([one for event in leaving for one in alone(event)])
            assert totals.without_document == len(events) - len(leaving)


def test_documents_of_others_come_back_word_for_word() -> None:
    given = [run("COMPLETE", "05:10:00", inputs=[dataset("a")], job_facets=explicit(b=["a"]))]
    events = received(*given)
    assert exported(events, ExportScope(events[0].tenant))[0] == given


def test_an_event_with_a_document_that_is_none_is_counted_and_left_out() -> None:
    given = received(run("START", "05:00:00"), run("COMPLETE", "05:10:00"))
    broken = msgspec.structs.replace(given[0], document='{"run":{"runId":"x"}}')
    documents, totals = exported([broken, *given[1:]], ExportScope(given[0].tenant))
    assert (len(documents), totals.exported, totals.unsendable) == (1, 1, 1)


def test_of_another_tenant_nothing_leaves() -> None:
    documents, totals = exported(DEMO, ExportScope("somebody-else"))
    assert documents == []
    assert totals.read == len(DEMO)


def test_a_span_of_time_is_half_open() -> None:
    given = [run("START", "05:00:00"), run("RUNNING", "05:05:00"), run("COMPLETE", "05:10:00")]
    events = received(*given)
    first, tenant = events[0].event_time, events[0].tenant
    minutes = timedelta(minutes=5)
    assert exported(events, ExportScope(tenant, since=first, until=first + minutes))[0] == given[:1]
    assert exported(events, ExportScope(tenant, since=first + minutes))[0] == given[1:]
    assert exported(events, ExportScope(tenant, until=first + 2 * minutes))[0] == given[:2]


def test_around_a_dataset_all_of_its_runs_leave_and_nothing_else() -> None:
    parent = {
        "parent": {
            "_producer": "p",
            "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json",
            "run": {"runId": run("START", "05:00:00", number=9)["run"]["runId"]},
            "job": {"namespace": "shop", "name": "dag"},
        }
    }
    given = [
        run("START", "05:00:00", facets=parent),
        run("COMPLETE", "05:10:00", inputs=[dataset("a")], outputs=[dataset("b")], facets=parent),
        run("COMPLETE", "05:20:00", job="dag", number=9),
        run("COMPLETE", "06:10:00", job="other", number=2, inputs=[dataset("c")], outputs=[dataset("d")]),
    ]
    events = received(*given)
    tenant = events[0].tenant
    around = frozenset({dataset_key(tenant, "postgres://db:5432", "a")})
    documents, totals = exported(events, ExportScope(tenant, around))
    assert documents == given[:3]
    assert totals.documents == 3


def test_column_lineage_is_found_wherever_its_plan_is_on_the_topic() -> None:
    plan_first = [event for event in DEMO if event.kind == "PLAN"] + [event for event in DEMO if event.kind != "PLAN"]
    plan_last = plan_first[::-1]

    def with_columns(events: list[LineageEvent]) -> int:
        documents, _ = exported(events)
        return sum("columnLineage" in each["facets"] for one in documents for each in one.get("outputs", ()))

    assert with_columns(plan_last) == with_columns(plan_first) > 0


def test_around_a_dataset_that_an_output_was_made_from_though_it_is_no_input() -> None:
    static, sink = DatasetRef("file", "/static"), DatasetRef("file", "/sink")
    body = RunEvent(type=RunEventType.COMPLETE, outputs=(DatasetUse(dataset=sink, inputs=(static,)),))
    event = lineage_event(body, job=JobRef("jobs", "j"), run=RunRef("r"), producer="p", event_time=DEMO[0].event_time)
    around = frozenset({dataset_key(event.tenant, "file", "/static")})
    assert len(exported([event], ExportScope(event.tenant, around))[0]) == 1
