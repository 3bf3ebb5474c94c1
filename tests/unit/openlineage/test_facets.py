"""Every standard facet: where it is kept, by its schema's own examples, and the table of docs/openlineage.md."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from headwater_openlineage.outgoing import documents_of
from headwater_schemas.events import DatasetUse, LineageEvent, QualityResult
from support import events as full
from support.graph.colliding import colliding_events
from support.openlineage_documents import example, standard_facets
from support.openlineage_sequences import Json, dataset, run
from support.openlineage_spec import canonical, check_official, graph_of, received
from support.run_rules import rewrite, updating

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[3] / "docs" / "openlineage.md"
BEGIN, END = "<!-- facets: written by tests/unit/openlineage/test_facets.py -->\n", "<!-- /facets -->"


class Row(NamedTuple):
    """A facet in the table.

    Attributes:
        kept: properties of nodes and relationships of the graph that the facet fills, each `Label.property`.
        out: which events of Headwater's own leave with the facet.
    """

    kept: str
    out: str = ""


RUN_FACETS, JOB_FACETS, DATASET_FACETS = "Run.facets", "Job.facets", "Dataset.facets"
ROWS = {
    ("run", "parent"): Row(f"Run.parent_run_id Run.root_run_id CHILD_OF {RUN_FACETS}", "runs"),
    ("run", "nominalTime"): Row(f"Run.nominal_start Run.nominal_end {RUN_FACETS}", "runs"),
    ("run", "processing_engine"): Row(f"Run.engine Run.engine_version {RUN_FACETS}", "runs, micro-batches"),
    ("run", "errorMessage"): Row(f"Run.error_message Run.error_stack {RUN_FACETS}", "runs"),
    ("run", "extractionError"): Row(RUN_FACETS),
    ("run", "externalQuery"): Row(RUN_FACETS),
    ("run", "environmentVariables"): Row(RUN_FACETS),
    ("run", "executionParameters"): Row(RUN_FACETS),
    ("run", "jobDependencies"): Row(RUN_FACETS),
    ("run", "tags"): Row(RUN_FACETS),
    ("run", "test"): Row(RUN_FACETS),
    ("job", "jobType"): Row(
        f"Job.processing_type Job.integration Job.job_type {JOB_FACETS}", "jobs, runs, micro-batches"
    ),
    ("job", "sql"): Row(f"{JOB_FACETS} DERIVES INFLUENCES"),
    ("job", "sourceCode"): Row(JOB_FACETS),
    ("job", "sourceCodeLocation"): Row(
        "Job.source_type Job.source_url Job.source_repo Job.source_path Job.source_version Job.source_branch "
        + JOB_FACETS,
        "jobs",
    ),
    ("job", "documentation"): Row(f"Job.description {JOB_FACETS}", "jobs"),
    ("job", "ownership"): Row(f"Job.owners {JOB_FACETS}", "jobs"),
    ("job", "tags"): Row(f"Job.tags {JOB_FACETS}", "jobs"),
    ("job", "lineage"): Row(f"PRODUCED.inputs FEEDS DERIVES INFLUENCES {JOB_FACETS}", "runs, micro-batches"),
    ("dataset", "schema"): Row(
        "Dataset.columns HAS_COLUMN Column.data_type Column.description PRODUCED.schema_digest", "datasets"
    ),
    ("dataset", "dataSource"): Row(f"Dataset.source_uri {DATASET_FACETS}"),
    ("dataset", "columnLineage"): Row("DERIVES INFLUENCES Plan.edges", "runs, micro-batches, plans, jobs"),
    ("dataset", "lineage"): Row("PRODUCED.inputs DERIVES INFLUENCES"),
    ("dataset", "datasetType"): Row(f"Dataset.type {DATASET_FACETS}", "datasets"),
    ("dataset", "version"): Row(f"PRODUCED.snapshot_id Version.version {DATASET_FACETS}", "runs, micro-batches"),
    ("dataset", "documentation"): Row(f"Dataset.description {DATASET_FACETS}", "datasets"),
    ("dataset", "hierarchy"): Row(DATASET_FACETS),
    ("dataset", "lifecycleStateChange"): Row("Dataset.lifecycle PRODUCED.facets", "datasets, runs, micro-batches"),
    ("dataset", "ownership"): Row("Dataset.owners", "datasets"),
    ("dataset", "storage"): Row("Dataset.storage_layer Dataset.storage_format", "datasets, runs, micro-batches"),
    ("dataset", "symlinks"): Row("Dataset.symlinks KNOWN_AS", "datasets"),
    ("dataset", "tags"): Row("Dataset.tags", "datasets"),
    ("dataset", "catalog"): Row(DATASET_FACETS),
    ("dataset", "dataQualityMetrics"): Row(DATASET_FACETS),
    ("input", "inputStatistics"): Row(
        "CONSUMED.rows CONSUMED.bytes CONSUMED.files CONSUMED.facets", "runs, micro-batches"
    ),
    ("input", "dataQualityMetrics"): Row("CONSUMED.facets"),
    ("input", "dataQualityAssertions"): Row(
        "Run.quality_assertions Run.quality_passed Run.quality_columns Run.quality_rules Run.quality_severities "
        "CONSUMED.facets",
        "runs, micro-batches",
    ),
    ("input", "subset"): Row("CONSUMED.position CONSUMED.facets", "runs, micro-batches"),
    ("input", "icebergScanReport"): Row("CONSUMED.snapshot_id Version.version CONSUMED.facets"),
    ("output", "outputStatistics"): Row(
        "PRODUCED.rows PRODUCED.bytes PRODUCED.files PRODUCED.facets", "runs, micro-batches"
    ),
    ("output", "subset"): Row("PRODUCED.position PRODUCED.facets", "runs, micro-batches"),
    ("output", "icebergCommitReport"): Row("PRODUCED.snapshot_id PRODUCED.operation PRODUCED.facets"),
}
EDGES = ("`upstream`", "`downstream`", "page")
SHOWN = {
    # label or type of what a facet is kept in: who shows that
    "Run": ("`runs show`",),
    "CHILD_OF": ("`runs show`",),
    "CONSUMED": ("`runs show`",),
    "PRODUCED": ("`runs show`",),
    "Job": ("`show`",),
    "Dataset": ("`show`", "page"),
    "HAS_COLUMN": ("`show`", "page"),
    "Column": ("`show`", "page"),
    "Version": ("`show`", "page"),
    "KNOWN_AS": ("`show`", "page"),
    "Plan": (),
    "FEEDS": EDGES,
    "DERIVES": EDGES,
    "INFLUENCES": EDGES,
}


def shown_by(place: str) -> tuple[str, ...]:
    """Commands that show a place of the graph."""
    label, _, name = place.partition(".")
    return (*SHOWN[label], *(("page",) if name == "facets" else ()))


MEMBERS = {"run": "facets", "job": "facets", "dataset": "facets", "input": "inputFacets", "output": "outputFacets"}
LOCATIONS = {"type": "location", "locations": ["/data/a", "/data/b"]}
ORDERS, TOTALS = dataset("shop.public.orders"), dataset("shop.public.totals")
SOURCE = {**ORDERS, "field": "x", "type": "DATASET", "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]}
ENTRY = {"inputs": [SOURCE], "fields": {"a": {"inputs": [SOURCE]}}}
# What the specification's own examples leave open: names of other things in the document, and texts with a meaning.
MEANT: dict[tuple[str, str], Json] = {
    ("job", "lineage"): {"entries": [{**TOTALS, "type": "DATASET", **ENTRY}]},
    ("dataset", "lineage"): ENTRY,
    ("job", "sql"): {"query": "INSERT INTO totals (a) SELECT x FROM orders WHERE y > 1", "dialect": "postgres"},
    ("dataset", "lifecycleStateChange"): {"lifecycleStateChange": "OVERWRITE"},
    ("dataset", "columnLineage"): {"fields": {"a": {"inputFields": [SOURCE]}}, "dataset": [SOURCE]},
    ("input", "subset"): {"inputCondition": LOCATIONS},
    ("output", "subset"): {"outputCondition": LOCATIONS},
}


def reference(owner: str, name: str) -> str:
    return next(url for each, url in standard_facets()[owner, MEMBERS[owner]] if each == name)


def document(owner: str, name: str) -> Json:
    """A run with one facet."""
    url = reference(owner, name)
    facet = {**example(url), **MEANT.get((owner, name), {}), "_schemaURL": url, "_producer": "https://example.com/x"}
    facets = {name: facet}
    inputs, outputs = [dict(ORDERS)], [dict(TOTALS)]
    found = run("COMPLETE", "05:10:00", inputs=inputs, outputs=outputs)
    holder: Any = {"run": found["run"], "job": found["job"], "input": inputs[0]}.get(owner, outputs[0])
    holder[MEMBERS[owner]] = facets
    return found


def filled(lines: list[str], facet: str) -> set[str]:
    """`Label.property` of all that a graph has, `TYPE` of its relationships; of `facets`, where it has this one."""
    found: set[str] = set()
    for line in map(json.loads, lines):
        name = line["labels"][0] if "labels" in line else line["type"]
        found.add(name)
        found |= {f"{name}.{key}" for key in line["properties"] if key != "facets"}
        if facet in line["properties"].get("facet_names", ()):
            found.add(f"{name}.facets")
    return found


def test_every_standard_facet_has_a_row() -> None:
    known = {(owner, name) for (owner, _), facets in standard_facets().items() for name, _ in facets}
    # The core's lineage facet is two: of a job and of a dataset.
    assert known == set(ROWS)


def test_a_facet_is_kept_where_the_table_has_it(subtests: pytest.Subtests) -> None:
    for (owner, name), row in ROWS.items():
        with subtests.test(f"{owner}'s {name}"):
            one = document(owner, name)
            check_official(one)
            events = received(one)
            assert set(row.kept.split()) - filled(graph_of(events), name) == set()
            assert [canonical(out) for out in documents_of(events[0], lambda _: None)] == [canonical(one)]


EMPTIED: dict[tuple[str, str], Json] = {
    ("job", "documentation"): {"description": ""},
    ("job", "jobType"): {"integration": "", "job_type": ""},
    ("job", "ownership"): {"owners": [], "owner_types": []},
    ("job", "sourceCodeLocation"): {"source_type": "", "source_url": "", "source_repo": None},
    ("job", "tags"): {"tags": []},
    ("dataset", "dataSource"): {"source_uri": ""},
    ("dataset", "datasetType"): {"type": ""},
    ("dataset", "documentation"): {"description": ""},
    ("dataset", "ownership"): {"owners": []},
    ("dataset", "schema"): {"columns": []},
    ("dataset", "storage"): {"storage_layer": "", "storage_format": None},
    ("dataset", "symlinks"): {"symlinks": []},
    ("dataset", "tags"): {"tags": []},
}


def deleting(owner: str, name: str) -> Json:
    """Document of a later report of the same run, with the facet deleted."""
    found = document(owner, name)
    holder = found["job"] if owner == "job" else found["outputs"][0]
    holder["facets"][name] = {key: holder["facets"][name][key] for key in ("_producer", "_schemaURL")}
    holder["facets"][name]["_deleted"] = True
    return {**found, "eventTime": "2013-01-01T05:20:00Z"}


def test_a_deleted_facet_clears_what_it_filled(subtests: pytest.Subtests) -> None:
    for (owner, name), emptied in EMPTIED.items():
        with subtests.test(f"{owner}'s {name}"):
            nodes = [json.loads(line) for line in graph_of(received(document(owner, name), deleting(owner, name)))]
            label, title = ("Job", "totals") if owner == "job" else ("Dataset", TOTALS["name"])
            [found] = [
                node["properties"]
                for node in nodes
                if label in node.get("labels", ()) and node["properties"]["name"] == title
            ]
            assert {key: found.get(key) for key in emptied} == emptied


def test_a_deleted_facet_comes_back(subtests: pytest.Subtests) -> None:
    for owner, name in [row for row in ROWS if row[0] in {"job", "dataset"}]:
        with subtests.test(f"{owner}'s {name}"):
            one = deleting(owner, name)
            assert [canonical(out) for event in received(one) for out in documents_of(event, lambda _: None)] == [
                canonical(one)
            ]


def table() -> str:
    """The table as the page has it."""
    lines = ["| facet | of | kept in the graph as | shown by | leaves with Headwater's own |", "|---|---|---|---|---|"]
    for (owner, name), row in ROWS.items():
        kept = ", ".join(f"`{each}`" for each in row.kept.split())
        shown = dict.fromkeys(each for place in row.kept.split() for each in shown_by(place))
        lines.append(f"| `{name}` | {owner} | {kept} | {', '.join(shown)} | {row.out} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, found, rest = text.partition(BEGIN)
    assert found, f"{PAGE.name} has no line {BEGIN!r}"
    _, end, after = rest.partition(END)
    wanted = f"{before}{BEGIN}\n{table()}\n{end}{after}"
    if updating():
        rewrite(PAGE, wanted)
    assert text == wanted


KINDS = {"run": "runs", "interval": "micro-batches", "plan": "plans", "dataset": "datasets", "job": "jobs"}
WRITTEN = DatasetUse(
    dataset=full.ENRICHED, facets={"lifecycleStateChange": '{"lifecycleStateChange":"OVERWRITE"}'}, rows=1
)


def own_events() -> list[LineageEvent]:
    """Events of Headwater's own that have together all that leaves in a standard facet."""
    run_, interval = full.full_run_event(), full.full_interval_event()
    assert run_.run_event
    assert interval.interval_event
    quality = (QualityResult(assertion="not_null", passed=True, dataset=full.DEPARTED),)
    entry = msgspec.structs.replace(interval.interval_event.entries[0], outputs=(WRITTEN,), quality=quality)
    written = [
        msgspec.structs.replace(
            run_, run_event=msgspec.structs.replace(run_.run_event, outputs=(WRITTEN,), quality=quality)
        ),
        msgspec.structs.replace(
            interval, interval_event=msgspec.structs.replace(interval.interval_event, entries=(entry,))
        ),
    ]
    others = [full.full_plan_event(), full.full_dataset_event(), full.full_job_event()]
    return [run_, interval, *others, *written, *colliding_events(random.Random(1), 300)]


def leaving() -> dict[tuple[str, str], set[str]]:
    """The facets of the documents that they become, each with the kinds of event that it leaves with."""
    plan = full.full_plan_event().plan_event
    assert plan
    found: dict[tuple[str, str], set[str]] = {}
    for event in own_events():
        for out in documents_of(msgspec.structs.replace(event, document=None), lambda _: plan.lineage):
            datasets = [("input", each) for each in out.get("inputs", ())]
            datasets += [("output", each) for each in out.get("outputs", ())]
            holders = [(owner, out[owner]) for owner in ("run", "job", "dataset") if owner in out]
            for owner, holder in (*holders, *datasets, *(("dataset", each) for _, each in datasets)):
                for name in holder.get(MEMBERS[owner], ()):
                    found.setdefault((owner, name), set()).add(KINDS[event.kind.lower()])
    return found


def test_facets_leave_with_the_events_that_the_table_has() -> None:
    found = leaving()
    assert {each: ", ".join(sorted(found.get(each, ()))) for each in ROWS} == {
        each: ", ".join(sorted(filter(None, row.out.split(", ")))) for each, row in ROWS.items()
    }
