"""Batch write: datasets read and written, with counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from headwater_producers.spark.events.datasets import schema_read, schema_written
from headwater_producers.spark.events.partitions import input_facets, joined_facets, output_facets
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition
from headwater_producers.spark.plan.settings import MAX_PATHS
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, FileSet, Position
from headwater_schemas.facets import AddedFiles
from headwater_schemas.identity import manifest_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows, bytes and files; None if Spark doesn't report them.

    `partitions` is the number of partitions that the rows of a write, not its statement, chose. `plus` doesn't add it
    up: several writes may share partitions.
    """

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    partitions: int | None = None

    def plus(self, other: Counts) -> Counts:
        """Add counts; unknown if either is unknown, since a part isn't a total."""
        return Counts(
            rows=_sum(self.rows, other.rows),
            bytes=_sum(self.bytes, other.bytes),
            files=_sum(self.files, other.files),
        )

    def or_else(self, other: Counts) -> Counts:
        """Return these counts, with `other`'s counts in place of unknown ones."""
        return Counts(
            rows=other.rows if self.rows is None else self.rows,
            bytes=other.bytes if self.bytes is None else self.bytes,
            files=other.files if self.files is None else self.files,
            partitions=other.partitions if self.partitions is None else self.partitions,
        )


@dataclass(frozen=True, slots=True)
class PartitionsRead:
    """Files and partitions that a scan read of a partitioned folder or table.

    Attributes:
        files: files read; None if a version identifies them, or if not all are listed.
        partitions: partitions of these files; empty if unknown, or too many to list.
    """

    files: FileSet | None
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Scan of the executed plan: names of its dataset, and the part it read.

    `positions`, by dataset name, are known only when the plan runs: Kafka's offsets, Iceberg's snapshot. `chosen` is
    set if the read partitions are known, and the scans include all reads of the plan.
    """

    names: frozenset[str]
    counts: Counts
    positions: Mapping[str, Position] = field(default_factory=dict)
    chosen: PartitionsRead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Executed command that writes.

    Attributes:
        commits: True if the table's log has a commit that may belong to this write; None if the target has no log, or
            its log couldn't be read.
        possibly_of: True if each input is only a possible source, because the program handed over the rows.
        ran_jobs: whether Spark ran any job during the command. It is looked up only where nothing else shows whether
            rows were written (mode "ignore" over JDBC); else None.
    """

    description: PlanDescription
    written: Counts
    scans: tuple[Scan, ...] = ()
    version: Position | None = None
    version_certainty: Certainty = Certainty.UNKNOWN
    partitions: tuple[Partition, ...] = ()
    added: AddedFiles | None = None
    commits: bool | None = None
    ran_jobs: bool | None = None
    possibly_of: bool = False

    @property
    def only_output(self) -> DatasetRef | None:
        """Written dataset, if there is only one."""
        outputs = self.description.outputs
        return outputs[0].dataset if len(outputs) == 1 else None

    def inputs(self) -> tuple[DatasetUse, ...]:
        """Return the read datasets, with counts if their scan is known."""
        return join_inputs(self._input(source) for source in self.description.inputs)

    def outputs(self) -> tuple[DatasetUse, ...]:
        """Return the datasets written. Counts are of the whole command: they can't be split among outputs."""
        outputs = self.description.outputs
        counts = self.written if len(outputs) == 1 else Counts()
        version = self.version if len(outputs) == 1 else None
        added = self.added if version is not None else None
        return tuple(
            DatasetUse(
                dataset=output.dataset,
                position=version,
                certainty=self.version_certainty if version is not None else Certainty.UNKNOWN,
                rows=counts.rows,
                bytes=counts.bytes,
                files=counts.files,
                facets=_lifecycle(output) | self._partitioned(output, counts) | _files_of(output, added),
                schema_digest=schema_written(output),
                possible=self.possibly_of,
            )
            for output in outputs
        )

    def _partitioned(self, output: PlanOutput, counts: Counts) -> dict[str, str]:
        version = self.version.table_snapshot if self.version is not None else None
        is_sure = self.version_certainty in (Certainty.EXACT, Certainty.INFERRED)
        touched = version.partitions if version is not None and is_sure else ()
        return output_facets(output, counts.partitions, self.partitions, touched, is_empty=counts.files == 0)

    def _input(self, source: PlanInput) -> DatasetUse:
        known = known_as(source)
        others = {name for each in self.description.inputs if each.dataset != source.dataset for name in known_as(each)}
        mine = [
            # If one scan reads several paths, the counts of each are unknown.
            Counts() if scan.names & others else scan.counts
            for scan in self.scans
            if scan.names & known and len(scan.positions) <= 1
        ]
        counts = _total(mine)
        position, certainty = source.position, source.certainty
        read = self._partitions_read(known, others)
        if certainty is not Certainty.EXACT and read is not None and read.files is not None:
            position, certainty = Position(files=read.files), Certainty.EXACT
        elif certainty is not Certainty.EXACT:
            # A table that is read twice has two versions or ranges: neither is the whole read.
            settled = [scan.positions[name] for scan in self.scans for name in known if name in scan.positions]
            if len(set(map(repr, settled))) == 1:
                position, certainty = settled[0], Certainty.EXACT
        elif position is not None and position.files is not None:
            scanned = {(each.files, each.bytes) for each in mine if each.files is not None}
            if scanned - self._listed(source):
                # The listing of `position` is newer than the scan: Spark has listed the files again, and the new
                # listing may include files of this write or of the next one.
                position, certainty = _scanned(scanned)
            elif not scanned and source.kind is SourceKind.TABLE:
                # All readers of a table share its listing, and nothing shows which version this read used.
                certainty = Certainty.INFERRED
        return DatasetUse(
            dataset=source.dataset,
            position=position,
            certainty=certainty or Certainty.UNKNOWN,
            rows=counts.rows,
            bytes=counts.bytes,
            files=counts.files,
            facets=input_facets(read.partitions) if read is not None else {},
            schema_digest=schema_read(source),
        )

    def _partitions_read(self, known: set[str], others: set[str]) -> PartitionsRead | None:
        """Join the partitions that all scans of a dataset read; None if one scan's partitions are unknown."""
        scans = [scan for scan in self.scans if scan.names & known]
        chosen = [scan.chosen for scan in scans if scan.chosen is not None and not scan.names & others]
        if not chosen or len(chosen) < len(scans):
            return None
        files = chosen[0].files
        for each in chosen[1:]:
            files = _union(files, each.files)
        partitions = {partition for each in chosen for partition in each.partitions}
        is_known = all(each.partitions for each in chosen) and len(partitions) <= MAX_PARTITIONS
        return PartitionsRead(files, tuple(sorted(partitions, key=str)) if is_known else ())

    def _listed(self, source: PlanInput) -> set[tuple[int | None, int | None]]:
        """Return the number and bytes of the files in each listing of a dataset: one for each of its folders."""
        listings = (
            each.position.files
            for each in self.description.inputs
            if each.dataset == source.dataset and each.position is not None
        )
        return {(files.count, files.bytes) for files in listings if files is not None}


