"""Steps of a repair plan that write data again: runs of a batch job, micro-batches of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_analysis.amounts import amount
from headwater_analysis.assets import Asset
from headwater_analysis.blast.superseded import replaced_by
from headwater_analysis.incidents.planning.commands import PlanCommands, clear_task, restore
from headwater_analysis.incidents.planning.orchestrators import airflow_tasks, mapped, partition_rules
from headwater_analysis.incidents.planning.order import RepairGroup
from headwater_analysis.incidents.planning.planned import Overwrite, QueryReplay, RepairStepKind
from headwater_analysis.incidents.planning.replays import query_replay
from headwater_analysis.incidents.planning.reruns import Rerun, reruns
from headwater_analysis.trace.batches import Run
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.match import described
from headwater_analysis.trace.parts import join, joined
from headwater_analysis.trace.traced_parts import Part, PartKind, RunBrief, weakest
from headwater_analysis.trace.uses import partitions_of
from headwater_graph.keys import run_key, version_key
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import batches_text

MOST_SHOWN: Final = 10
"""Maximum number of commands in a step that show a run."""
_MOST_REASONS: Final = 3
"""Maximum number of reasons for inexact hops that a step of a plan lists."""
_KEPT_BATCHES: Final = 100
"""Micro-batches that Spark keeps in a checkpoint by default (spark.sql.streaming.minBatchesToRetain)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWriting:
    """A step that writes data again.

    Attributes:
        kind: RERUN or REPROCESS.
        fields: values of further fields of `RepairStep`, by name.
        appended: parts of the output that the graph won't show as clean after the step, because the step overwrites
            nothing.
        reruns: for the key of each dataset with such parts: later runs that may have repaired it.
    """

    kind: RepairStepKind
    fields: dict[str, Any]
    appended: tuple[Part, ...]
    reruns: Mapping[str, list[Rerun]]


def writing_step(
    context: Context, group: RepairGroup, commands: PlanCommands, tainted: frozenset[str]
) -> PlannedWriting:
    """Find all facts for writing the output of a group again.

    Args:
        context: context of the trace, forwards.
        group: steps of one job or query with bad output.
        commands: commands of the plan.
        tainted: ids of all runs that bad data passed through.
    """
    streams = any(step.hop.step.query_id is not None for step in group.steps)
    step = _reprocess(context, group, commands) if streams else _rerun(context, group, commands, tainted)
    return replace(step, fields={**step.fields, "notes": (*step.fields["notes"], commands.campaign_note())})


def runs_of(group: RepairGroup) -> tuple[RunBrief, ...]:
    """Distinct runs of a group, the earliest first."""
    found = {run.run_id: run for step in group.steps for run in reversed(step.hop.step.runs)}
    order = dict.fromkeys(run.run_id for step in group.steps for run in step.hop.step.runs)
    return tuple(found[run_id] for run_id in order)


def job_name(job: Asset | None) -> str:
    """Name of a job."""
    return "a job" if job is None else job.name


def _rerun(context: Context, group: RepairGroup, commands: PlanCommands, tainted: frozenset[str]) -> PlannedWriting:
    briefs, outputs = runs_of(group), _outputs(group)
    job = group.steps[0].hop.step.job
    keys = [run_key(context.tx.tenant, run.run_id) for run in briefs]
    runs = context.runs(keys)
    overwritten = {part.dataset.key for part in outputs if _overwrites(context, runs, part)}
    appended = tuple(part for part in outputs if part.dataset.key not in overwritten)
    tasks, all_known = airflow_tasks(context.tx, keys)
    notes = [*_order_notes(group), *_sink_notes(appended)]
    if tasks and not all_known:
        notes.append("The Airflow task of some of these runs isn't known.")
    fields = {
        "title": f"Run {job_name(job)} again: {amount(len(briefs), 'run')}",
        "runs": briefs,
        "inputs": joined([(run, use) for run in runs for use in run.reads()], context.datasets),
        "overwrite": tuple(_overwrite(context, group, key) for key in _tables(outputs)),
        "commands": (
            *(commands.show_run(run.run_id) for run in briefs[:MOST_SHOWN]),
            *(clear_task(each.dag, each.task, each.logical_date) for each in tasks),
        ),
    }
    step = _step(context, RepairStepKind.RERUN, group, notes, fields, appended)
    return replace(step, reruns=reruns(context, runs, appended, tainted))


