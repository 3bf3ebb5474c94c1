"""Views of runs and versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.show import batches
from headwater.show.batches import quality_text
from headwater.show.names import LONGEST_PATH, SHORT_VERSION, dataset_text, moment_text, short_version
from headwater.show.pages import pairs, part
from headwater_analysis.runs import (
    BusinessVersion,
    OpenRun,
    Producer,
    QualityTurn,
    RunDetails,
    RunItem,
    Turn,
    VersionItem,
)
from headwater_graph.derive import Because
from headwater_schemas.events import RunEventType
from headwater_schemas.ranges import range_text
from headwater_schemas.visible import visible

_STYLES = {RunEventType.COMPLETE: "green", RunEventType.FAIL: "bold red", RunEventType.ABORT: "red"}
_BECAUSE = {
    Because.QUERY_CONTINUED: "it reported no end, and its streaming query went on without it",
    Because.CHILDREN_CONTINUED: "it reported no end, and a streaming query of it went on in another application",
    Because.PARENT_ENDED: "it reported no end, and the application that started it has ended",
}
_LONGEST_ERROR = 80


def table(runs: Sequence[RunItem]) -> Table:
    """Table with a row for each run."""
    out = plain_table("began", "took", "state", "job", "run", "code", "batches", "error", numbers=("took",))
    for run in runs:
        out.add_row(
            moment_text(run.began),
            duration_text(run.began, run.ended_at),
            state_text(run),
            "" if run.job is None else shortened(run.job.name),
            shortened(run.run_id),
            short_version(run.code_version),
            batches_text(run),
            _short_error(run),
        )
    return out


def open_table(runs: Sequence[OpenRun], now: datetime) -> Table:
    """Table with a row for each run without an end, and the time since it was last seen."""
    out = plain_table("last seen", "ago", "state", "heartbeat", "job", "run", "began", "batches", numbers=("ago",))
    for each in runs:
        run = each.run
        out.add_row(
            moment_text(each.last_seen),
            duration_text(each.last_seen, max(each.last_seen, now)),
            state_text(run),
            _heartbeat(each, now),
            "" if run.job is None else shortened(run.job.name),
            shortened(run.run_id),
            moment_text(run.began),
            batches_text(run),
        )
    return out


def _heartbeat(run: OpenRun, now: datetime) -> str:
    has_stopped = run.has_stopped(now)
    if has_stopped is None:
        return ""
    return "stopped" if has_stopped else f"every {run.heartbeat_seconds:g} s"


def _checkout(found: RunDetails) -> str:
    return " at ".join(filter(None, (found.repository, found.branch)))


def details(found: RunDetails) -> RenderableType:
    """Table of a run's known facts, and below it the inputs and outputs."""
    run = found.run
    rows: list[tuple[str, str | Text | None]] = [
        ("run", shortened(run.run_id)),
        ("job", None if run.job is None else shortened(run.job.spelling)),
        ("state", state_text(run)),
        ("because", _because(run)),
        ("began", moment_text(run.began)),
        ("ended", moment_text(run.ended_at)),
        ("provenance", _name(found.provenance)),
        ("took", duration_text(run.began, run.ended_at)),
        ("for", _period(found)),
        ("code", _name(run.code_version)),
        ("script", _name(found.script)),
        ("repository" if found.repository else "branch", _name(_checkout(found))),
        ("package", _name(found.package)),
        ("image", _name(found.image)),
        ("configuration", _name(run.config_version)),
        ("engine", _name(" ".join(filter(None, (found.engine, found.engine_version))))),
        ("user", _name(found.user)),
        ("service", _name(found.service)),
        ("campaign", _name(found.campaign)),
        ("plan", _name(run.plan_digest)),
        ("statement", _name(found.statement)),
        (
            "parent",
            None if found.parent is None else f"{shortened(found.parent.run_id)} of {shortened(found.parent.job_name)}",
        ),
        ("root", None if found.root is None else f"{shortened(found.root.run_id)} of {shortened(found.root.job_name)}"),
        ("children", str(found.children) if found.children else None),
        ("query", _name(run.query_id)),
        ("checkpoint", _name(found.checkpoint_location)),
        ("micro-batches", f"{found.intervals:,}: {batches_text(run)}" if found.intervals else None),
        ("published", _name(found.publication)),
        ("business version", business_text(found.business_versions)),
        ("rejected", None if found.rows_rejected is None else f"{found.rows_rejected:,} rows"),
        ("quality", quality_text(found.quality)),
        ("error", shortened(_error(run), 1_000)),
        ("notes", "\n".join(shortened(each, 1_000) for each in found.notes)),
    ]
    facets = [("facets", shortened(", ".join(facet.name for facet in found.facets), 1_000))]
    parts: list[RenderableType] = [pairs([*rows, *facets])]
    for heading, used, total in (
        ("read", found.inputs, found.inputs_total),
        ("wrote", found.outputs, found.outputs_total),
    ):
        parts.append(part(heading, batches.uses(used), len(used), total))
    return Group(*parts)


def business_text(found: Sequence[BusinessVersion]) -> str | None:
    """Format a line for each reference dataset: name, version, and the outputs computed with this version."""
    lines = []
    for each in found:
        use = each.reference
        version = "unknown version" if use.position is None else batches.part_text(use)
        outputs = ", ".join(shortened(output.name) for output in each.outputs)
        lines.append(f"{dataset_text(use.dataset, LONGEST_PATH)}: {version}, in {outputs}")
    return "\n".join(lines) or None


