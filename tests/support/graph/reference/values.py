"""Building blocks of the reference implementation: hashed keys, all reports of one node, positions."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater_schemas.events import DatasetUse, QualityResult, RunEvent

Props = dict[str, Any]
Stamp = tuple[Any, ...]
"""Provenance's rank, event time, event id: of two values the one with the greater stamp wins."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ENDS = ("COMPLETE", "FAIL", "ABORT")
PROVENANCES = ("UNKNOWN", "RECONCILED", "OBSERVED")


def micros(time: datetime) -> int:
    """Microseconds since the epoch."""
    return (time - EPOCH) // timedelta(microseconds=1)


def key_of(tenant: str, *parts: str | int | None) -> str:
    """A key of the graph: a hash of the length-prefixed parts."""
    text = ""
    for part in (tenant, *parts):
        if part is None:
            text += "n;"
        elif isinstance(part, str):
            text += f"s{len(part.encode('utf-8', 'surrogatepass'))}:{part}"
        else:
            text += f"i{len(str(part))}:{part}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Node:
    """Everything that was reported about one node."""

    def __init__(self, label: str, fixed: Props) -> None:
        self.label = label
        self.fixed = fixed
        self.reports: dict[str, list[tuple[Stamp, Props]]] = defaultdict(list)
        self.seen: set[datetime] = set()

    def report(self, register: str, stamp: Stamp, values: Props | None) -> None:
        """One event's values of a register; None: the event has none."""
        if values is not None:
            self.reports[register].append((stamp, values))

    def winner(self, register: str) -> Props:
        """The values with the greatest stamp; of starts the first, if its provenance is as good."""
        reports = self.reports.get(register)
        if register == "started_at" and reports:
            best = max(stamp[0] for stamp, _ in reports)
            return min((of for stamp, of in reports if stamp[0] == best), key=lambda of: of["started_at"])
        return max(reports, key=lambda report: (report[0], as_text(report[1])))[1] if reports else {}

    def settled(self) -> Props:
        """All properties that are decided by registers, and the times seen."""
        props = dict(self.fixed)
        for register in self.reports:
            if not register.startswith("_"):
                props.update(self.winner(register))
        return {**props, **span_of(self.seen)}


def as_text(values: Props) -> str:
    """Text that decides a tie of stamps."""
    return json.dumps(values, sort_keys=True, default=micros, ensure_ascii=False)


def span_of(times: Iterable[datetime]) -> Props:
    """First and last of some times."""
    times = list(times)
    return {"first_seen": min(times), "last_seen": max(times)} if times else {}


def given(name: str, value: Any) -> Props | None:
    """A register of one property; None where the event has no value."""
    return None if value is None else {name: value}


def or_empty(value: str | None) -> str:
    """A part of a parallel list."""
    return "" if value is None else value


def quality_props(results: Iterable[QualityResult]) -> Props:
    """Outcomes of assertions, each once, as lists in one order."""
    rows = sorted(
        {
            (
                *(r.assertion, or_empty(r.column), r.passed, "" if r.value is None else repr(r.value)),
                *(r.dataset.namespace if r.dataset else "", r.dataset.name if r.dataset else ""),
                *(or_empty(r.rule), or_empty(r.severity), or_empty(r.suite), or_empty(r.suite_version)),
            )
            for r in results
        }
    )
    needed = ("assertions", "columns", "passed", "values")
    names = (*needed, "namespaces", "datasets", "rules", "severities", "suites", "suite_versions")
    props: Props = {f"quality_{name}": [row[n] for row in rows] for n, name in enumerate(names)}
    return {name: values for name, values in props.items() if name[8:] in needed or any(values)}


def added_files(use: DatasetUse) -> Props:
    """Files that a table's version added, which its position has, and not the use's facets."""
    text = use.facets.get("headwater_addedFiles") or "null"
    if use.position is None or use.position.table_snapshot is None or (added := json.loads(text)) is None:
        return {}
    return {"file_count": added["count"], "paths": sorted(added["paths"]) or None}


def facets_of(use: DatasetUse) -> dict[str, str]:
    """The facets that the graph has of it."""
    return {name: text for name, text in use.facets.items() if name != "headwater_addedFiles" or not added_files(use)}


def position_props(use: DatasetUse) -> Props:
    """A position's properties; empty where there is none, or one of a type that isn't known."""
    props: Props = {}
    position = use.position
    if position is None:
        return props
    if (kafka := position.kafka) is not None:
        ranges = sorted(kafka.ranges)
        props.update(position="kafka", topic=kafka.topic, topic_id=kafka.topic_id)
        props["partitions"] = [r.partition for r in ranges]
        props["from"] = [r.from_ for r in ranges]
        props["to_exclusive"] = [r.to_exclusive for r in ranges]
    elif (snapshot := position.table_snapshot) is not None:
        props.update(position="table_snapshot", format=snapshot.format, snapshot_id=snapshot.snapshot_id)
        props.update(parent_id=snapshot.parent_id, operation=snapshot.operation)
        props["partition_paths"] = sorted(set(snapshot.partitions)) or None
        props.update(added_files(use))
    elif (changes := position.table_range) is not None:
        props.update(position="table_range", format=changes.format)
        props.update(from_version=changes.from_, to_version=changes.to)
    elif (files := position.files) is not None:
        props.update(position="files", file_count=files.count, file_bytes=files.bytes)
        props.update(manifest_digest=files.manifest_digest, paths=sorted(files.paths) or None)
        props["pattern"] = files.pattern
    elif (log := position.cdc) is not None:
        props.update(position="cdc", system=log.system, from_cdc=log.from_, to_cdc=log.to)
    elif (cursor := position.api_cursor) is not None:
        props.update(position="api_cursor", from_cursor=cursor.from_, to_cursor=cursor.to)
    elif (times := position.time_range) is not None:
        props.update(position="time_range", from_time=times.from_, to_time_exclusive=times.to_exclusive)
    elif (opaque := position.opaque) is not None:
        props.update(position="opaque", from_json=opaque.from_json, to_json=opaque.to_json)
    return {**props, "certainty": use.certainty.value} if props else props


def claims_nothing(body: RunEvent, output: DatasetUse) -> bool:
    """Return True for an output of a failed run whose report knows of no commit."""
    known = body.publication.value in {"PUBLISHED", "PARTIAL"} or bool(position_props(output))
    return body.type.value == "FAIL" and not known