def _reprocess(context: Context, group: RepairGroup, commands: PlanCommands) -> PlannedWriting:
    first = group.steps[0].hop.step
    replay = query_replay(context, [step.hop for step in group.steps])
    briefs, outputs = runs_of(group), _outputs(group)
    name = first.query_name or job_name(first.job)
    which = "batches that aren't known"
    if replay is not None:
        which = ", ".join(batches_text(each.first_batch, each.last_batch) for each in replay.batches)
    fields = {
        "title": f"Reprocess {name}: {which}",
        "runs": briefs,
        "query": replay,
        "commands": tuple(commands.show_run(run.run_id) for run in briefs[:MOST_SHOWN]),
    }
    notes = [*_order_notes(group), *(() if replay is None else _replay_notes(replay)), *_sink_notes(outputs)]
    return _step(context, RepairStepKind.REPROCESS, group, notes, fields, outputs)


def _step(
    context: Context,
    kind: RepairStepKind,
    group: RepairGroup,
    notes: list[str],
    fields: dict[str, Any],
    appended: tuple[Part, ...],
) -> PlannedWriting:
    outputs = _outputs(group)
    skip = _skipped(group)
    unsure = (step.hop.why for step in group.steps if step.hop.overall is not Certainty.EXACT and step.hop.why)
    notes += list(dict.fromkeys(unsure))[:_MOST_REASONS]
    if skip:
        topics = ", ".join(sorted({part.dataset.spelling for part in skip}))
        notes.append(
            f"Leave out the bad records of {topics}: they stay in the topic, and correct records follow after them."
        )
    sql = tuple(filter(None, (_restored(context, appended, key) for key in dict.fromkeys(_keys(appended)))))
    if sql:
        notes.append("Restoring a table also removes good data that was written since.")
    common: dict[str, Any] = {
        "job": group.steps[0].hop.step.job,
        "outputs": outputs,
        "skip": skip,
        "certainty": weakest(*(part.certainty for part in outputs)),
        "notes": tuple(notes),
        "sql": sql,
    }
    return PlannedWriting(kind=kind, fields={**common, **fields}, appended=appended, reruns={})


def _outputs(group: RepairGroup) -> tuple[Part, ...]:
    return join(part for step in group.steps for part in step.left)


def _keys(parts: Sequence[Part]) -> list[str]:
    return [part.dataset.key for part in parts]


def _tables(outputs: Sequence[Part]) -> dict[str, None]:
    """Keys of the datasets that can be overwritten, as keys of a dict: all except topics."""
    return dict.fromkeys(part.dataset.key for part in outputs if part.kind is not PartKind.OFFSETS)


def _skipped(group: RepairGroup) -> tuple[Part, ...]:
    """Bad records that the group read from topics."""
    read = (part for step in group.steps if not step.wrote_start for part in step.hop.inputs)
    return join(part for part in read if part.kind is PartKind.OFFSETS)


def _overwrites(context: Context, runs: Sequence[Run], part: Part) -> bool:
    """Return whether all runs that wrote to the part's dataset overwrote the whole dataset, or partitions."""
    names = context.datasets.keys_of(part.dataset.key)
    uses = [use for run in runs for name in names for use in run.writes(name)]
    return bool(uses) and all(replaced_by(use) is not None for use in uses)


def _overwrite(context: Context, group: RepairGroup, key: str) -> Overwrite:
    parts = [part for part in _outputs(group) if part.dataset.key == key]
    dataset = parts[0].dataset
    known = [partitions_of(part) for part in parts]
    if all(each and all(each) for each in known):
        listed = tuple(sorted(frozenset[str]().union(*known)))
        return Overwrite(dataset=dataset, partitions=listed, why="These partitions hold bad data.")
    listed, why = _by_rules(context, group, key)
    if listed:
        return Overwrite(dataset=dataset, partitions=listed, why=why)
    return Overwrite(
        dataset=dataset,
        partitions=(),
        why=f"The partitions with bad data aren't known, so the whole dataset counts.{why}",
    )


