"""Known facts on a checkpoint's query: its job and the datasets it reads and writes. The command line wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.asking import asking
from headwater.console import console
from headwater.errors import HeadwaterError, InputError, NotConfiguredError, NotFoundError, UnreachableError
from headwater_analysis.reconciling import CheckpointQuery, known_query
from headwater_schemas.events import DatasetRef, JobRef, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """Options of the command line that name a query's job, tenant and sources.

    Attributes:
        job, namespace: name and namespace of the query's job.
        tenant: tenant of the graph; None: as configured.
        sources: path or Kafka namespace of each source, by index.
        ask_graph: the graph is asked.
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
        job: job of the query.
        reads, writes: datasets of its micro-batches.
        name: name that the job gave the query.
        writes_itself: its sink is known to write each micro-batch. Code inside foreachBatch may not, nor may a
            query whose sink is unknown.
        batches: provenance of each micro-batch that the graph has; None: the graph wasn't asked.
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
        NotFoundError: its job is unknown.
        InputError: the graph has it under several jobs.
        UnreachableError: the graph doesn't answer, and the job isn't named.
    """
    named = JobRef(options.namespace or "default", options.job) if options.job is not None else None
    if not options.ask_graph:
        if named is None:
            raise InputError("Without the graph the job has to be named.", fix="Add --job, and --job-namespace.")
        return Knowledge(job=named)
    try:
        found = _asked(options, query_id, until)
    except (UnreachableError, NotFoundError, NotConfiguredError) as error:
        if named is None:
            raise _unnamed(error) from error
        console.warning(f"{error.message} So which batches were never emitted isn't known.")
        return Knowledge(job=named)
    if found is None:
        if named is None:
            raise NotFoundError(
                f"The graph has no query {query_id}.",
                fix="Name its job: --job, --job-namespace, and what its sources are: --source 0=kafka://cluster.",
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
