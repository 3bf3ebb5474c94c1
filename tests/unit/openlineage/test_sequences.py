"""Sequences of real producers, and the one graph of each, derived by hand: in any order, and however often."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from headwater_openlineage.subset import subset_condition
from headwater_schemas.events import KafkaRanges, OffsetRange, Position
from support.graph.picture import shown
from support.openlineage_sequences import Json, columns, dataset, explicit, facet, parent, run
from support.openlineage_spec import CORE, graph_of, received

ORDERS, CUSTOMERS, TOTALS, NAMES = (dataset(name) for name in ("orders", "customers", "totals", "names"))
DROPPED = {"lifecycleStateChange": facet(lifecycleStateChange="DROP")}
TRINO = {"jobType": facet(processingType="BATCH", integration="TRINO", jobType="QUERY")}
OFFSETS = facet(inputCondition=subset_condition(Position(kafka=KafkaRanges("orders", (OffsetRange(0, 5, 9),)))))
NOT_NULL = {"assertion": "not_null", "success": False, "column": "id", "severity": "error"}
NO_ORPHANS = {"assertion": "custom_sql", "name": "no_orphans", "success": True, "actual": "0.5"}
SYMLINK = {"namespace": "hive://metastore:9083", "name": "db.orders", "type": "TABLE"}
LAKE = dataset("lake.shop.orders", "trino://trino.example.org:8080")
MASKED = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True, "description": "sha2(email)"}
UNIQUE = {"assertion": "dbt_utils.unique", "success": True}
RUN = 'Run "totals 00000001"'
FEEDS = 'Dataset "{}" -FEEDS-> Dataset "{}"'


def about(kind: str, minute: int = 0) -> Json:
    """The members that every document of a job or dataset has."""
    time = f"2013-01-01T05:0{minute}:00Z"
    return {"eventTime": time, "producer": "https://example.com/producer", "schemaURL": f"{CORE}#/$defs/{kind}"}


def asserted(*assertions: Json) -> Json:
    """Facets with assertions."""
    return {"dataQualityAssertions": facet(assertions=list(assertions))}


def made_of(field_: str, **transformation: Any) -> Json:
    """An input field of the orders in column lineage."""
    return {**ORDERS, "field": field_, "transformations": [transformation]}


@dataclass(frozen=True)
class Sequence:
    """Documents and their graph.

    Attributes:
        documents: in the order in which a producer emits them.
        facts: title of a node or relationship: properties that it has; None: that it hasn't.
        absent: titles of what isn't there.
    """

    documents: list[Json]
    facts: dict[str, dict[str, str | None]]
    absent: list[str] = field(default_factory=list)


SEQUENCES = {
    "several starts": Sequence(
        [run("START", "05:00:00"), run("START", "05:01:00"), run("COMPLETE", "05:10:00")],
        {RUN: {"state": "COMPLETE", "started_at": "05:00:00", "ended_at": "05:10:00", "first_seen": "05:00:00"}},
    ),
    "an end without a start": Sequence(
        [run("COMPLETE", "05:10:00", inputs=[ORDERS], outputs=[TOTALS])],
        {
            RUN: {"state": "COMPLETE", "started_at": None, "ended_at": "05:10:00", "open": None},
            FEEDS.format("orders", "totals"): {"possible": "true", "observed": None},
        },
    ),
    "the only inputs while running": Sequence(
        [
            run("START", "05:00:00"),
            run("RUNNING", "05:05:00", inputs=[ORDERS]),
            run("COMPLETE", "05:10:00", outputs=[TOTALS]),
        ],
        {
            RUN: {"state": "COMPLETE", "started_at": "05:00:00"},
            'Job "totals" -READS-> Dataset "orders"': {"first_seen": "05:00:00", "last_seen": "05:10:00"},
            FEEDS.format("orders", "totals"): {"possible": "true", "observed": None, "first_seen": "05:00:00"},
        },
    ),
    "inputs at the start, outputs at the end": Sequence(
        [run("START", "05:00:00", inputs=[ORDERS, CUSTOMERS]), run("COMPLETE", "05:10:00", outputs=[TOTALS])],
        {FEEDS.format("orders", "totals"): {}, FEEDS.format("customers", "totals"): {}},
    ),
    "facets that grow": Sequence(
        [
            run("START", "05:00:00", facets={"spark_properties": facet(a=1)}, outputs=[TOTALS]),
            run(
                "COMPLETE",
                "05:10:00",
                facets={"spark_properties": facet(a=1, b=2), "tags": facet(tags=[{"key": "k", "value": "v"}])},
                outputs=[{**TOTALS, "outputFacets": {"outputStatistics": facet(rowCount=7, size=70, fileCount=1)}}],
            ),
        ],
        {
            RUN: {"facet_names": "[spark_properties, tags]"},
            f'{RUN} -PRODUCED-> Dataset "totals"': {"rows": "7", "bytes": "70", "files": "1"},
        },
    ),
    "nanoseconds and offsets": Sequence(
        [
            run("START", "2013-01-01T10:30:00.000000001+05:30"),
            run("COMPLETE", "2012-12-31T21:20:00.999999999-08:00"),
        ],
        {RUN: {"started_at": "05:00:00", "ended_at": "05:20:00", "first_seen": "05:00:00"}},
    ),
    "a failure": Sequence(
        [
            run("START", "05:00:00"),
            run(
                "FAIL",
                "05:10:00",
                facets={"errorMessage": facet(message="no disk", programmingLanguage="JAVA", stackTrace="at x")},
            ),
        ],
        {RUN: {"state": "FAIL", "error_message": "'no disk'", "error_stack": "'at x'"}},
    ),
    "a table that a failed run was to drop, and another did": Sequence(
        [
            run("START", "05:00:00", outputs=[{**TOTALS, "facets": DROPPED}, {**NAMES, "facets": DROPPED}]),
            run("FAIL", "05:10:00", outputs=[{**TOTALS, "facets": DROPPED}]),
            run("START", "05:20:00", "clean", 2, outputs=[{**NAMES, "facets": DROPPED}]),
            run("COMPLETE", "05:30:00", "clean", 2, outputs=[{**NAMES, "facets": DROPPED}]),
        ],
        {
            'Dataset "totals"': {"dropped": None, "lifecycle": None},
            'Dataset "names"': {"dropped": "true", "dropped_at": "05:30:00", "lifecycle": "DROP"},
        },
    ),
    "one run id under two jobs": Sequence(
        [run("START", "05:00:00", job="extract"), run("COMPLETE", "05:10:00", job="totals")],
        {
            RUN: {"state": "COMPLETE", "job_name": "totals"},
            f'{RUN} -OF-> Job "totals"': {},
            f'{RUN} -OF-> Job "extract"': {},
        },
    ),
    "a DAG and its tasks, the parent last": Sequence(
        [
            run("START", "05:01:00", "dag.extract", 2, facets=parent(1, "dag", 1, "dag"), outputs=[ORDERS]),
            run("COMPLETE", "05:02:00", "dag.extract", 2, facets=parent(1, "dag", 1, "dag"), outputs=[ORDERS]),
            run(
                "START", "05:03:00", "dag.load", 3, facets=parent(1, "dag", 1, "dag"), inputs=[ORDERS], outputs=[TOTALS]
            ),
            run("START", "05:00:00", "dag", 1),
        ],
        {
            'Run "dag.extract 00000002" -CHILD_OF-> Run "dag 00000001"': {},
            'Run "dag.load 00000003" -CHILD_OF-> Run "dag 00000001"': {},
            'Run "dag 00000001"': {"state": "START", "started_at": "05:00:00", "open": "true"},
            'Run "dag.load 00000003"': {"root_job_name": "dag", "open": "true"},
            FEEDS.format("orders", "totals"): {},
        },
    ),
    "a test run of dbt": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                "dbt-run.shop.test",
                inputs=[{**ORDERS, "inputFacets": asserted(NOT_NULL, NO_ORPHANS)}],
                facets={"test": facet(tests=[{"name": "not_null_orders_id", "status": "fail"}])},
            )
        ],
        {
            'Run "dbt-run.shop.test 00000001"': {
                "facet_names": "[test]",
                "quality_assertions": "[no_orphans, not_null]",
                "quality_passed": "[true, false]",
                "quality_columns": "['', id]",
                "quality_values": "[0.5, '']",
                "quality_datasets": "[orders, orders]",
                "quality_rules": "[custom_sql, COMPLETENESS]",
                "quality_severities": "['', error]",
                "quality_suites": None,
            },
            'Run "dbt-run.shop.test 00000001" -CONSUMED-> Dataset "orders"': {"facet_names": "[dataQualityAssertions]"},
        },
    ),
    "assertions on an output": Sequence(
        [run("COMPLETE", "05:10:00", outputs=[{**TOTALS, "outputFacets": asserted(UNIQUE)}])],
        {
            RUN: {
                "quality_assertions": "[dbt_utils.unique]",
                "quality_datasets": "[totals]",
                "quality_rules": "[UNIQUENESS]",
            }
        },
    ),
    "assertions that were deleted": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[{**ORDERS, "inputFacets": {"dataQualityAssertions": facet(_deleted=True)}}],
            )
        ],
        {RUN: {"quality_assertions": None}},
    ),
    "explicit lineage": Sequence(
        [
            run("START", "05:00:00", inputs=[ORDERS, CUSTOMERS]),
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[ORDERS, CUSTOMERS],
                outputs=[TOTALS, NAMES],
                job_facets=explicit(totals=["orders"], names=["customers"]),
            ),
        ],
        {
            FEEDS.format("orders", "totals"): {"observed": "true", "possible": None},
            FEEDS.format("customers", "names"): {"observed": "true", "possible": None},
            f'{RUN} -PRODUCED-> Dataset "totals"': {"inputs": '[Dataset "orders"]'},
        },
        [FEEDS.format("customers", "totals"), FEEDS.format("orders", "names")],
    ),
    "explicit lineage at the end alone": Sequence(
        [
            run("START", "05:00:00", inputs=[ORDERS, CUSTOMERS], outputs=[TOTALS, NAMES]),
            run("RUNNING", "05:05:00", inputs=[ORDERS, CUSTOMERS], outputs=[TOTALS, NAMES]),
            run("COMPLETE", "05:10:00", job_facets=explicit(totals=["orders"], names=["customers"])),
        ],
        {
            FEEDS.format("orders", "totals"): {"observed": "true", "possible": None},
            FEEDS.format("customers", "names"): {"observed": "true", "possible": None},
            f'{RUN} -PRODUCED-> Dataset "totals"': {"inputs": '[Dataset "orders"]', "possible": None},
        },
        [FEEDS.format("customers", "totals"), FEEDS.format("orders", "names")],
    ),
    "no lineage, and columns of one input": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[ORDERS, CUSTOMERS],
                outputs=[{**TOTALS, "facets": columns(total=[("orders", "amount")])}],
            )
        ],
        {
            FEEDS.format("orders", "totals"): {"observed": "true", "possible": None},
            FEEDS.format("customers", "totals"): {"observed": None, "possible": "true"},
            f'{RUN} -PRODUCED-> Dataset "totals"': {"possible": "true"},
        },
    ),
    "explicit lineage that only the facet names": Sequence(
        [run("COMPLETE", "05:10:00", job_facets=explicit(totals=["orders"], names=[]))],
        {
            FEEDS.format("orders", "totals"): {},
            'Job "totals" -READS-> Dataset "orders"': {},
            'Job "totals" -WRITES-> Dataset "names"': {},
        },
        [FEEDS.format("orders", "names")],
    ),
    "explicit lineage of one of two outputs": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[ORDERS, CUSTOMERS],
                outputs=[
                    {**TOTALS, "facets": {"lineage": facet(inputs=[{**ORDERS, "type": "DATASET", "field": "id"}])}},
                    NAMES,
                ],
            )
        ],
        {
            FEEDS.format("orders", "totals"): {"observed": "true", "possible": None},
            FEEDS.format("orders", "names"): {"observed": None, "possible": "true"},
            FEEDS.format("customers", "names"): {"observed": None, "possible": "true"},
            'Column "id" -INFLUENCES-> Dataset "totals"': {"type": "INDIRECT"},
        },
        [FEEDS.format("customers", "totals")],
    ),
    "columns, masked and influencing": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[ORDERS],
                outputs=[
                    {
                        **TOTALS,
                        "facets": {
                            "columnLineage": facet(
                                fields={"who": {"inputFields": [made_of("email", **MASKED)]}},
                                dataset=[made_of("day", type="INDIRECT", subtype="FILTER")],
                            )
                        },
                    }
                ],
            )
        ],
        {
            'Column "email" -DERIVES-> Column "who"': {
                "type": "DIRECT",
                "kind": "MASK",
                "masking": "true",
                "expression": "sha2(email)",
            },
            'Column "day" -INFLUENCES-> Dataset "totals"': {"type": "INDIRECT", "kind": "FILTER_DEPENDENCY"},
        },
    ),
    "column lineage that grows": Sequence(
        [
            run("RUNNING", "05:05:00", inputs=[ORDERS], outputs=[{**TOTALS, "facets": columns(a=[("orders", "x")])}]),
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[ORDERS],
                outputs=[{**TOTALS, "facets": columns(a=[("orders", "x")], b=[("orders", "y")])}],
            ),
        ],
        {'Column "x" -DERIVES-> Column "a"': {"kind": "RENAME"}, 'Column "y" -DERIVES-> Column "b"': {}},
    ),
    "columns parsed from SQL": Sequence(
        [
            run(
                "COMPLETE",
                "05:10:00",
                inputs=[dataset("shop.public.orders")],
                outputs=[dataset("shop.public.totals")],
                job_facets={
                    "sql": facet(query="INSERT INTO totals (total) SELECT sum(amount) FROM orders WHERE day > 1")
                },
            )
        ],
        {
            'Column "amount" -DERIVES-> Column "total"': {"kind": "AGGREGATE"},
            'Column "day" -INFLUENCES-> Dataset "shop.public.totals"': {"kind": "FILTER_DEPENDENCY"},
        },
    ),
    "a table by its path and by its catalog name": Sequence(
        [
            run("COMPLETE", "05:10:00", "write", 1, outputs=[dataset("db.orders", "hive://metastore:9083")]),
            run(
                "COMPLETE",
                "05:20:00",
                "read",
                2,
                inputs=[dataset("warehouse/orders", "s3a://lake", facets={"symlinks": facet(identifiers=[SYMLINK])})],
            ),
        ],
        {
            'Job "read" -READS-> Dataset "warehouse/orders"': {},
            'Dataset "warehouse/orders"': {"symlinks": "[db.orders]", "symlink_types": "[TABLE]"},
            'Dataset "warehouse/orders" -KNOWN_AS-> Alias "db.orders"': {"type": "TABLE"},
        },
    ),
    "brokers in another order": Sequence(
        [
            run("COMPLETE", "05:10:00", "write", 1, outputs=[dataset("events", "kafka://b:9092,a:9092")]),
            run("COMPLETE", "05:20:00", "read", 2, inputs=[dataset("events", "kafka://a:9092,b:9092")]),
        ],
        {'Job "write" -WRITES-> Dataset "events"': {}, 'Job "read" -READS-> Dataset "events"': {}},
    ),
    "checkpoints of Flink": Sequence(
        [
            run("START", "05:00:00", job_facets={"jobType": facet(processingType="STREAMING", integration="FLINK")}),
            run("RUNNING", "05:01:00", inputs=[ORDERS], outputs=[TOTALS], facets={"checkpoints": facet(completed=0)}),
            run("RUNNING", "05:02:00", inputs=[ORDERS], outputs=[TOTALS], facets={"checkpoints": facet(completed=1)}),
            run("RUNNING", "05:03:00", inputs=[ORDERS], outputs=[TOTALS], facets={"checkpoints": facet(completed=2)}),
        ],
        {
            RUN: {"state": "RUNNING", "processing_type": "STREAMING", "first_batch": "0", "last_batch": "1"},
            'Query "00000001-52f0-7bd1-9d55-1a2b3c4d5e6f"': {"first_batch": "0", "last_batch": "1"},
        },
    ),
    "checkpoints of Flink, with the offsets of each": Sequence(
        [
            run(
                "RUNNING",
                "05:01:00",
                job_facets={"jobType": facet(processingType="STREAMING", integration="FLINK")},
                facets={"checkpoints": facet(completed=1)},
                inputs=[{**dataset("orders", "kafka://broker:9092"), "inputFacets": {"subset": OFFSETS}}],
                outputs=[TOTALS],
            ),
        ],
        {
            'Interval "batch 0" -CONSUMED-> Dataset "orders"': {
                "partitions": "[0]",
                "from": "[5]",
                "to_exclusive": "[9]",
            },
        },
    ),
    "a query of Trino": Sequence(
        # By its documentation: datasets come with the end, in the namespace of the coordinator.
        [
            run("START", "05:00:00", job_facets=TRINO, facets={"trino_metadata": facet(transactionId="t")}),
            run(
                "COMPLETE",
                "05:01:00",
                job_facets={**TRINO, "sql": facet(query="CREATE TABLE totals AS SELECT amount AS total FROM orders")},
                facets={"trino_metadata": facet(transactionId="t"), "trino_query_statistics": facet(cpuTime="1")},
                inputs=[dataset("lake.shop.orders", "trino://trino.example.org")],
                outputs=[
                    dataset(
                        "lake.shop.totals",
                        "trino://Trino.example.org:8080",
                        facets={
                            "schema": facet(fields=[{"name": "total", "type": "bigint"}]),
                            "columnLineage": facet(fields={"total": {"inputFields": [{**LAKE, "field": "amount"}]}}),
                        },
                    )
                ],
            ),
        ],
        {
            RUN: {"state": "COMPLETE", "facet_names": "[trino_metadata, trino_query_statistics]"},
            'Job "totals"': {"integration": "TRINO", "job_type": "QUERY"},
            FEEDS.format("lake.shop.orders", "lake.shop.totals"): {"possible": None},
            'Column "amount" -DERIVES-> Column "total"': {},
        },
    ),
    "a job that declares explicit lineage": Sequence(
        [
            {
                **about("JobEvent"),
                "job": {
                    "namespace": "shop",
                    "name": "totals",
                    "facets": explicit(totals=["orders"], names=["customers"]),
                },
                "inputs": [ORDERS, CUSTOMERS],
                "outputs": [TOTALS, NAMES],
            }
        ],
        {
            FEEDS.format("orders", "totals"): {"declared": "true", "observed": None},
            FEEDS.format("customers", "names"): {"declared": "true"},
        },
        [FEEDS.format("customers", "totals"), FEEDS.format("orders", "names")],
    ),
    "a job that declares inputs and outputs, and no lineage": Sequence(
        [
            {
                **about("JobEvent"),
                "job": {"namespace": "shop", "name": "totals"},
                "inputs": [ORDERS, CUSTOMERS],
                "outputs": [{**TOTALS, "facets": columns(total=[("orders", "amount")])}, NAMES],
            }
        ],
        {
            FEEDS.format("orders", "totals"): {"declared": "true", "observed": None},
            FEEDS.format("customers", "names"): {"declared": "true", "observed": None},
            'Dataset "orders" -INFLUENCES-> Dataset "names"': {"kind": "EXTERNAL"},
            'Dataset "customers" -INFLUENCES-> Dataset "totals"': {"kind": "EXTERNAL"},
            'Job "totals" -READS-> Dataset "customers"': {"declared": "true"},
            'Job "totals" -WRITES-> Dataset "names"': {"declared": "true"},
        },
        ['Dataset "orders" -INFLUENCES-> Dataset "totals"'],
    ),
    "a dataset that states its lineage without a job": Sequence(
        [
            {
                **about("DatasetEvent"),
                "dataset": {
                    **TOTALS,
                    "facets": {
                        "lineage": facet(
                            inputs=[{**CUSTOMERS, "type": "DATASET"}],
                            fields={"total": {"inputs": [{**ORDERS, "type": "DATASET", "field": "amount"}]}},
                        )
                    },
                },
            }
        ],
        {
            FEEDS.format("orders", "totals"): {"declared": "true", "observed": None},
            FEEDS.format("customers", "totals"): {"declared": "true", "observed": None},
            'Column "amount" -DERIVES-> Column "total"': {},
            'Job "lineage of totals" -READS-> Dataset "customers"': {"declared": "true"},
            'Job "lineage of totals" -WRITES-> Dataset "totals"': {"declared": "true"},
        },
    ),
    "a dataset that withdraws its lineage": Sequence(
        [
            {
                **about("DatasetEvent", minute),
                "dataset": {**TOTALS, "facets": {"lineage": given}},
            }
            for minute, given in enumerate((facet(inputs=[{**ORDERS, "type": "DATASET"}]), facet(_deleted=True)))
        ],
        {'Job "lineage of totals" -WRITES-> Dataset "totals"': {"declared": "true"}},
        [FEEDS.format("orders", "totals"), 'Job "lineage of totals" -READS-> Dataset "orders"'],
    ),
    "a dataset that was renamed and described": Sequence(
        [
            {
                **about("DatasetEvent"),
                "dataset": {
                    **TOTALS,
                    "facets": {
                        "lifecycleStateChange": facet(lifecycleStateChange="RENAME", previousIdentifier=NAMES),
                        "schema": facet(
                            fields=[{"name": "a", "type": "struct", "fields": [{"name": "b.c", "type": "int"}]}]
                        ),
                        "ownership": facet(owners=[{"name": "team:shop", "type": "MAINTAINER"}]),
                        "documentation": facet(description="sums"),
                    },
                },
            }
        ],
        {
            'Dataset "names" -RENAMED_TO-> Dataset "totals"': {},
            'Dataset "totals"': {"columns": "[a, a.`b.c`]", "owners": "[team:shop]", "description": "sums"},
        },
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_makes_the_one_graph(name: str) -> None:
    sequence = SEQUENCES[name]
    graph = dict(shown(graph_of(received(*sequence.documents))))
    for title, facts in sequence.facts.items():
        assert title in graph, sorted(graph)
        assert {key: graph[title].get(key) for key in facts} == facts
    assert [title for title in sequence.absent if title in graph] == []


def test_order_and_repeats_change_nothing(subtests: pytest.Subtests) -> None:
    for name, sequence in SEQUENCES.items():
        with subtests.test(name):
            documents = sequence.documents
            once = graph_of(received(*documents))
            for order in itertools.permutations(documents):
                assert graph_of(received(*order)) == once
                assert graph_of(received(*order, *order)) == once


def test_what_was_parsed_says_so() -> None:
    [plan] = [
        e.plan_event for e in received(*SEQUENCES["columns parsed from SQL"].documents) if e.plan_event is not None
    ]
    assert not plan.lineage.complete
    assert plan.lineage.incomplete_reason == "parsed from the text of the sql facet, not reported by the producer"