def _by_rules(context: Context, group: RepairGroup, key: str) -> tuple[tuple[str, ...], str]:
    """Partitions of an output by the job's declared mappings, and a sentence.

    The partitions are empty unless the mappings fit all bad input of the job.
    """
    job = group.steps[0].hop.step.job
    rules = [] if job is None else partition_rules(context.tx, job.key)
    rules = [rule for rule in rules if context.datasets.shown_key(rule.output) == key]
    if not rules:
        return (), ""
    found: set[str] = set()
    read = [part for step in group.steps for part in step.hop.inputs]
    words = "; ".join(f"{rule.input_field} → {rule.output_field} ({rule.transform})" for rule in rules)
    # Output that the scope names isn't derived from bad input, so no mapping fits it.
    is_mapped = bool(read) and all(step.hop.inputs for step in group.steps)
    for part in read:
        reading = [rule for rule in rules if context.datasets.shown_key(rule.input) == part.dataset.key]
        made = {each for rule in reading for each in mapped(rule, partitions_of(part))}
        is_mapped &= bool(made)
        found |= made
    if not is_mapped:
        return (), f" The job declares {words}."
    return tuple(sorted(found)), f"By the declared mapping {words}."


def _order_notes(group: RepairGroup) -> Iterator[str]:
    if group.reads_own:
        yield "The job reads its own output: repair its runs one after the other, the earliest first."
    if group.in_cycle:
        yield (
            "The output comes back to the job through other jobs: the order begins at the job nearest to the bad data."
        )


def _sink_notes(appended: Sequence[Part]) -> Iterator[str]:
    for part in appended:
        name = part.dataset.spelling
        if part.kind is PartKind.OFFSETS:
            yield (
                f"Bad records stay in {name}: {described(part)}. Its readers have to skip them; correct records "
                "follow after them."
            )
        elif part.kind is PartKind.FILES:
            yield (
                f"First remove the bad files from {name}: {described(part)}. Otherwise readers see them together with "
                "the new files."
            )


def _replay_notes(replay: QueryReplay) -> Iterator[str]:
    if replay.restart_after is None:
        yield "The first micro-batch of the query is bad: a restart needs a new checkpoint."
    else:
        n = replay.restart_after
        yield (
            f"A checkpoint whose latest files are offsets/{n} and commits/{n} starts with batch {n + 1}. All later "
            f"micro-batches run again, too: {replay.newest_batch - n:,} are known."
        )
        if replay.newest_batch - n >= _KEPT_BATCHES:
            yield f"Spark keeps {_KEPT_BATCHES} micro-batches by default: batch {n} may be gone from the checkpoint."
    if (earlier := replay.earlier) is not None:
        if earlier.first_batch is None:
            begin = "from an unknown micro-batch on"
        else:
            begin = f"from batch {earlier.first_batch} on"
        time = "" if earlier.event_time is None else f" (event time {earlier.event_time:%Y-%m-%d %H:%M:%S}Z or later)"
        yield f"The query keeps state: reprocessing without the checkpoint needs earlier input, {begin}{time}."


def _restored(context: Context, appended: Sequence[Part], key: str) -> str | None:
    """Statement that restores a table to the version before its first bad version; None: that version isn't known."""
    parts = [part for part in appended if part.dataset.key == key]
    known = [
        (part.since, part.version)
        for part in parts
        if part.kind is PartKind.SNAPSHOT and part.since is not None and part.version is not None
    ]
    dataset, format_ = parts[0].dataset, parts[0].format or ""
    if len(known) < len(parts) or any(part.format != format_ for part in parts):
        return None
    if format_ == "delta":
        numbers = [int(version) for _, version in known if version.isdecimal()]
        before = min(numbers) - 1 if len(numbers) == len(known) else -1
        return None if before < 0 else restore(dataset, format_, str(before))
    _, first = min(known)
    keys = [version_key(context.tx.tenant, name, format_, first) for name in context.datasets.keys_of(key)]
    row = context.tx.row("incidents/version_parents", versions=keys)
    return None if row is None else restore(dataset, format_, row["parent"])
