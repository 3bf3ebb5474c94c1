"""Identity: event ids, plan digests, record keys and graph keys. Each is defined only here.

| kind     | identity tuple of `event_id`                                                        |
|----------|-------------------------------------------------------------------------------------|
| RUN      | tenant, run id, type, event time                                                    |
| INTERVAL | tenant, query id, batch ids, canonical end positions of every input of the entries  |
| PLAN     | tenant, job namespace, job name, digest                                             |
| DATASET  | tenant, dataset namespace, dataset name, event time, producer                       |
| JOB      | tenant, job namespace, job name, event time, producer                               |
| RETENTION | tenant, namespace, job name, mode, before                                          |
| DECLARATION | tenant, set, digest of the content                                               |
| DECLARATION_SET | tenant, set, revision, digest of the content                                 |
| INCIDENT | tenant, incident id, event time, digest of the content                              |

An interval's tuple contains nothing that a reconstruction from the checkpoint lacks (time, run, row counts, versions,
certainty), so that observed and reconciled reports of the same micro-batch have the same id.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_schemas.events import (
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    IncidentEvent,
    IncidentScope,
    IntervalEntry,
    JobRef,
    LineageEvent,
    ReachedDataset,
    SchemaDefinition,
)

if TYPE_CHECKING:
    from hashlib import _Hash

# UUID v5 namespace of Headwater's event ids: UUID v5 of the URL namespace and "https://headwater/lineage/event".
EVENT_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://headwater/lineage/event")

RUN_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://headwater/lineage/run")
_NAMESPACE_HASH = hashlib.sha1(EVENT_NAMESPACE.bytes, usedforsecurity=False)
# The upper two bits of the digit are 10.
_VARIANT = {f"{digit:x}": f"{digit & 3 | 8:x}" for digit in range(16)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Part = str | int | None


def micros(time: datetime) -> int:
    """Microseconds since the epoch, exact (without floats).

    Raises:
        TypeError: `time` has no time zone.
    """
    return (time - _EPOCH) // _MICROSECOND


def from_micros(microseconds: int) -> datetime:
    """The inverse of `micros`, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def utc_text(time: datetime) -> str:
    """A time in UTC by RFC 3339, with a `Z`."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def canonical(parts: Iterable[Part]) -> bytes:
    """Encode a tuple as bytes that no other tuple has: each part has its type and, unless null, its length.

    So `("s3://b", "x/y")` is not `("s3://b/x", "y")`, and `None` is not `""`.
    """
    out: list[str] = []
    for part in parts:
        if part is None:
            out.append("n;")
        elif isinstance(part, str):
            # Lengths are of bytes. Nearly all text is ASCII, where bytes are characters.
            size = len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))
            out.append(f"s{size}:{part}")
        else:
            out.append(_integer(part))
    return "".join(out).encode("utf-8", "surrogatepass")


def _integer(number: int) -> str:
    text = str(number)
    return f"i{len(text)}:{text}"


def graph_key(tenant: str, *parts: Part) -> str:
    """Key of a node or keyed relationship: a 128-bit BLAKE2b of the tuple that begins with the tenant, 32 hex digits.

    The key is short for any names, so a 10 KB name doesn't break an index. All writers compute the same key.
    """
    return key_of(canonical((tenant, *parts)))


def key_of(parts: bytes) -> str:
    """The `graph_key` of a tuple with these canonical bytes; the bytes of two tuples can be joined."""
    return hashlib.blake2b(parts, digest_size=16).hexdigest()


def event_id(event: LineageEvent) -> str:
    """Compute the id of `event` from its identity tuple (see the module's table); `event.event_id` isn't read.

    Raises:
        ValueError: the body that `kind` names isn't set, or the job, run or dataset that its tuple needs is missing.
    """
    first_parts: tuple[Part, ...]
    match event.kind:
        case "DATASET" if event.dataset_event:
            dataset = event.dataset_event.dataset
            first_parts = (event.tenant, event.kind, dataset.namespace, dataset.name)
        case "JOB" if event.job_event and event.job:
            first_parts = (event.tenant, event.kind, event.job.namespace, event.job.name)
        case _:
            return identity_id(_identity(event))
    digest = _hash_of_first(first_parts).copy()
    digest.update(_last_parts(micros(event.event_time), event.producer))
    return _uuid(digest)


@lru_cache(1 << 12)
def identity_id(identity: tuple[Part, ...]) -> str:
    """The event id of an identity tuple."""
    return _id_of(canonical(identity))


@lru_cache(1 << 12)
def _hash_of_first(parts: tuple[Part, ...]) -> _Hash:
    """Return the hash state after the first parts of an identity, which other identities share."""
    digest = _NAMESPACE_HASH.copy()
    digest.update(canonical(parts).hex().encode())
    return digest


@lru_cache(1 << 6)
def _last_parts(microseconds: int, producer: str) -> bytes:
    """Encode the last parts of an identity, which all events of a document share."""
    return canonical((microseconds, producer)).hex().encode()


def _id_of(identity: bytes) -> str:
    """The UUID v5 of `EVENT_NAMESPACE` and an identity tuple's canonical bytes in hex."""
    digest = _NAMESPACE_HASH.copy()
    digest.update(identity.hex().encode())
    return _uuid(digest)


def _uuid(digest: _Hash) -> str:
    # Same result as `uuid.uuid5` (RFC 9562, 5.5), without creating an object: a document has eight events.
    text = digest.hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"


def _identity(event: LineageEvent) -> tuple[Part, ...]:
    head = (event.tenant, event.kind)
    match event.kind:
        case "RUN" if event.run_event and event.run:
            return (*head, event.run.run_id, event.run_event.type.value, micros(event.event_time))
        case "INTERVAL" if event.interval_event:
            interval = event.interval_event
            return (*head, interval.query_id, *interval_identity(interval.entries))
        case "PLAN" if event.plan_event and event.job:
            return (*head, event.job.namespace, event.job.name, event.plan_event.digest)
        case "RETENTION" if event.retention_event:
            retention = event.retention_event
            return (*head, retention.namespace, retention.job, retention.mode.value, micros(retention.before))
        case "DECLARATION" if event.declaration_event:
            return (*head, event.declaration_event.set, declaration_digest(event.declaration_event))
        case "DECLARATION_SET" if event.declaration_set_event:
            revision = event.declaration_set_event
            return (*head, revision.set, revision.revision, declaration_digest(revision))
        case "INCIDENT" if event.incident_event:
            incident = event.incident_event
            return (*head, incident.incident, micros(event.event_time), _text_digest(incident_content(incident)))
    raise ValueError(f"kind {event.kind!r}: its body, job or run is missing")


def declaration_digest(body: DeclarationEvent | DeclarationSetEvent) -> str:
    """Digest of a declaration, or of a revision of a set: 32 hex digits over all of its fields that aren't None.

    A field that a later version adds is None in older declarations, so their digest doesn't change.
    """
    return _text_digest(_json(_without_none(msgspec.to_builtins(body))))


def incident_content(body: IncidentEvent) -> str:
    """Content of an action on an incident: canonical JSON of all of its fields that aren't None, parts as sets.

    Equal for equal actions, independent of the order of parts and files. `msgspec.json.decode` reads it back.
    """
    content = _without_none(msgspec.to_builtins(body, builtin_types=(datetime,)))
    for name in ("scope", "removed"):
        if (parts := getattr(body, name)) is not None:
            content[name] = [json.loads(text) for text in sorted(set(map(scope_text, parts)))]
    return _json(content)


def reached_text(datasets: Iterable[ReachedDataset]) -> str:
    """Canonical JSON of the datasets that an action names as reached, in their order."""
    return _json(_without_none([msgspec.to_builtins(each, builtin_types=(datetime,)) for each in datasets]))


def scope_text(part: IncidentScope) -> str:
    """Canonical JSON of one part of a scope. Two parts are equal if their texts are equal."""
    content = _without_none(msgspec.to_builtins(part, builtin_types=(datetime,)))
    if part.files is not None:
        content["files"] = sorted(set(part.files))
    return _json(content)


def _json(content: Any) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _text_digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    if isinstance(value, datetime):
        return utc_text(value)
    return value


def manifest_digest(paths: Iterable[str]) -> str:
    """Digest of a FileSet: SHA-256 of its paths, in order, each with a line feed; hexadecimal."""
    return hashlib.sha256("".join(f"{path}\n" for path in paths).encode("utf-8", "surrogatepass")).hexdigest()


def schema_digest(schema: SchemaDefinition) -> str:
    """The digest of a schema: 32 hex digits over the paths, types and nullability of its fields, in order.

    Descriptions aren't part of the digest.
    """
    parts: list[Part] = []
    for each in schema.fields:
        parts += [each.path, each.type, None if each.nullable is None else int(each.nullable)]
    return hashlib.blake2b(canonical(tuple(parts)), digest_size=16).hexdigest()


def interval_identity(entries: Iterable[IntervalEntry]) -> tuple[Part, ...]:
    """Identity of micro-batches: batch ids and canonical source end positions, flat."""
    parts: list[Part] = []
    for entry in entries:
        parts += [entry.batch_id, source_end_digest(entry.inputs)]
    return tuple(parts)


def source_end_digest(inputs: Iterable[DatasetUse]) -> str:
    """32 hex digits over the canonical end positions of a micro-batch's inputs, independent of their order.

    Two reports of one batch id with different digests are a conflict: a rewound checkpoint.
    """
    return end_digest((use.dataset.namespace, use.dataset.name, *_end(use)) for use in inputs)


def end_digest(ends: Iterable[tuple[Part, ...]]) -> str:
    """Compute `source_end_digest` from the namespace, name and canonical end position of each input."""
    return _digest(tuple(ends))


@lru_cache(1 << 12)
def _digest(ends: tuple[tuple[Part, ...], ...]) -> str:
    # Cached: the digest is needed when an event's id is checked, when the event is folded, and when it is written.
    return hashlib.blake2b(b"".join(sorted(map(canonical, ends))), digest_size=16).hexdigest()


def _end(use: DatasetUse) -> tuple[Part, ...]:
    position = use.position
    if position is None:
        return (None,)
    if position.kafka:
        ends = sorted((r.partition, r.to_exclusive) for r in position.kafka.ranges)
        return ("kafka", *(number for end in ends for number in end))
    if position.table_snapshot:
        return ("table_snapshot", position.table_snapshot.snapshot_id)
    if position.table_range:
        return ("table_range", position.table_range.to)
    if position.files:
        return ("files", position.files.count, position.files.manifest_digest)
    if position.cdc:
        return ("cdc", position.cdc.to)
    if position.api_cursor:
        return ("api_cursor", position.api_cursor.to)
    if position.time_range:
        return ("time_range", micros(position.time_range.to_exclusive))
    if position.opaque:
        return ("opaque", position.opaque.to_json)
    return (None,)


def plan_digest(lineage: ColumnLineage) -> str:
    """Digest of a column lineage: 32 hex digits over its datasets, sorted edges and completeness.

    The digest includes expressions' ids, not their texts. Equal lineages have equal digests, independent of order and
    repetition of edges.
    """
    datasets = lineage.datasets
    rows = sorted(
        {
            canonical(
                (
                    *_name(datasets[edge.output]),
                    edge.output_field,
                    *(_name(datasets[edge.input]) if edge.input is not None else (None, None)),
                    edge.input_field,
                    edge.type.value,
                    edge.subtype,
                    edge.kind.value,
                    int(edge.masking),
                    edge.expression,
                )
            )
            for edge in lineage.edges
        }
    )
    names = sorted({canonical(_name(dataset)) for dataset in datasets})
    head = canonical((int(lineage.complete), len(names), len(rows)))
    return hashlib.blake2b(b"".join((head, *names, *rows)), digest_size=16).hexdigest()


def canonical_lineage(lineage: ColumnLineage) -> ColumnLineage:
    """Sort a lineage into the one order that `ColumnLineage` promises; its digest is unchanged.

    Raises:
        IndexError: an edge refers to a dataset beyond the last one.
    """
    datasets = sorted(set(lineage.datasets))
    index = {dataset: number for number, dataset in enumerate(datasets)}
    edges = {
        msgspec.structs.replace(
            edge,
            output=index[lineage.datasets[edge.output]],
            input=None if edge.input is None else index[lineage.datasets[edge.input]],
        )
        for edge in lineage.edges
    }
    return msgspec.structs.replace(
        lineage,
        datasets=tuple(datasets),
        # None sorts first: fields of edges can't be compared directly.
        edges=tuple(sorted(edges, key=lambda e: [(v is not None, v) for v in msgspec.structs.astuple(e)])),
        expressions=tuple(sorted(set(lineage.expressions))),
    )


def _name(dataset: DatasetRef) -> tuple[str, str]:
    return (dataset.namespace, dataset.name)


def record_key(event: LineageEvent) -> bytes:
    """Kafka record key of an event: tenant and job (of a DatasetEvent: tenant and dataset), as a JSON array in UTF-8.

    A RetentionEvent's key is the tenant, its namespace and its job, with null for a missing part. For declarations and
    revisions the key is the tenant and the set, so that a whole set is in one partition, and each revision follows its
    declarations. For actions on an incident the key is the tenant and the incident's id.

    One job's events keep their order in one partition; correctness never depends on this order.

    Raises:
        ValueError: the event has neither a job nor a dataset.
    """
    parts: list[str | None]
    subject: JobRef | DatasetRef | None = event.job
    if event.dataset_event is not None:
        subject = event.dataset_event.dataset
    if (retention := event.retention_event) is not None:
        parts = [event.tenant, retention.namespace, retention.job]
    elif (declared := event.declaration_event or event.declaration_set_event) is not None:
        parts = [event.tenant, declared.set]
    elif (incident := event.incident_event) is not None:
        parts = [event.tenant, incident.incident]
    elif subject is not None:
        parts = [event.tenant, subject.namespace, subject.name]
    else:
        raise ValueError(f"kind {event.kind!r}: neither job nor dataset to key the record by")
    return _record_key(tuple(parts))


def job_record_key(tenant: str, job: JobRef) -> bytes:
    """Kafka record key of the events of a job."""
    return _record_key((tenant, job.namespace, job.name))


@lru_cache(1 << 12)
def _record_key(parts: tuple[str | None, ...]) -> bytes:
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def run_id_of(text: str) -> str:
    """Return the run id for a producer's text that is no UUID: the UUID v5 of `RUN_NAMESPACE` and the text."""
    return str(uuid.uuid5(RUN_NAMESPACE, text))