def known_as(source: PlanInput) -> set[str]:
    """Return the names of a dataset, symlinks included, by which its scans are recognized."""
    return {source.dataset.name, *(link.name for link in source.symlinks)}


def _scanned(scanned: set[tuple[int, int | None]]) -> tuple[Position | None, Certainty | None]:
    """Return the number and bytes of the files that a dataset's scans read; their paths are no longer known."""
    if len(scanned) > 1:
        return None, None
    [(count, size)] = scanned
    return Position(files=FileSet(count=count, bytes=size)), Certainty.EXACT


def _lifecycle(output: PlanOutput) -> dict[str, str]:
    """Build OpenLineage's facet `lifecycleStateChange` of an output that the write creates or overwrites.

    The facet is attached to the run's output, because the facet of the dataset shows only the last write.
    """
    if output.lifecycle is None:
        return {}
    return {"lifecycleStateChange": json.dumps({"lifecycleStateChange": output.lifecycle.value})}


def outputs_inside(writes: Iterable[Write]) -> tuple[DatasetUse, ...]:
    """Join the outputs of writes inside foreachBatch: one use per dataset, with the inputs of its writes."""
    return join_outputs(
        msgspec.structs.replace(use, inputs=made_from(write.description)) for write in writes for use in write.outputs()
    )


def made_from(description: PlanDescription) -> tuple[DatasetRef, ...] | None:
    """Return the datasets that a write's plan reads; None if some may be missing.

    Rows from the program's code may come from other datasets.
    """
    if not description.lineage.complete:
        return None
    return tuple(sorted({source.dataset for source in description.inputs}))


