"""Names of properties that stand in somebody's graph, as literals: which register each belongs to, and which are times.

A register that is read back by another name is a register that was never written: the next event replaces what is
there. None of these names is ever changed without a migration of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_graph.facts.model import Label
from headwater_graph.facts.owners import REGISTERS, USE_REGISTERS
from headwater_graph.facts.properties import (
    CONTEXT_REGISTERS,
    ENTRY_REGISTERS,
    ENTRY_TIMES,
    GROUPS,
    POSITION,
    TIMES,
    owner_properties,
)

if TYPE_CHECKING:
    import pytest

PARTS = {
    "owners": "owners owner_types _owner_words",
    "tags": "tags tag_values tag_sources tag_fields _tag_words",
    "source": "source_type source_url source_repo source_path source_version source_branch",
    "declared_lineage": "declared_plan _declared_feeds",
    "storage": "storage_layer storage_format",
    "symlinks": "symlinks symlink_namespaces symlink_types",
    "existence": "dropped dropped_at",
    "schema": "columns _schema",
    "field": "position _schema data_type nullable description",
    "query": "query_name name",
    "job": "job_name job_namespace name _asset _scope",
    "asset": "_asset _scope",
    "query_id": "query_id _query",
    "state": "state ended_at provenance",
    "engine": "engine engine_version",
    "parent": "parent_run_id parent_job_namespace parent_job_name",
    "root": "root_run_id root_job_namespace root_job_name",
    "error": "error_message error_type error_stack",
    "quality": (
        "quality_assertions quality_passed quality_columns quality_values quality_namespaces quality_datasets "
        "quality_rules quality_severities quality_suites quality_suite_versions _checked"
    ),
    "run": "run_id _run",
    "campaign": "campaign _campaign",
    "lineage": "complete incomplete_reason expression_ids expressions edges _outputs",
    "position": (
        "position certainty topic topic_id partitions from to_exclusive format snapshot_id parent_id operation "
        "partition_paths _marks from_version to_version file_count file_bytes manifest_digest paths pattern system "
        "from_cdc to_cdc from_cursor to_cursor from_time to_time_exclusive from_json to_json"
    ),
}
"""Register of several properties ⇒ these; of the first one a reader concludes that the register is there."""

ENTRY = (
    "processing_time watermark_before watermark_after duration_ms rows_in rows_out rows_dropped_late state_rows "
    "state_bytes plan_digest"
)
VERSIONS = "code_version config_version engine capture_version"
CONTEXT = "script repository branch package image user service campaign statement"
MICRO_BATCH = f"provenance reason run {VERSIONS} {ENTRY} quality _reports"
OWNED = {
    Label.JOB: (
        "processing_type integration job_type description owners tags criticality source declared_inputs "
        "declared_outputs declared_lineage"
    ),
    Label.DATASET: (
        "type description owners tags classification criticality storage symlinks lifecycle existence emptied_at "
        "source_uri schema renamed_from"
    ),
    Label.COLUMN: "field",
    Label.VERSION: "parent_id operation partitions file_count file_bytes",
    Label.QUERY: "query asset checkpoint_location",
    Label.RUN: (
        "job state processing_type started_at nominal_start nominal_end parent root error publication plan_digest "
        f"query_id checkpoint_location producer rows_rejected quality {VERSIONS} {CONTEXT}"
    ),
    Label.PLAN: "lineage",
    Label.INTERVAL: MICRO_BATCH,
    Label.CONFLICT: MICRO_BATCH,
}
USE = "position rows bytes files schema_digest inputs possible uncommitted wide"


def properties(registers: str) -> dict[str, str]:
    """Property ⇒ register; `name` is of the identity, whatever register it shows as well."""
    return {
        part: register
        for register in registers.split()
        for part in PARTS.get(register, register).split()
        if part != "name"
    }


def test_properties_of_registers_that_have_several() -> None:
    assert {register: " ".join(parts) for register, parts in GROUPS.items()} == PARTS
    assert " ".join(POSITION) == PARTS["position"]


def test_properties_by_which_the_registers_of_a_node_are_read_back(subtests: pytest.Subtests) -> None:
    for label, parts in OWNED.items():
        with subtests.test(label=label):
            assert dict(REGISTERS[label]) == properties(parts)
            assert owner_properties(*parts.split()) == properties(parts)


def test_properties_by_which_the_registers_of_a_use_are_read_back() -> None:
    assert dict(USE_REGISTERS) == properties(USE)


def test_there_is_no_other() -> None:
    assert REGISTERS.keys() == OWNED.keys()
    assert " ".join(CONTEXT_REGISTERS) == CONTEXT
    assert " ".join(ENTRY_REGISTERS) == ENTRY


def test_properties_that_are_times() -> None:
    of_an_entry = "processing_time watermark_before watermark_after"
    others = (
        "first_seen last_seen started_at ended_at nominal_start nominal_end dropped_at emptied_at inferred_ended_at "
        "_inferred_before from_time to_time_exclusive first_time last_time summarize_before drop_before opened_at "
        "acknowledged_at resolved_at reached_as_of since"
    )
    assert set(of_an_entry.split()) == ENTRY_TIMES
    assert {*of_an_entry.split(), *others.split()} == TIMES
