"""Writes the CSV files of jobs, plans and runs, and of their relationships with each other and datasets."""

from __future__ import annotations

import numpy as np

from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.names import JOBS_NAMESPACE, STAMP, TENANT, digest, query_id
from headwater_benchmarks.estate.sheets import Sheets
from headwater_benchmarks.estate.times import DAY, SPAN, moment
from headwater_graph.keys import use_key
from headwater_graph.words import job_words, text_words

_SPAN = ("first_seen:datetime", "last_seen:datetime")
_USE = ("key", "certainty", "position", "file_count:long", "file_bytes:long", "manifest_digest", "rows:long")


def write_jobs(estate: Estate, sheets: Sheets) -> None:
    """Write the sheets `Job`, `Plan` and `Run`, and those of their relationships. Micro-batches bring their queries."""
    _nodes(estate, sheets)
    _ties(estate, sheets)
    _asset_graph(estate, sheets)
    _uses(estate, sheets)


def _spans(job: int) -> tuple[str, str]:
    return moment(job % 90 * DAY), moment(SPAN - job % 60 * DAY)


def _nodes(estate: Estate, sheets: Sheets) -> None:
    streams = len(estate.lines.queries)
    edges = np.bincount(estate.columns.derives_jobs, minlength=len(estate.jobs)).tolist()
    jobs = sheets.node(
        "Job", "key", "name", "tenant", "namespace", "processing_type", "integration", "owners:string[]",
        "owner_types:string[]", "_words", "_owner_words", "_stamp", *_SPAN,
    )  # fmt: skip
    for index, job in enumerate(estate.jobs):
        kind = "STREAMING" if index < streams else "BATCH"
        owner = f"team:{index % 40}"
        jobs.add(
            estate.first_job + index, job.key, job.name, TENANT, JOBS_NAMESPACE, kind, "SPARK", owner, "team",
            job_words(TENANT, JOBS_NAMESPACE, job.name), text_words([owner]), STAMP,
            *_spans(index),
        )  # fmt: skip
    plans = sheets.node(
        "Plan", "key", "name", "tenant", "job", "digest", "complete:boolean", "edges:long",
        "expression_ids:string[]", "expressions:string[]", "_outputs:string[]", "_stamp", *_SPAN,
    )  # fmt: skip
    targets = estate.feeds.job_targets.tolist()
    for index, job in enumerate(estate.jobs):
        plans.add(
            estate.first_plan + index, job.plan_key, f"{job.name} {job.digest[:8]}", TENANT, job.key, job.digest,
            "true", edges[index], "", "", estate.datasets[targets[index]].key, STAMP, *_spans(index),
        )  # fmt: skip
    runs = sheets.node(
        "Run", "key", "name", "tenant", "run_id", "job_namespace", "job_name", "processing_type", "state",
        "started_at:datetime", "ended_at:datetime", "code_version", "engine", "plan_digest", "query_id", "_stamp",
        *_SPAN,
    )  # fmt: skip
    for index, job in enumerate(estate.jobs):
        streaming, (begin, end) = index < streams, _spans(index)
        runs.add(
            estate.first_run + index, job.run_key, f"{job.name} {job.run_id[:8]}", TENANT, job.run_id, JOBS_NAMESPACE,
            job.name, "STREAMING" if streaming else "BATCH", "RUNNING" if streaming else "COMPLETE", begin,
            "" if streaming else end, "v1", "spark", job.digest, query_id(index) if streaming else "", STAMP, begin,
            end,
        )  # fmt: skip


def _ties(estate: Estate, sheets: Sheets) -> None:
    of, used = sheets.relationship("OF"), sheets.relationship("USED", "_job", *_SPAN)
    for index in range(len(estate.jobs)):
        job, plan, run = estate.first_job + index, estate.first_plan + index, estate.first_run + index
        of.add(plan, job)
        of.add(run, job)
        used.add(run, plan, estate.jobs[index].key, *_spans(index))


def _asset_graph(estate: Estate, sheets: Sheets) -> None:
    reads = sheets.relationship("READS", "observed:boolean", *_SPAN)
    writes = sheets.relationship("WRITES", "observed:boolean", *_SPAN)
    for source, job in zip(estate.feeds.sources.tolist(), estate.feeds.jobs.tolist(), strict=True):
        reads.add(estate.first_job + job, source, "true", *_spans(job))
    for job, target in enumerate(estate.feeds.job_targets.tolist()):
        writes.add(estate.first_job + job, target, "true", *_spans(job))


def _uses(estate: Estate, sheets: Sheets) -> None:
    """CONSUMED and PRODUCED of batch runs, with positions of files by the digest of their manifest."""
    streams = len(estate.lines.queries)
    consumed = sheets.relationship("CONSUMED", *_USE)
    produced = sheets.relationship("PRODUCED", *_USE)
    for source, job in zip(estate.feeds.sources.tolist(), estate.feeds.jobs.tolist(), strict=True):
        if job >= streams:
            key = use_key(TENANT, "CONSUMED", estate.jobs[job].run_key, estate.datasets[source].key, 0)
            consumed.add(
                estate.first_run + job, source, key, "EXACT", "files", 4, 4_000_000, digest("files", source), 1_000
            )
    for job, target in enumerate(estate.feeds.job_targets.tolist()):
        if job >= streams:
            key = use_key(TENANT, "PRODUCED", estate.jobs[job].run_key, estate.datasets[target].key, 0)
            produced.add(
                estate.first_run + job, target, key, "EXACT", "files", 4, 4_000_000, digest("files", target), 1_000
            )
