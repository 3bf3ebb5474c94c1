"""Reads of a Delta table: a version by a batch query, its change data feed, a range of versions by a stream.

A streaming offset is

    {"sourceVersion": 1, "reservoirId": …, "reservoirVersion": 5, "index": -1, "isStartingVersion": false}

A bound of a range is a version, `4`, or a version with the number of its files that have been read, `5:2`:

| offset | bound |
|---|---|
| index -1, or -20 and -19 around a change of the schema: nothing of this version yet | the version before: `4` |
| index 1: its files 0 and 1 | `5:2` |
| version 0, index below 0: nothing of the table yet | None: the table's beginning |

A query's first snapshot counts like a version (`isStartingVersion`): its files are all files of the table at that time.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import RangeRead, Scanned
from headwater_producers.spark.connectors.connector_questions import JvmLeaf, JvmScan, SourceOffsets
from headwater_producers.spark.connectors.delta.tables import STORAGE
from headwater_producers.spark.connectors.files.reads import chosen_files, read_files, whole_schema
from headwater_producers.spark.jvm.scala import class_name, kept, option
from headwater_producers.spark.jvm.versions import if_there
from headwater_producers.spark.plan.column import DirectSource, FieldRef, ValueLineage
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.schema import schema_definition
from headwater_schemas import naming
from headwater_schemas.events import Certainty, Position, TableRange, TableSnapshot
from headwater_schemas.events import TransformationKind as Kind
from headwater_schemas.naming.tables import NamedTable

LATEST: Final = "TahoeLogFileIndex"
_LOG: Final = "DeltaLogFileIndex"
_OF_COMMAND: Final = "TahoeBatchFileIndex"
"""File index of the files that UPDATE, DELETE or MERGE searches, and of a micro-batch's files."""
INDEXES: Final = frozenset({LATEST, _OF_COMMAND, "TahoeChangeFileIndex", "CdcAddFileIndex", _LOG})
"""File indexes in analyzed plans."""
ADDED: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""Columns that the change data feed adds to each row. They are no fields of the table: their lineage is DERIVE from the
table as a whole, without a field."""
_FILES: Final = "parquet"
OFFSET: Final = frozenset({"sourceVersion", "reservoirId", "reservoirVersion", "index"})


def version(number: Any) -> Position:
    """Return the position of a Delta version that is read."""
    return Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=str(number)))


def read_version(leaf: JvmLeaf) -> Leaf:
    """Describe a batch read of a table's files, which belong to a version."""
    location = kept(leaf.subject, "location")
    if (index := class_name(location)) == _LOG:
        # The leaf reads Delta's log, not the table's rows.
        return Leaf(kind=Kind.CONSTANT, of_format=True)
    if index != LATEST:
        read = version(location.version()), Certainty.EXACT
        described = read_files(leaf, read, storage=STORAGE, schema=whole_schema(leaf, _FILES))
        return replace(described, of_format=index == _OF_COMMAND)
    is_pinned = bool(location.isTimeTravelQuery())
    # Without time travel, Delta chooses the version again when the query is optimized: see `scanned_version`.
    certainty = Certainty.EXACT if is_pinned else Certainty.INFERRED
    read = version(location.snapshotAtAnalysis().version()), certainty
    return read_files(leaf, read, storage=STORAGE, schema=None if is_pinned else leaf.schema())


def scanned_version(scan: JvmScan) -> Scanned:
    """Return the version and partitions that a scan by a JVM `PreparedDeltaFileIndex` has read."""
    location, chosen = scan.subject, chosen_files(scan)
    name = naming.path(str(location.rootPaths().head().toString())).name
    return Scanned(
        positions={name: version(location.preparedScan().version())},
        chosen=replace(chosen, files=None) if chosen is not None else None,
    )


def read_stream(leaf: JvmLeaf) -> Leaf:
    """Describe a source of a running streaming query."""
    source = leaf.subject
    # DeltaSource[file:/data/flights]
    path = str(source.toString()).partition("[")[2].removesuffix("]")
    options = source.options()
    whole = bool(options.startingVersion().isEmpty() and options.startingTimestamp().isEmpty())
    return leaf.table(naming.path(path), STORAGE, (), leaf.schema(), type="FILE", from_beginning=whole)


def read_changes(leaf: JvmLeaf) -> Leaf:
    """Describe a read of the change data feed: `table_changes(…)`, or the option `readChangeFeed` of a batch read.

    The range goes from the first named version to the last, or to the newest version at that time.
    """
    relation = leaf.subject
    snapshot = relation.snapshotWithSchemaMode().snapshot()
    # Delta 3.3 keeps no catalog entry: the table is then identified only by its path.
    found = if_there(relation, "catalogTableOpt")
    entry = option(found) if found is not None else None
    path = naming.path(str(snapshot.path().getParent().toString()))
    named = leaf.context.catalog_table(entry) if entry is not None else NamedTable(path)
    first, last = option(relation.startingVersion()), option(relation.endingVersion())
    to = last if last is not None else snapshot.version()
    changes = TableRange(format="delta", from_=str(int(first) - 1) if first else None, to=str(to))
    schema = json.loads(str(leaf.plan.schema().json()))
    own = {**schema, "fields": [field for field in schema["fields"] if field["name"] not in ADDED]}
    read = PlanInput(
        dataset=named.ref,
        kind=SourceKind.TABLE if entry is not None else SourceKind.FILE,
        type="TABLE" if entry is not None else "FILE",
        schema=schema_definition(own),
        storage=STORAGE,
        symlinks=named.symlinks,
        position=Position(table_range=changes),
        certainty=Certainty.EXACT if last is not None else Certainty.INFERRED,
    )
    pairs = [(attribute, _column(attribute, read)) for attribute in leaf.attributes()]
    return Leaf(inputs=(read,), relation=replace(Relation().with_output(pairs), rows=frozenset({read.dataset})))


def _column(attribute: Attribute, read: PlanInput) -> ValueLineage:
    if attribute.name in ADDED:
        direct = DirectSource(FieldRef(read.dataset), Kind.DERIVE)
    else:
        direct = DirectSource(FieldRef(read.dataset, (attribute.name,)), whole=True)
    return ValueLineage(frozenset({direct}), text=attribute.name, type=attribute.type)


def read_range(source: SourceOffsets) -> tuple[RangeRead, ...] | None:
    """Return the version range of a micro-batch; None if the offset isn't Delta's, or is before all versions."""
    to = _bound(source.end) if is_offset(source.end) else None
    if to is None:
        return None
    changes = TableRange(format="delta", from_=_bound(source.start) if is_offset(source.start) else None, to=to)
    # The offset log doesn't state where the source began: at the table's first snapshot, or at a version that an option
    # names.
    known = source.start is not None or source.from_beginning or is_first_snapshot(source.end)
    certainty = Certainty.EXACT if known else Certainty.UPPER_BOUND
    return (RangeRead(position=Position(table_range=changes), certainty=certainty),)


def is_offset(offset: Any) -> bool:
    """Return True if this is an offset of Delta's source."""
    return isinstance(offset, dict) and offset.keys() >= OFFSET


def is_first_snapshot(end: Any) -> bool:
    """Return True if a query at this end offset still reads the table's first snapshot."""
    return is_offset(end) and bool(end.get("isStartingVersion"))


def _bound(offset: dict[str, Any]) -> str | None:
    number, index = int(offset["reservoirVersion"]), int(offset["index"])
    if index >= 0:
        return f"{number}:{index + 1}"
    return str(number - 1) if number > 0 else None