def versions(items: Sequence[VersionItem]) -> Table:
    """Table with a row for each version and what produced it."""
    out = plain_table(
        "produced", "version", "operation", "files", "by", "run", "code", "read", numbers=("files", "read")
    )
    for item in items:
        first: Producer | None = next(iter(item.producers), None)
        out.add_row(
            moment_text(item.produced_at),
            # The digest of files is shortened as in `runs inputs`.
            f"{shortened(item.format)} {shortened(item.version[: SHORT_VERSION if item.format == 'files' else None])}",
            shortened(item.operation or ""),
            "" if item.file_count is None else f"{item.file_count:,}",
            "–" if first is None else _producer(first, item.producers_total),
            "" if first is None else shortened(first.run_id or ""),
            "" if first is None else short_version(first.code_version),
            f"{item.readers:,}×",
        )
    return out


def turn(found: Turn) -> RenderableType:
    """Table of the last good and first bad run: by state; then, for each query and job, by assertions."""
    head = Text(dataset_text(found.of), style="bold")
    out = plain_table("by", "", "at", "job", "run", "code", "what")
    for word, run in (("last good", found.last_good), ("first bad", found.first_bad)):
        cells = ("none",) if run is None else (moment_text(run.began), *_job_run_code(run), _state_and_error(run))
        out.add_row("state", word, *cells)
    for one in found.quality:
        for row in _quality_rows(one):
            out.add_row("quality", *row)
    return Group(head, out)


def quality(turns: Sequence[QualityTurn]) -> Table:
    """Table of each query's and job's last good micro-batch or run by assertions, and the first bad one after it."""
    out = plain_table("", "at", "job", "run", "code", "what")
    for one in turns:
        for row in _quality_rows(one):
            out.add_row(*row)
    return out


def duration_text(began: datetime | None, ended: datetime | None) -> str:
    """Format a duration: `1 h 02 min`, `3 min 20 s`, `4.2 s`; empty if unknown, or if the end is before the start."""
    if began is None or ended is None or ended < began:
        return ""
    seconds = (ended - began).total_seconds()
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes >= 48 * 60:
        return f"{minutes // (24 * 60)} d {minutes // 60 % 24:02} h"
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def batches_text(run: RunItem) -> str:
    """Format the batch ids of a streaming run, with an exclusive end: `0..24` if the last micro-batch is 23."""
    if run.first_batch is None or run.last_batch is None:
        return ""
    return range_text(run.first_batch, run.last_batch + 1)


def _name(text: str | None) -> str | None:
    return None if text is None else shortened(text, 1_000)


def state_text(run: RunItem) -> Text:
    """Format the state of a run, and whether its end is inferred."""
    if run.state is None:
        return Text("–")
    inferred = "" if run.inferred_because is None else ", inferred"
    return Text(f"{run.state.value}{inferred}", _STYLES.get(run.state, ""))


def _because(run: RunItem) -> str | None:
    """Explain why the end of a run is inferred; None if the end was reported, or if there is none."""
    if run.inferred_because is None:
        return None
    return f"{_BECAUSE[run.inferred_because]}: run {shortened(run.inferred_by or '')} began after it was last seen"


def _error(run: RunItem) -> str:
    return ": ".join(filter(None, (run.error_type, run.error_message)))


def _short_error(run: RunItem) -> str:
    """Shorten an error to its class without package and the beginning of its message."""
    kind = (run.error_type or "").rpartition(".")[2]
    text = ": ".join(filter(None, (kind, run.error_message)))
    return visible(text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 1]}…")


def _period(found: RunDetails) -> str | None:
    if found.nominal_start is None and found.nominal_end is None:
        return None
    return f"{moment_text(found.nominal_start)} … {moment_text(found.nominal_end)}"


def _producer(first: Producer, total: int) -> str:
    words = shortened(first.job.name) if first.job else "–"
    if first.batch_id is not None:
        words += f", batch {first.batch_id}" + (" (ran again with another result)" if first.conflict else "")
    return words if total == 1 else f"{words} and {total - 1} more"


def _job_run_code(run: RunItem) -> tuple[str, str, str]:
    return "" if run.job is None else shortened(run.job.name), shortened(run.run_id), short_version(run.code_version)


def _state_and_error(run: RunItem) -> str:
    return " ".join(filter(None, (run.state.value if run.state else "", _short_error(run))))


def _quality_rows(one: QualityTurn) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for word, batch, run in (
        ("last good", one.last_good, one.last_good_run),
        ("first bad", one.first_bad, one.first_bad_run),
    ):
        if one.query_id is None and run is not None:
            what = quality_text(one.failed) if run is one.first_bad_run else ""
            out.append((word, moment_text(run.began), *_job_run_code(run), what))
            continue
        if batch is None:
            of = "runs" if one.query_id is None else "batches"
            out.append((word, "none" if one.looked_back is None else f"none in {one.looked_back:,} {of}"))
            continue
        run_cells = (
            _job_run_code(run)
            if run is not None
            else ("", shortened(batch.run_id or ""), short_version(batch.code_version))
        )
        what = f"batch {batch.batch_id}: {quality_text(batch.quality)}"
        out.append((word, moment_text(batch.processing_time), *run_cells, what))
    return out
