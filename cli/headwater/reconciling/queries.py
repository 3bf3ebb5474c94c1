"""Events of one checkpoint, permanent gaps, and known facts about the query. Options override the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from headwater.console import console
from headwater.errors import HeadwaterError, InputError, NotConfiguredError, SubjectNotFoundError, UnreachableError
from headwater.graph_reader import asking
from headwater_analysis.reconciling import CheckpointQuery, known_query
from headwater_producers.spark.common.versions import capture_version
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.left_writes.left_tables import location
from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.gaps import spans
from headwater_producers.spark.streaming.interval import SinkCommits, sink_at
from headwater_producers.spark.streaming.origins import origins
from headwater_producers.spark.streaming.rebuild import QueryIdentity, Rebuilder, interval_events
from headwater_schemas.events import DatasetRef, IntervalEntry, JobRef, LineageEvent, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """Options of the command line that name a query's job, tenant and sources.

    Attributes:
        tenant: tenant of the graph; None: as configured.
        sources: path or Kafka namespace of each source, by index.
        ask_graph: whether to look the query up in the graph.
    """

    job: str | None = None
    namespace: str | None = None
    tenant: str | None = None
    sources: Mapping[int, str] = field(default_factory=dict)
    ask_graph: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Known facts on one query.

    Attributes:
        name: name that the job gave the query.
        writes_itself: whether the query's sink is known to write each micro-batch. Code inside foreachBatch, or an
            unknown sink, possibly skips some.
        batches: provenance of each micro-batch in the graph, by batch id; None if the graph wasn't asked.
    """

    job: JobRef
    reads: tuple[DatasetRef, ...] = ()
    writes: tuple[DatasetRef, ...] = ()
    name: str | None = None
    writes_itself: bool = False
    batches: Mapping[int, Provenance] | None = None


def knowledge(options: QueryOptions, query_id: str, *, until: int) -> Knowledge:
    """Collect the known facts on a query, with its micro-batches below `until`.

    Raises:
        SubjectNotFoundError: the query's job is unknown.
        InputError: the graph has several jobs of the query.
        UnreachableError: the graph doesn't answer, and no option names the job.
    """
    named = JobRef(options.namespace or "default", options.job) if options.job is not None else None
    if not options.ask_graph:
        if named is None:
            raise InputError("Without the graph the job has to be named.", fix="Add --job, and --job-namespace.")
        return Knowledge(job=named)
    try:
        found = _asked(options, query_id, until)
    except (UnreachableError, SubjectNotFoundError, NotConfiguredError) as error:
        if named is None:
            raise _unnamed(error) from error
        console.warning(f"{error.message} So it is unknown which batches were never emitted.")
        return Knowledge(job=named)
    if found is None:
        if named is None:
            raise SubjectNotFoundError(
                f"The graph has no query {query_id}.",
                fix="Name its job with --job and --job-namespace, and its sources: --source 0=kafka://cluster.",
            )
        return Knowledge(job=named, batches={})
    if named is None and len(found.jobs) != 1:
        names = [f"{job.namespace}/{job.name}" for job in found.jobs]
        raise InputError(
            f"The graph has the query {query_id} under {len(names)} jobs.", fix="Choose one: --job.", nearest=names
        )
    return Knowledge(
        job=named or found.jobs[0],
        reads=found.reads,
        writes=found.writes,
        name=found.name,
        writes_itself=found.writes_itself,
        batches=found.batches,
    )


def _asked(options: QueryOptions, query_id: str, until: int) -> CheckpointQuery | None:
    with asking(tenant=options.tenant) as reader:
        return known_query(reader, query_id, until=until)


def _unnamed(error: HeadwaterError) -> HeadwaterError:
    return type(error)(error.message, fix=f"{error.fix} Or name the job: --job, --job-namespace, --source.".strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """Result for one checkpoint.

    Attributes:
        events: events to send, one for each micro-batch.
        not_emitted: rebuilt micro-batches that the graph doesn't have; None if the graph wasn't asked.
        uncommitted: planned but uncommitted micro-batches: no event is sent for them.
        unreadable: committed micro-batches that can't be rebuilt, each with the reason.
        purged: number of micro-batches that Spark has purged from the checkpoint.
        gaps: ranges of purged micro-batches that the graph doesn't have: first and last batch id, both inclusive; None
            if the graph wasn't asked.
    """

    location: str
    query_id: str
    events: tuple[LineageEvent, ...]
    batches: tuple[int, ...]
    not_emitted: tuple[int, ...] | None
    uncommitted: tuple[int, ...]
    unreadable: tuple[tuple[int, str], ...]
    purged: int
    gaps: tuple[tuple[int, int], ...] | None


def reconcile(
    log: QueryLog, files: TextFiles, known: Knowledge, *, query_id: str, tenant: str, sources: Mapping[int, str]
) -> Reconciled:
    """Rebuild the events of a checkpoint.

    Raises:
        CheckpointError: the query's datasets are unknown, or the checkpoint's logs can't be read.
    """
    inputs, count = origins(log, known.reads, sources)
    output = known.writes[0] if len(known.writes) == 1 else None
    rebuilder = Rebuilder(
        log,
        files,
        inputs=inputs,
        sources=count,
        # A micro-batch with several outputs, or of a foreachBatch function, may have written only some outputs.
        outputs=() if output is None else (PlanOutput(dataset=output, kind=SourceKind.UNKNOWN),),
        proven=not known.writes_itself,
        commits=None if output is None else SinkCommits(sink_at(files, location(output)), query_id, files),
    )
    entries: list[IntervalEntry] = []
    unreadable: list[tuple[int, str]] = []
    committed = log.committed()
    for batch in committed:
        try:
            entries.append(rebuilder.entry(batch))
        except (OSError, ValueError) as error:  # a CheckpointError as well
            unreadable.append((batch, str(error)))
    identity = QueryIdentity(
        tenant=tenant,
        job=known.job,
        query_id=query_id,
        producer=f"https://headwater/reconcile/{capture_version()}",
        query_name=known.name,
        checkpoint_location=log.location,
    )
    batches = tuple(entry.batch_id for entry in entries)
    purged = committed[0] if committed else 0
    known_batches = known.batches
    return Reconciled(
        location=log.location,
        query_id=query_id,
        # With one micro-batch in each event, the event has the same id as the event of the observed micro-batch.
        events=tuple(interval_events(identity, entries, per_event=1, now=datetime.now(UTC))),
        batches=batches,
        not_emitted=None if known_batches is None else tuple(batch for batch in batches if batch not in known_batches),
        uncommitted=tuple(batch for batch in log.planned() if batch not in set(committed)),
        unreadable=tuple(unreadable),
        purged=purged,
        gaps=None
        if known_batches is None
        else tuple(spans(batch for batch in range(purged) if batch not in known_batches)),
    )
