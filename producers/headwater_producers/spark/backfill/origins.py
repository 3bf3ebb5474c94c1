"""Origins: which dataset each source of a checkpoint is, where no running query shows it.

A checkpoint has offsets, not names: of Kafka the topics without their cluster, of files their paths without the folder
that was read. What is known of the query, from the graph or from a person, fills that in. The names must be those that
were observed, since they are part of a micro-batch's identity: so what isn't certain is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from headwater_producers.spark.connectors.files.log import log_offset, parse_log
from headwater_producers.spark.connectors.kafka.connector import kafka_offsets
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan import PlanInput, SourceKind
from headwater_producers.spark.streaming.checkpoint import CheckpointError, QueryLog
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef


class UnknownOriginError(CheckpointError):
    """Which dataset a source is isn't known; `source` is its index, `known` what it may be."""

    def __init__(self, source: int, sort: str, known: Sequence[DatasetRef]) -> None:
        names = ", ".join(f"{each.namespace} {each.name}" for each in known)
        super().__init__(
            f"source {source} ({sort}): which dataset it is isn't known" + (f"; not one of {names}" * bool(names))
        )
        self.source = source


def origins(
    log: QueryLog, files: TextFiles, known: Sequence[DatasetRef], given: Mapping[int, str]
) -> tuple[tuple[PlanInput, ...], int]:
    """The datasets of each source, and how many sources there are.

    Args:
        log: of the checkpoint.
        files: to read it with.
        known: the datasets that the query is known to read.
        given: by index, what a person states: a path or URI, namespace and name with a space between, of Kafka the
            namespace `kafka://<cluster>` alone.

    Raises:
        UnknownOriginError: a source may be any of several datasets, or none.
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
        if (datasets := _origin(log, files, index, end, known, given.get(index))) is None:
            left.append(index)
        else:
            found += datasets
    # The one source that nothing describes, and the one dataset that no source is.
    taken = {each.dataset for each in found}
    spare = [dataset for dataset in known if dataset not in taken]
    for index in left:
        if len(left) > 1 or len(spare) != 1:
            raise UnknownOriginError(index, "neither Kafka nor files", spare)
        found.append(PlanInput(dataset=spare[0], kind=SourceKind.UNKNOWN, source_index=index))
    return tuple(found), len(ends)


def _origin(
    log: QueryLog, files: TextFiles, index: int, end: Any, known: Sequence[DatasetRef], given: str | None
) -> list[PlanInput] | None:
    topics = kafka_offsets(end) if _may_be_kafka(known, given) else None
    if topics:
        return [
            PlanInput(dataset=_topic(index, topic, known, given), kind=SourceKind.KAFKA, source_index=index)
            for topic in sorted(topics)
        ]
    if given is not None:
        return [PlanInput(dataset=_stated(given), kind=SourceKind.UNKNOWN, source_index=index)]
    if (up_to := log_offset(end)) is not None:
        dataset = _folder(index, _a_file(log, files, index, up_to), known)
        return [PlanInput(dataset=dataset, kind=SourceKind.FILE, source_index=index)]
    return None


def _may_be_kafka(known: Sequence[DatasetRef], given: str | None) -> bool:
    """A source of one's own may have offsets of the same shape; it reads nothing of Kafka's."""
    if given is not None:
        return given.startswith("kafka://")
    return not known or any(each.namespace.startswith("kafka://") for each in known)


def _stated(given: str) -> DatasetRef:
    """`memory://spark/app rate` ⇒ namespace and name; else a path or a URI."""
    namespace, separator, name = given.partition(" ")
    return DatasetRef(namespace, name) if separator and name else naming.path_pattern(given)


def _topic(index: int, topic: str, known: Sequence[DatasetRef], given: str | None) -> DatasetRef:
    if given is not None:
        return DatasetRef(given.rstrip("/"), topic)
    clusters = {each.namespace for each in known if each.namespace.startswith("kafka://") and each.name == topic}
    if not clusters:
        # A topic that a pattern met later is on the cluster of the others.
        clusters = {each.namespace for each in known if each.namespace.startswith("kafka://")}
    if len(clusters) != 1:
        raise UnknownOriginError(index, f"Kafka, topic {topic}", [DatasetRef(each, topic) for each in sorted(clusters)])
    return DatasetRef(clusters.pop(), topic)


def _a_file(log: QueryLog, files: TextFiles, index: int, upto: int) -> str | None:
    folder = f"{log.location}/sources/{index}"
    for number in range(upto, -1, -1):
        for name in (str(number), f"{number}.compact"):
            if (text := files.read(f"{folder}/{name}")) is not None and (logged := parse_log(text)):
                return logged[0].path
    return None


def _folder(index: int, path: str | None, known: Sequence[DatasetRef]) -> DatasetRef:
    """The deepest known folder that the file is in."""
    if path is None:
        raise UnknownOriginError(index, "files, none of them taken yet", known)
    # Spark logs what a file source takes percent-encoded (`SparkPath.urlEncoded`).
    file = naming.path(unquote(path))
    above = [
        each
        for each in known
        if each.namespace == file.namespace and f"{file.name}/".startswith(f"{each.name.rstrip('/')}/")
    ]
    if not above:
        raise UnknownOriginError(index, f"files such as {path}", known)
    return max(above, key=lambda each: len(each.name))
