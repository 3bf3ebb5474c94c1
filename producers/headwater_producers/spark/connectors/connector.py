"""Connector: questions that capture asks about a storage technology.

    what does this leaf read?                      read(leaf)          ─▶ Leaf
    what does this command write?                  write(command)      ─▶ WrittenOutputs
    what does this command change, without rows?   change(command)     ─▶ DdlChange …
    which position did this scan read?             scanned(scan)       ─▶ Scanned
    which range did this micro-batch read?         read_range(source)  ─▶ RangeRead …
    what did this batch command commit?            batch_log(run)      ─▶ BatchLog
    what did this micro-batch commit?              stream_log(sink)    ─▶ StreamLog
    which datasets is this streaming source?       origin(source)      ─▶ PlanInput …

A connector answers None for subjects that aren't its own. `registry.py` picks the connectors to ask by the names of JVM
classes that they declare; `connectors/__init__.py` lists them. The subjects of questions are in
`connector_questions.py`, the answers in `connector_answers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headwater_producers.spark.connectors.connector_answers import (
    BatchLog,
    CommittedVersion,
    RangeRead,
    Scanned,
    StreamLog,
    V1Table,
    V2Table,
)
from headwater_producers.spark.connectors.connector_questions import (
    CheckpointSource,
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
)
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.plan.description import DdlChange, PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.operator import OperatorRule
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas.naming.tables import Catalog


class Connector:
    """Questions about one storage technology. A subclass answers some of the questions; the default answer is None.

    Attributes:
        classes: simple names of the JVM classes that select the connector: relations, V2 tables, commands, streaming
            sources and sinks, scans; and the names of its sinks in a progress (`FileSink[…]`).
        opens: by class, the accessor of an inner object that selects the connector instead. For example, a Delta table
            has the relation class of files, but Delta's own class of file index.
        providers: names of its own format in catalogs.
        kinds, offset: kinds of its streaming sources, and the keys of their offsets, since offsets have no class.
        needs_start: True if the range that a micro-batch read is unknown without its start offset; for other sources an
            earlier offset gives an upper bound.
        operators: rules for its own operators in a plan's JSON, by class.
    """

    classes: ClassVar[frozenset[str]] = frozenset()
    opens: ClassVar[Mapping[str, str]] = {}
    providers: ClassVar[frozenset[str]] = frozenset()
    kinds: ClassVar[frozenset[SourceKind]] = frozenset()
    offset: ClassVar[frozenset[str]] = frozenset()
    needs_start: ClassVar[bool] = False
    operators: ClassVar[Mapping[str, OperatorRule]] = {}

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        """Describe the reads of a plan's leaf, batch or streaming.

        Raises:
            Exception: the leaf can't be read; the lineage is then incomplete.
        """
        return None

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        """Describe the write of a command, batch or streaming.

        Raises:
            Exception: as for `read`.
        """
        return None

    def change(self, command: JvmCommand) -> tuple[DdlChange, ...] | None:
        """List the changes that a DDL command made to datasets; empty if the command changed nothing.

        Raises:
            Exception: as for `read`.
        """
        return None

    def scanned(self, scan: JvmScan) -> Scanned | None:
        """Return the positions that a scan of an executed plan has read."""
        return None

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        """List the ranges that a streaming source gave to a micro-batch.

        Raises:
            OSError, ValueError, Py4JError: the source's log in the checkpoint can't be read.
        """
        return None

    def subscribed(self, offset: Any, folder: TextFolder | None) -> frozenset[str] | None:
        """List the datasets of a streaming source that reads several.

        Args:
            folder: the source's own folder in the checkpoint, if it should be read, too.

        Raises:
            OSError, ValueError, Py4JError: the checkpoint can't be read.
        """
        return None

    def origin(self, source: CheckpointSource) -> tuple[PlanInput, ...] | None:
        """List the datasets of a checkpoint's streaming source.

        Raises:
            UnknownOriginError: the source is of this technology, with several candidate datasets, or none.
            OSError, ValueError, Py4JError: the checkpoint can't be read.
        """
        return None

    def batch_log(self, run: CommandRun) -> BatchLog | None:
        """Return the log of the table with versions that a batch command has written."""
        return None

    def manifest(self, run: CommandRun, counts: Counts) -> CommittedVersion | None:
        """Return the files that a batch command has committed, for a target without a log.

        Raises:
            Exception: the files can't be listed; the write is emitted without them.
        """
        return None

    def left_alone(self, write: Write, *, staged: bool) -> bool | None:
        """Return True if a command left existing data unchanged, by mode("ignore"), IF NOT EXISTS or similar.

        Args:
            write: the command, which didn't fail.
            staged: True if another command ran inside, which wrote the rows.
        """
        return None

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        """Return the log of a streaming query's sink."""
        return None

    def sink_at(self, path: str, files: TextFiles) -> str | None:
        """Return the description (as in a progress) of the sink whose log is at a path.

        Raises:
            OSError, Py4JError: the log can't be read.
        """
        return None

    def v1_table(self, table: Any) -> V1Table | None:
        """Describe a JVM `CatalogTable` whose provider is one of `providers`."""
        return None

    def catalog(self, context: SessionContext, name: str) -> Catalog | None:
        """Return the naming of a session's catalog, by its settings; None: it isn't a catalog of this connector."""
        return None

    def v2_table(self, table: Any) -> V2Table | None:
        """Describe a JVM V2 `Table` of one of `classes`."""
        return None

    def transaction(self, command: JvmCommand) -> tuple[str, int] | None:
        """Return the application and version that identify a batch command's commit in the table's log."""
        return None

    def mark_commits(self, session: Any, run_id: str) -> None:
        """Make a session's commits name the run of its application, unless the job sets another text.

        Raises:
            Py4JError: the technology isn't installed.
        """
        return

    def unmark_commits(self, session: Any, run_id: str) -> None:
        """Undo `mark_commits`, unless the job has set something else since.

        Raises:
            Py4JError: the technology isn't installed.
        """
        return

    def hidden_plans(self, command: Any) -> Sequence[Any]:
        """List the plans that a JVM command has neither as children nor as inner children."""
        return ()
