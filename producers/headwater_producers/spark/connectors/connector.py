"""The questions that capture asks of a storage technology.

    what does this leaf read?                      read(leaf)          ─▶ Leaf
    what does this command write?                  write(command)      ─▶ Written
    what does this command change, without rows?   change(command)     ─▶ DatasetChange …
    which position did this scan read?             scanned(scan)       ─▶ Scanned
    which range did this micro-batch read?         read_range(source)  ─▶ RangeRead …
    what did this batch command commit?            batch_log(run)      ─▶ BatchLog
    what did this micro-batch commit?              stream_log(sink)    ─▶ StreamLog

and of streaming sources, about what only they can read in a checkpoint

    what has its own folder of this micro-batch?   logged(source)      ─▶ LoggedSource
    which datasets is it?                          origin(source)      ─▶ PlanInput …

A connector answers None for what isn't its own. `registry.py` picks the connectors to ask by the names of JVM classes
that they declare; `connectors/__init__.py` lists them. What they are asked about is in `question.py`,
the answers in `answer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from headwater_producers.spark.connectors.answer import (
    BatchLog,
    Committed,
    LoggedSource,
    RangeRead,
    Scanned,
    StreamLog,
    V1Table,
    V2Table,
)
from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.connectors.question import (
    CheckpointSource,
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
)
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.plan.description import DatasetChange, PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.operator import OperatorRule
from headwater_producers.spark.plan.written import Written
from headwater_schemas.naming.tables import Catalog


class Connector(Protocol):
    """What capture knows of one storage technology. Whoever inherits from it answers what it can, and None else.

    Attributes:
        classes: simple names of the JVM classes by which it is picked: of relations, V2 tables, commands, streaming
            sources and sinks, scans; and how its sinks call themselves in a progress (`FileSink[…]`).
        opens: of classes that may stand for another connector's: the accessor of what that one is picked by. The
            relation of a Delta table is one of files, and its file index Delta's.
        providers: what catalogs call tables of its own format.
        kinds, offset: of streaming sources, whose offsets have no class: kinds that are its own, and the keys that an
            offset of its own has.
        needs_start: whether without the offset at which a micro-batch began it isn't known what it read; of other
            sources that is bounded by an earlier offset.
        operators: how the operators of its own are read that are in a plan's JSON, by class.
    """

    classes: ClassVar[frozenset[str]] = frozenset()
    opens: ClassVar[Mapping[str, str]] = {}
    providers: ClassVar[frozenset[str]] = frozenset()
    kinds: ClassVar[frozenset[SourceKind]] = frozenset()
    offset: ClassVar[frozenset[str]] = frozenset()
    needs_start: ClassVar[bool] = False
    operators: ClassVar[Mapping[str, OperatorRule]] = {}

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        """What a leaf of a plan reads, batch or streaming.

        Raises:
            Exception: it can't be read; the lineage is incomplete then.
        """
        return None

    def write(self, command: JvmCommand) -> Written | None:
        """What a command writes, batch or streaming.

        Raises:
            Exception: as of `read`.
        """
        return None

    def change(self, command: JvmCommand) -> tuple[DatasetChange, ...] | None:
        """What DDL does to datasets; empty where it found nothing to do.

        Raises:
            Exception: as of `read`.
        """
        return None

    def scanned(self, scan: JvmScan) -> Scanned | None:
        """What a scan of an executed plan has read."""
        return None

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        """What a streaming source gave to a micro-batch."""
        return None

    def logged(self, source: SourceOffsets, folder: TextFolder) -> LoggedSource | None:
        """What a checkpoint has of a micro-batch of a streaming source, in the source's own folder.

        Raises:
            OSError, ValueError, Py4JError: it can't be read.
        """
        return None

    def subscribed(self, offset: Any, folder: TextFolder | None) -> frozenset[str] | None:
        """Names of the datasets of a streaming source that reads several.

        Args:
            offset: its newest.
            folder: its own in the checkpoint, where that is to be asked too.

        Raises:
            OSError, ValueError, Py4JError: the checkpoint can't be read.
        """
        return None

    def origin(self, source: CheckpointSource) -> tuple[PlanInput, ...] | None:
        """Which datasets a streaming source of a checkpoint is.

        Raises:
            UnknownOriginError: it is of this technology, and may be any of several datasets, or none that is known.
            OSError, ValueError, Py4JError: the checkpoint can't be read.
        """
        return None

    def batch_log(self, run: CommandRun) -> BatchLog | None:
        """The log of the table with versions that a batch command has written."""
        return None

    def manifest(self, run: CommandRun, counts: Counts) -> Committed | None:
        """The files that a batch command has committed, where what it writes has no log.

        Args:
            run: the command.
            counts: what its plan has counted.

        Raises:
            Exception: they can't be listed; the write is emitted without them.
        """
        return None

    def left_alone(self, write: Write, *, staged: bool) -> bool | None:
        """Whether a command left as it was what was there already, by mode("ignore"), IF NOT EXISTS and their like.

        Args:
            write: the command, which didn't fail.
            staged: whether another command ran inside, which wrote the rows.
        """
        return None

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        """The log of a streaming query's sink."""
        return None

    def sink_at(self, path: str, files: TextFiles) -> str | None:
        """The description, as a progress has it, of the sink whose log is at a path.

        Raises:
            OSError, Py4JError: it can't be read.
        """
        return None

    def v1_table(self, table: Any) -> V1Table | None:
        """A JVM `CatalogTable` whose provider is one of `providers`."""
        return None

    def catalog(self, context: Context, name: str) -> Catalog | None:
        """How a catalog of the session names its tables, by its settings; None: it isn't of this connector.

        Args:
            context: of the session.
            name: what the session calls the catalog.
        """
        return None

    def v2_table(self, table: Any) -> V2Table | None:
        """A JVM V2 `Table` of one of `classes`."""
        return None

    def transaction(self, command: JvmCommand) -> tuple[str, int] | None:
        """The application and version by which the table's log will know a batch command's commit."""
        return None

    def mark_commits(self, session: Any, run_id: str) -> None:
        """Has the commits that a session makes name the run of its application, where the job doesn't say otherwise.

        Raises:
            Py4JError: the technology isn't there.
        """
        return

    def unmark_commits(self, session: Any, run_id: str) -> None:
        """Takes back what `mark_commits` has set, unless the job has set something else since.

        Raises:
            Py4JError: the technology isn't there.
        """
        return

    def hidden_plans(self, command: Any) -> Sequence[Any]:
        """The plans that a JVM command keeps to itself, neither as children nor as inner children."""
        return ()