def join_outputs(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Join outputs by dataset name; rows, bytes and files of several writes are added up."""
    totals: dict[object, DatasetUse] = {}
    for use in uses:
        earlier = totals.get(use.dataset)
        if earlier is None:
            totals[use.dataset] = use
            continue
        if use.position is not None and use.position.table_snapshot is not None and use.position == earlier.position:
            # One write makes one version: the other write was skipped, since the version existed already.
            continue
        counts = _counts(earlier).plus(_counts(use))
        # The last of several versions includes the additions of all earlier ones. Each write of files has added its own
        # files.
        position, certainty = use.position, use.certainty
        if _is_of_files(use) or _is_of_files(earlier):
            position, certainty = _both_written(earlier, use)
        totals[use.dataset] = DatasetUse(
            dataset=use.dataset,
            position=position,
            certainty=certainty,
            rows=counts.rows,
            bytes=counts.bytes,
            files=counts.files,
            # Rows that one of the writes replaced are gone, even if the others only added rows.
            facets=joined_facets(earlier.facets, use.facets),
            inputs=_both(earlier.inputs, use.inputs),
            schema_digest=use.schema_digest,
        )
    return tuple(sorted(totals.values(), key=lambda use: use.dataset))


def _both(one: tuple[DatasetRef, ...] | None, other: tuple[DatasetRef, ...] | None) -> tuple[DatasetRef, ...] | None:
    return None if one is None or other is None else tuple(sorted({*one, *other}))


def _both_written(one: DatasetUse, other: DatasetUse) -> tuple[Position | None, Certainty]:
    """Join the files of two writes to one dataset; None if either is unknown."""
    if one.position is None or other.position is None:
        return None, Certainty.UNKNOWN
    files, others = one.position.files, other.position.files
    if files is None or others is None:
        return None, Certainty.UNKNOWN
    certainty = one.certainty if one.certainty is other.certainty else Certainty.UPPER_BOUND
    found = _union(files, others)
    if found is None:
        size = files.bytes + others.bytes if files.bytes is not None and others.bytes is not None else None
        found = FileSet(count=files.count + others.count, bytes=size, paths=(*files.paths, *others.paths)[:MAX_PATHS])
    return Position(files=found), certainty


def _counts(use: DatasetUse) -> Counts:
    return Counts(rows=use.rows, bytes=use.bytes, files=use.files)


def _files_of(output: PlanOutput, added: AddedFiles | None) -> dict[str, str]:
    return {} if added is None else added.of(output.dataset).facets()


def _total(counts: list[Counts]) -> Counts:
    if not counts:
        return Counts()
    total, *rest = counts
    for each in rest:
        total = total.plus(each)
    return total


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def join_inputs(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Join inputs by dataset, as far as one position can record them.

    Files are joined into one position. Two versions of a table stay two uses, because each was read.

    Args:
        uses: uses of one query, each with the counts of all reads of its dataset.
    """
    joined: dict[tuple[DatasetRef, str | None], DatasetUse] = {}
    for use in uses:
        key = (use.dataset, None if _is_of_files(use) else repr(use.position))
        earlier = joined.get(key)
        joined[key] = use if earlier is None else _both_reads(earlier, use)
    return tuple(joined.values())


def _is_of_files(use: DatasetUse) -> bool:
    return use.position is not None and use.position.files is not None


def _both_reads(one: DatasetUse, other: DatasetUse) -> DatasetUse:
    if one.position == other.position or one.position is None or other.position is None:
        return one
    found = _union(one.position.files, other.position.files)
    if found is None:
        return msgspec.structs.replace(one, position=None, certainty=Certainty.UNKNOWN)
    is_exact = one.certainty is other.certainty is Certainty.EXACT
    certainty = Certainty.EXACT if is_exact else Certainty.UPPER_BOUND
    return msgspec.structs.replace(one, position=Position(files=found), certainty=certainty)


def _union(one: FileSet | None, other: FileSet | None) -> FileSet | None:
    """Join two sets of files; None if either doesn't name all of its files."""
    if one is None or other is None or any(len(each.paths) != each.count for each in (one, other)):
        return None
    paths = sorted({*one.paths, *other.paths})
    are_apart = len(paths) == one.count + other.count
    size = one.bytes + other.bytes if are_apart and one.bytes is not None and other.bytes is not None else None
    return FileSet(count=len(paths), bytes=size, manifest_digest=manifest_digest(paths), paths=tuple(paths[:MAX_PATHS]))
