"""A Delta table's change data feed: `table_changes(…)`, and the option `readChangeFeed` of a batch read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.scala import option
from headwater_producers.spark.plan.column import Column, Direct, Field
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.schema import schema_definition
from headwater_schemas import naming
from headwater_schemas.events import Certainty, Position, Storage, TableRange
from headwater_schemas.events import TransformationKind as Kind
from headwater_schemas.naming.tables import NamedTable

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.leaf import JvmLeaf

ADDED: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""What the feed says of each row. No field of the table's: it comes of the table's log as a whole."""


def source(leaf: JvmLeaf, relation: Any) -> Leaf:
    """A JVM `DeltaCDFRelation`: versions from the first named up to the last, or to the newest when it ran."""
    snapshot = relation.snapshotWithSchemaMode().snapshot()
    entry = option(relation.catalogTableOpt())
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
        storage=Storage("delta", "parquet"),
        symlinks=named.symlinks,
        position=Position(table_range=changes),
        certainty=Certainty.EXACT if last is not None else Certainty.INFERRED,
    )
    pairs = [(attribute, _column(attribute, read)) for attribute in leaf.attributes()]
    return Leaf(inputs=(read,), relation=replace(Relation().with_output(pairs), rows=frozenset({read.dataset})))


def _column(attribute: Attribute, read: PlanInput) -> Column:
    if attribute.name in ADDED:
        direct = Direct(Field(read.dataset), Kind.DERIVE)
    else:
        direct = Direct(Field(read.dataset, (attribute.name,)), whole=True)
    return Column(frozenset({direct}), text=attribute.name, type=attribute.type)
