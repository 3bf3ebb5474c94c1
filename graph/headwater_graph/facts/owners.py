"""Registers of each label and of uses, and their stamps in canonical form.

`_stamp` and `_stamps` depend on the order of writes (`properties.stamped`), so graphs with the same state may differ in
them. `settled` gives each register its own stamp, so that equal states compare equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_graph.facts import registers
from headwater_graph.facts.model import Label
from headwater_graph.facts.nodes import MADE_FROM, POSSIBLE, UNCOMMITTED, WIDE
from headwater_graph.facts.properties import CONTEXT_REGISTERS, ENTRY_REGISTERS, owner_properties
from headwater_graph.facts.reports import REPORTS

_VERSIONS = ("code_version", "config_version", "engine", "capture_version")
_MICRO_BATCH = owner_properties("provenance", "reason", "run", *_VERSIONS, *ENTRY_REGISTERS, "quality", REPORTS)
REGISTERS: Mapping[Label, Mapping[str, str]] = {
    Label.JOB: owner_properties(
        *("processing_type", "integration", "job_type", "description", "owners", "tags", "criticality", "source"),
        *("declared_inputs", "declared_outputs", "declared_lineage"),
    ),
    Label.DATASET: owner_properties(
        *("type", "description", "owners", "tags", "classification", "criticality", "storage", "symlinks", "lifecycle"),
        *("existence", "emptied_at", "source_uri", "schema", "renamed_from"),
    ),
    Label.COLUMN: owner_properties("field"),
    Label.VERSION: owner_properties("parent_id", "operation", "partitions", "file_count", "file_bytes"),
    Label.QUERY: owner_properties("query", "asset", "checkpoint_location"),
    Label.RUN: owner_properties(
        *("job", "state", "processing_type", "started_at", "nominal_start", "nominal_end", "parent", "root", "error"),
        *("publication", "plan_digest", "query_id", "checkpoint_location", "producer", "rows_rejected", "quality"),
        *(*_VERSIONS, *CONTEXT_REGISTERS),
    ),
    Label.PLAN: owner_properties("lineage"),
    Label.INTERVAL: _MICRO_BATCH,
    Label.CONFLICT: _MICRO_BATCH,
}
"""Property to register, by label."""
USE_REGISTERS = owner_properties(
    "position", "rows", "bytes", "files", "schema_digest", MADE_FROM, POSSIBLE, UNCOMMITTED, WIDE
)

LOCK = "_l"
"""Property that a statement sets to lock a node; its value has no meaning.

A transaction locks jobs and datasets first. The value of their lock is different each time, so it changes the graph.
Reason: Neo4j plans a statement separately for transactions that have changed nothing yet, and planning takes up to a
second. If a lock changed nothing, a batch of only repeated events would have to wait for these second plans.
"""
NOT_FROM = "_not_from"
"""Property of WRITES: datasets that some report excludes as sources (`Evidence.EXCLUDED`). The list only grows, and
may keep datasets that later turn out to be sources. So two graphs with the same state may differ in this property."""


_WITHOUT_STATE = (LOCK, NOT_FROM)
_OF_THE_SCHEMA = ("_stamp", "_stamps", "_schema")


def without_stamps_of_the_schema(column: Mapping[str, Any]) -> dict[str, Any]:
    """Return a column of the current schema without its own stamp: the dataset's register has the later stamp.

    A repeated report of the schema writes no column (`graph.write.columns`).
    """
    return {name: value for name, value in column.items() if name not in _OF_THE_SCHEMA}


def settled(stored: Mapping[str, Any], names: Mapping[str, str], base: str = "") -> dict[str, Any]:
    """Return all properties in canonical form: `_stamps` with the stamps of all registers, sorted; no `_stamp`.

    Args:
        stored: properties of a node or relationship; a value of None counts as absent.
        names: property to register, `REGISTERS` of the label or `USE_REGISTERS`.
        base: `_stamp` of a relationship's start node.
    """
    out = {name: value for name, value in stored.items() if value is not None and name not in _WITHOUT_STATE}
    base = out.pop("_stamp", base)
    own_stamps = {
        text[registers.STAMP_LENGTH :]: text[: registers.STAMP_LENGTH] for text in out.pop("_stamps", None) or ()
    }
    present = {names[name] for name in out if name in names}
    present.update(registers.FACET + facet for facet in out.get("facet_names", ()))
    # A register with a stamp and without a value is present, too: a report cleared it.
    stamps = dict.fromkeys(present, base) | own_stamps
    if any(stamps.values()):
        out["_stamps"] = sorted(stamp + name for name, stamp in stamps.items())
    return out
