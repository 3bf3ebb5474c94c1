"""Rows of the statements ⇒ parts of answers: runs, uses, micro-batches."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from headwater_analysis import micro_batches
from headwater_analysis.assets import Asset, AssetKind, dataset_asset
from headwater_analysis.facets import contents, facets_of, member
from headwater_analysis.hidden import runs_among
from headwater_analysis.interval_fields import stored_values
from headwater_analysis.moments import moment
from headwater_analysis.partitions import partitions_used
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.records import IntervalItem, Joint, Quality, RunItem, Use
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.derive import Because
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.spans import Ranges
from headwater_graph.keys import job_key
from headwater_schemas.events import Certainty, Provenance, RunEventType

_POSITION_TEXTS = {
    "cdc": ("{system} {from_cdc}..{to_cdc}", ("system", "from_cdc", "to_cdc")),
    "api_cursor": ("{from_cursor}..{to_cursor}", ("from_cursor", "to_cursor")),
    "time_range": ("{from_time}..{to_time_exclusive}", ("from_time", "to_time_exclusive")),
    "opaque": ("{from_json}..{to_json}", ("from_json", "to_json")),
}


def run_items(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> list[RunItem]:
    """Build runs from rows with the properties of Run nodes, and `began`."""
    later = runs_among(tx, (row["inferred_by"] for row in rows if row["inferred_by"] is not None))
    return [_run_item(tx.tenant, row, later) for row in rows]


def _run_item(tenant: str, row: Mapping[str, Any], later: Container[str]) -> RunItem:
    return RunItem(
        key=row["key"],
        run_id=row["run_id"],
        name=row["name"],
        job=job_of(tenant, row["job_namespace"], row["job_name"], row["processing_type"]),
        processing_type=row["processing_type"],
        state=RunEventType(row["state"]) if row["state"] else None,
        began=moment(row["began"]),
        ended_at=moment(row["ended_at"]),
        inferred_because=Because(row["inferred_because"]) if row["inferred_because"] else None,
        inferred_by=row["inferred_by"] if row["inferred_by"] in later else None,
        **{
            name: row[name] for name in ("code_version", "config_version", "plan_digest", "error_type", "error_message")
        },
        **{name: row[name] for name in ("query_id", "first_batch", "last_batch")},
    )


def heartbeat(facets: Sequence[str]) -> float | None:
    """Seconds between the heartbeats of a run, by its facet; None if the facet is missing or has another form."""
    for text in facets:
        seconds = json.loads(text).get("seconds")
        if isinstance(seconds, int | float):
            return float(seconds)
    return None


def job_of(tenant: str, namespace: str | None, name: str | None, type_: str | None = None) -> Asset | None:
    """Job that a run or micro-batch names."""
    if namespace is None or name is None:
        return None
    return Asset(AssetKind.JOB, job_key(tenant, namespace, name), namespace, name, type=type_)


def use(dataset: Mapping[str, Any], part: Mapping[str, Any]) -> Use:
    """Build a use from a CONSUMED or PRODUCED relationship and its Dataset."""
    position = part.get("position")
    spans = zip(part.get("partitions", ()), part.get("from", ()), part.get("to_exclusive", ()), strict=True)
    template, fields = _POSITION_TEXTS.get(position or "", ("", ()))
    found = contents(facets_of(part))
    partitioned = member(found, "headwater_partitions")
    columns, count = partitioned.get("columns"), partitioned.get("count")
    version = part.get("snapshot_id") or part.get("to_version") or part.get("manifest_digest")
    return Use(
        dataset=dataset_asset(dataset),
        ordinal=part.get("ordinal", 0),
        position=position,
        certainty=Certainty(part["certainty"]) if "certainty" in part else None,
        offsets=tuple(OffsetSpan(*span) for span in spans) if position == "kafka" else (),
        topic_id=part.get("topic_id"),
        format=part.get("format"),
        version=version,
        from_version=part.get("from_version"),
        partitions=partitions_used(part),
        partition_columns=tuple(map(str, columns)) if isinstance(columns, list) else (),
        partition_count=count if isinstance(count, int) else None,
        branch=_text(found.get("headwater_branch"), "name"),
        paths=tuple(part.get("paths", ())),
        pattern=part.get("pattern"),
        uncommitted=bool(part.get("uncommitted")),
        inputs=None if part.get("inputs") is None else tuple(sorted(part["inputs"])),
        text=template.format(**{name: _bound_text(part.get(name)) for name in fields}) if template else None,
        rows=part.get("rows"),
        bytes=part.get("bytes", part.get("file_bytes")),
        files=part.get("files", part.get("file_count")),
        schema_digest=part.get("schema_digest") or None,
        facets=facets_of(part),
    )


def interval_items(tx: Transaction, found: Sequence[IntervalFacts], *, every: bool = True) -> list[IntervalItem]:
    """Build micro-batches of one query, in batch order, each with gaps and overlaps since the previous known one.

    Args:
        every: whether `found` has all known micro-batches between its first and its last.
    """
    befores = micro_batches.befores(tx, found, every=every)
    rows = [
        _Joined(
            micro_batches.row(interval),
            micro_batches.joint(before, interval),
            len(interval.variants) - 1,
            before is not None and micro_batches.is_anew(before, interval),
        )
        for interval, before in zip(found, befores, strict=True)
    ]
    keys = {dataset for each in rows for _, dataset, _ in each.row["uses"]}
    datasets = {
        row["properties"]["key"]: row["properties"] for row in tx.rows("micro_batches/datasets", keys=sorted(keys))
    }
    firsts = [each.row["properties"] for each in rows if each.joint is None]
    gone = micro_batches.retired(tx, [first["query"] for first in firsts]) if firsts else {}
    return [_interval_item(each, datasets, gone) for each in rows]


class _Joined(NamedTuple):
    """A micro-batch, its relation to the previous known one, and the number of its conflicting reports."""

    row: Mapping[str, Any]
    joint: Mapping[str, Any] | None
    conflicts: int
    anew: bool


def _interval_item(
    joined: _Joined, datasets: Mapping[str, Mapping[str, Any]], gone: Mapping[str, Ranges]
) -> IntervalItem:
    row, joint, conflicts, anew = joined
    own: Mapping[str, Any] = row["properties"]
    if joint is None:
        before = (min(end, own["batch_id"]) - start for start, end in gone.get(own["query"], ()))
        missing = own["batch_id"] - sum(max(0, count) for count in before)
    else:
        missing = joint.get("missing", 0)
    joint = joint or {}
    parts = sorted(((type_, use(datasets[dataset], part)) for type_, dataset, part in row["uses"]), key=_order)
    stored = stored_values(IntervalItem, own)
    stored["provenance"] = Provenance(stored["provenance"])
    return IntervalItem(
        **stored,
        inputs=tuple(part for type_, part in parts if type_ == "CONSUMED"),
        outputs=tuple(part for type_, part in parts if type_ == "PRODUCED"),
        quality=quality(own),
        missing=missing,
        gaps=joints(joint, "gap"),
        overlaps=joints(joint, "overlap"),
        rewinds="rewinds" in joint,
        anew=anew,
        conflicts=conflicts,
    )


def _order(typed: tuple[str, Use]) -> tuple[str, str, str, int]:
    type_, part = typed
    return type_, part.dataset.namespace, part.dataset.name, part.ordinal


_OUTCOME = tuple(
    f"quality_{name}"
    for name in (
        *("assertions", "passed", "columns", "values", "namespaces", "datasets", "rules", "severities", "suites"),
        "suite_versions",
    )
)
"""Lists of a node's outcomes, in the order of the fields of a `Quality`."""


def quality(own: Mapping[str, Any]) -> tuple[Quality, ...]:
    """Outcomes of assertions, from the lists of a micro-batch or run."""
    count = len(own.get("quality_assertions") or ())
    lists = [own.get(name) or [None] * count for name in _OUTCOME]
    return tuple(
        Quality(assertion, passed, *(value or None for value in more))
        for assertion, passed, *more in zip(*lists, strict=True)
    )


def _text(found: Any, name: str) -> str | None:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None


def joints(joined: Mapping[str, Any], kind: str) -> tuple[Joint, ...]:
    """Gaps or overlaps that a NEXT relationship records; `kind` is `gap` or `overlap`."""
    names = ("datasets", "partitions", "from", "to_exclusive")
    return tuple(Joint(*row) for row in zip(*(joined.get(f"{kind}_{name}", ()) for name in names), strict=True))


def _bound_text(value: Any) -> str:
    if value is None:
        return "?"
    return str(moment(value) if hasattr(value, "to_native") else value)
