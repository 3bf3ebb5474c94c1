"""Views of traces and blast radii."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from headwater.console import plain_table, shortened
from headwater.show import quality
from headwater.show.names import LONGEST_PATH, asset_text, moment_text, short_version
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset
from headwater_analysis.blast import Blast, Superseded, Tainted
from headwater_analysis.trace import Hop, Part, PartKind, RunBrief, Step, StepKind, Trace, TraceDirection
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import batches_text, partition_text
from headwater_schemas.visible import visible

CERTAINTY_STYLES = {
    Certainty.EXACT: "green",
    Certainty.INFERRED: "cyan",
    Certainty.UPPER_BOUND: "yellow",
    Certainty.UNKNOWN: "red",
}
_MOST_RANGES = 8
_MOST_FILES = 2
_MOST_ENDING = 3
_FAILED = ("FAIL", "ABORT")


def tree(found: Trace) -> Tree:
    """Tree of the traced steps, each with its outputs (traced back: with its inputs)."""
    forward = found.direction is TraceDirection.FORWARD
    root = Tree(Text("; ").join(part_text(part) for part in found.start) if found.start else Text("nothing"))
    below: dict[int, list[Hop]] = defaultdict(list)
    for hop in found.hops:
        # A step that was reached by several paths is shown below the first predecessor.
        below[min(hop.after, default=0)].append(hop)
    branches = {0: root}
    for hop in found.hops:
        branch = branches[min(hop.after, default=0)].add(_step_text(hop))
        branch.add(Text(shortened(hop.why, 600), style="dim"))
        for part in hop.outputs if forward else hop.inputs:
            branch.add(Text("→ " if forward else "← ").append_text(part_text(part)))
        branches[hop.number] = branch
    for note in found.notes:
        root.add(Text(shortened(note, 600), style="yellow"))
    return root


def _step_text(hop: Hop) -> Text:
    step = hop.step
    text = Text(f"{hop.number}. ").append(step_words(step), style="bold")
    text.append(f"  {hop.overall.value}", style=CERTAINTY_STYLES[hop.overall])
    others = [number for number in hop.after if number != min(hop.after)]
    if others:
        text.append(f"  also after {', '.join(map(str, others))}", style="dim")
    return text


def step_name(step: Step) -> str:
    """Name a step: `flights.enrich batch 12`; for a batch run, only the name of the job."""
    job = _job(step.job) if step.job is not None else "a job"
    if step.kind is StepKind.RUN:
        return job
    notes = {
        StepKind.CONFLICT: " before it ran again",
        StepKind.SUMMARY: ", summarized",
        StepKind.MISSING: ", of which nothing is known",
    }
    return f"{job}{_batches(step)}{notes.get(step.kind, '')}"


def step_words(step: Step) -> str:
    """Format a step: `flights.enrich batch 12 (2025-01-31 12:00:00Z, code 1a2b3c)`.

    For a batch run, the state is added unless it is COMPLETE.
    """
    details = [moment_text(step.started_at)] if step.started_at is not None else []
    codes = sorted({short_version(run.code_version) for run in step.runs if run.code_version is not None})
    details += [f"code {', '.join(codes)}"] if codes else []
    if step.kind is StepKind.RUN or len(step.runs) == 1:
        details.insert(0, f"run {shortened(step.runs[0].run_id)}")
    elif step.runs:
        details.insert(0, f"runs {', '.join(map(_run_and_batches, step.runs))}")
    if step.kind is StepKind.RUN and step.runs[0].state not in (None, "COMPLETE"):
        details.append(visible(step.runs[0].state))
    return f"{step_name(step)} ({', '.join(details)})" if details else step_name(step)


def _run_and_batches(run: RunBrief) -> str:
    """Format a run with the step's micro-batches that belong to it, for steps of several runs."""
    if run.first_batch is None or run.last_batch is None:
        return shortened(run.run_id)
    return f"{shortened(run.run_id)} {batches_text(run.first_batch, run.last_batch)}"


def _batches(step: Step) -> str:
    first, last = step.first_batch, step.last_batch
    if first is None or last is None:
        return ""
    spread_first = first if step.spread_first_batch is None else step.spread_first_batch
    spread_last = last if step.spread_last_batch is None else step.spread_last_batch
    words = f" {batches_text(first, last)}"
    if spread_first < first or spread_last > last:
        words += f", spread by its state to {batches_text(spread_first, spread_last)}"
    return words


def _job(job: Asset) -> str:
    return shortened(job.name)


def part_text(part: Part) -> Text:
    """Format a part with its dataset and certainty."""
    text = asset_text(part.dataset).append("  ").append(part_words(part))
    if part.certainty is not Certainty.EXACT:
        text.append(f"  {certainty_words(part)}", style=CERTAINTY_STYLES[part.certainty])
    return text


def certainty_words(part: Part) -> str:
    """Format the certainty of a part, and whether it is only possible: `UPPER_BOUND, possible`."""
    return f"{part.certainty.value}, possible" if part.possible else part.certainty.value


