"""Origins: datasets of each source of a checkpoint, if no running query shows them.

A checkpoint has offsets, not names: of Kafka the topics without their cluster, of files their paths without the folder
that was read. Facts about the query, from the graph or the user, add the rest. The names must equal the observed ones,
since they are part of a micro-batch's identity: so an uncertain name is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater_producers.spark.common.errors import UnknownOriginError
from headwater_producers.spark.connectors.connector_questions import CheckpointSource
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.plan import PlanInput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef


def origins(log: QueryLog, known: Sequence[DatasetRef], given: Mapping[int, str]) -> tuple[tuple[PlanInput, ...], int]:
    """Return the datasets of each source, and the number of sources.

    Args:
        given: datasets that the user has named, by source index: a path or URI; a namespace and name with a space
            between; for Kafka only the namespace `kafka://<cluster>`.

    Raises:
        UnknownOriginError: a source may be any of several datasets, or none of the known ones.
        CheckpointError: the checkpoint has no micro-batch, or can't be read.
    """
    planned = log.planned()
    if not planned:
        return (), 0
    ends = log.batch(planned[-1]).ends
    count = log.sources() or len(ends)
    if count < len(ends):
        ends = tuple(end for index, end in enumerate(ends) if end not in ends[:index])
    found: list[PlanInput] = []
    left: list[int] = []
    for index, end in enumerate(ends):
        folder, stated = log.root.folder(f"sources/{index}"), given.get(index)
        source = CheckpointSource(index=index, end=end, folder=folder, known=known, given=stated)
        if (inputs := first_answer(each.origin(source) for each in REGISTRY)) is not None:
            found += inputs
        elif stated is not None:
            found.append(PlanInput(dataset=_stated(stated), kind=SourceKind.UNKNOWN, source_index=index))
        else:
            left.append(index)
    # If exactly one source and exactly one dataset are left, they belong together.
    taken = {each.dataset for each in found}
    spare = [dataset for dataset in known if dataset not in taken]
    for index in left:
        if len(left) > 1 or len(spare) != 1:
            raise UnknownOriginError(index, "neither Kafka nor files", spare)
        found.append(PlanInput(dataset=spare[0], kind=SourceKind.UNKNOWN, source_index=index))
    return tuple(found), len(ends)


def _stated(given: str) -> DatasetRef:
    """Parse a dataset: `memory://spark/app rate` ⇒ namespace and name; else a path or a URI."""
    namespace, separator, name = given.partition(" ")
    return DatasetRef(namespace, name) if separator and name else naming.path_pattern(given)
