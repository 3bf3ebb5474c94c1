"""Program reads: datasets whose rows reached the program, which may use them in rows that it writes later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import msgspec

from headwater_producers.spark.connectors.rdd import HANDED_OVER
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.plan import PlanDescription, PlanInput, SourceKind
from headwater_schemas.events import ColumnLineage, DatasetRef, TransformationKind
from headwater_schemas.reasons import leaves_inputs_known

MOST_DATASETS: Final = 500
"""Maximum number of possible inputs; the latest reads stay. Each dataset becomes an input in a write's event."""

_READ: Final = "collect"
"""Command of a run of reads that no write's plan shows; its job is `<app>.collect`."""


class ProgramReads:
    """Datasets whose rows reached the program by `toPandas`, `collect`, an RDD or an iterator.

    Rows that the program hands over start a new plan, as in `createDataFrame(frame.toPandas())`. So these datasets are
    possible inputs of a write with unknown inputs, or with a function in its plan.
    """

    def __init__(self) -> None:
        self._inputs: dict[DatasetRef, PlanInput] = {}
        self._read: set[DatasetRef] = set()

    def add(self, inputs: Iterable[PlanInput]) -> None:
        """Add datasets of which some rows have reached the program."""
        for each in inputs:
            self._inputs.pop(each.dataset, None)
            self._inputs[each.dataset] = replace(each, position=None, certainty=None, source_index=None)
        for oldest in list(self._inputs)[:-MOST_DATASETS]:
            del self._inputs[oldest]

    def used_by_code(self, description: PlanDescription) -> Write | None:
        """Return a read of datasets that a plan's functions may use in addition to its inputs; each dataset only once.

        A Python function may use rows that the program collected, as in `udf(lambda id: emails[id])`: no plan shows
        that. The write's own inputs and edges stay unchanged; the use of the possible inputs is unknown.
        """
        if not any(edge.kind is TransformationKind.EXTERNAL for edge in description.lineage.edges):
            return None
        known = {each.dataset for each in description.inputs} | self._read
        possible = tuple(each for each in self._inputs.values() if each.dataset not in known)
        self._read.update(each.dataset for each in possible)
        read = PlanDescription(inputs=possible, outputs=(), lineage=ColumnLineage(), command=_READ)
        return Write(description=read, written=Counts()) if possible else None

    def may_be_in(self, write: Write) -> Write:
        """Add the program's reads to a write as possible inputs, if it may have more sources than its plan shows.

        A write of rows that the program handed over is included, also through a temporary view: a view has a name but
        no known origin.
        """
        description = write.description
        lineage = description.lineage
        if any(each.kind is SourceKind.MEMORY for each in description.inputs):
            reason = "; ".join(filter(None, (lineage.incomplete_reason, HANDED_OVER)))
            lineage = msgspec.structs.replace(lineage, complete=False, incomplete_reason=reason)
        if lineage.complete or not description.outputs or leaves_inputs_known(lineage.incomplete_reason or ""):
            return write
        known = {each.dataset for each in description.inputs}
        possible = tuple(each for each in self._inputs.values() if each.dataset not in known)
        if not possible:
            return write
        described = replace(description, inputs=(*description.inputs, *possible), lineage=lineage)
        return replace(write, description=described, possibly_of=True)