def part_words(part: Part, longest_name: int = LONGEST_PATH) -> str:
    """Format a part: `0:120..130, 1:88` for offsets by partition; names of files; a version.

    Args:
        longest_name: maximum length of a file's name; longer names lose their middle.
    """
    if part.kind is PartKind.OFFSETS:
        ranges = [partition_text(span.partition, span.start, span.end) for span in part.offsets]
        more = (
            f", and {len(ranges) - _MOST_RANGES} more range{'s' * (len(ranges) > _MOST_RANGES + 1)}"
            if len(ranges) > _MOST_RANGES
            else ""
        )
        incarnation = f" (topic {shortened(part.topic_id)})" if part.topic_id else ""
        return ", ".join(ranges[:_MOST_RANGES]) + more + incarnation if ranges else "no records"
    if part.kind is PartKind.FILES:
        names = [shortened(path.rpartition("/")[2] or path, longest_name) for path in part.files]
        count = part.file_count if part.file_count is not None else len(names)
        if count <= _MOST_FILES and len(names) == count:
            return ", ".join(names) or "no files"
        return f"{count} files" + (f": {', '.join(names[:_MOST_FILES])}, …" if names else "")
    if part.kind is PartKind.SNAPSHOT:
        partitions = f" ({shortened(', '.join(part.partitions))})" if part.partitions else ""
        return f"version {shortened(part.version or '')}{partitions}"
    if part.kind is PartKind.CHANGES:
        return f"versions after {shortened(part.from_version or 'the beginning')} up to {shortened(part.version or '')}"
    if part.kind is PartKind.OTHER:
        return shortened(part.text or "")
    bound = f", since {moment_text(part.since)}" if part.since is not None else ""
    return f"some part{bound}"


def summary(found: Trace) -> str:
    """Last line of a trace: its size, and whether the trace is complete."""
    if not found.hops:
        return "No step is known beyond the start." if found.start else "No such records are known."
    steps = f"{amount(found.total, 'step')}, {amount(found.max_hops, 'hop')} deep"
    return f"{steps}; there is more: --depth all, or a greater --limit." if found.truncated else f"{steps}."


def blast_table(found: Blast) -> Table:
    """Table with the tainted and then the superseded parts of each dataset, one row for each part."""
    out = plain_table("hops", "dataset", "tainted", "certainty", "by", numbers=("hops",))
    jobs = {hop.number: _job(hop.step.job) if hop.step.job is not None else "–" for hop in found.hops}
    for each in found.tainted:
        by = ", ".join(dict.fromkeys(jobs[number] for number in each.hops))
        for n, part in enumerate(each.parts):
            certainty = Text(certainty_words(part), style=CERTAINTY_STYLES[part.certainty])
            out.add_row(
                str(each.depth) if n == 0 else "",
                asset_text(each.dataset) if n == 0 else "",
                part_words(part),
                certainty,
                by if n == 0 else "",
            )
        _superseded(out, each, by)
    return out


def _superseded(out: Table, each: Tainted, by: str) -> None:
    for n, gone in enumerate(each.superseded):
        first = n == 0 and not each.parts
        out.add_row(
            str(each.depth) if first else "",
            asset_text(each.dataset) if first else "",
            Text(gone_words(gone), style="dim"),
            Text("gone", style="dim"),
            by if first else "",
        )


def gone_words(gone: Superseded) -> str:
    """Format a tainted part that no longer exists: the part, the reason, and the step that replaced it."""
    words = f"{part_words(gone.part)}: {shortened(gone.why, 600)}"
    return words if gone.by is None else f"{words} By {step_words(gone.by)}."


def _without_outputs(found: Blast) -> Iterator[Step]:
    """Steps that read bad data, didn't fail, and have no known output."""
    for hop in found.hops:
        failed = hop.step.runs and all(run.state in _FAILED for run in hop.step.runs)
        if hop.inputs and not hop.outputs and not failed:
            yield hop.step


def blast_summary(found: Blast) -> str:
    """Last line of a blast radius: its size, and whether it is complete."""
    totals = found.totals
    origin = found.hops[0].step if found.hops and not found.start else None
    by = f"By {step_name(origin)}: " if origin is not None and origin.first_batch is not None else ""
    counts = [f"{by}{amount(totals.datasets, 'dataset')} tainted"]
    counts += [f"{amount(totals.offsets, 'record')} at most"] if totals.offsets else []
    counts += [amount(totals.files, "file")] if totals.files else []
    counts += [amount(totals.versions, "version")] if totals.versions else []
    counts += [f"{totals.unknown} of unknown extent"] if totals.unknown else []
    counts += [f"{totals.clean_again} clean again"] if totals.clean_again else []
    more = " There is more: a greater --limit." if found.truncated else ""
    counted = f"{', '.join(counts)}, over {amount(totals.steps, 'step')}.{more}"
    if ending := list(dict.fromkeys(map(step_name, _without_outputs(found)))):
        verb = "reads" if len(ending) == 1 else "read"
        jobs = first_of(ending, _MOST_ENDING)
        open_ = f"UNKNOWN: {jobs} {verb} bad data, but no output derived from it is known."
        counted = f"{counted} {open_}" if totals.datasets else f"{open_} {counted}"
    return "\n".join((counted, quality.lines(found.quality))) if found.quality else counted
