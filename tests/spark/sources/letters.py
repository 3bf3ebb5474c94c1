"""A connector for the tests: what capture has to know of a technology, in one file.

Its "technology" is a post office: the letters of a folder are Spark's text table without its V1 reader, and a parcel
is whatever is written to Spark's `noop`.
"""

from __future__ import annotations

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import Scanned
from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf, JvmScan
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.plan import PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas.events import DatasetRef, OpaqueRange, Position

OFFICE = "post://office"


class Letters(Connector):
    classes = frozenset({"TextTable", "TextScan", "NoopTable"})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        read = PlanInput(dataset=DatasetRef(OFFICE, "letters"), kind=SourceKind.UNKNOWN, schema=leaf.batch().schema())
        return Leaf(inputs=(read,))

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        if class_name(command.subject) != "NoopTable":
            return None
        parcel = PlanOutput(dataset=DatasetRef(OFFICE, "parcels"), kind=SourceKind.UNKNOWN, mode=command.mode)
        return WrittenOutputs((parcel,))

    def scanned(self, scan: JvmScan) -> Scanned | None:
        return Scanned(positions={"letters": Position(opaque=OpaqueRange(from_json=None, to_json='"today"'))})
