"""Later runs of a job with other code, on the same inputs: evidence of a repair that the graph can't prove.

A MERGE or an append proves nothing: the bad rows may still be in the dataset, next to the new rows. So such a run
removes no bad data from the reach. The plan names the run in the step in which people declare the repair. A run that
overwrote the bad data needs no evidence: the overwrite itself removes the bad data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from headwater_analysis.assets import Asset
from headwater_analysis.incidents.planning.commands import PlanCommands
from headwater_analysis.trace.batches import Run, read_run, same_topic
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_analysis.trace.uses import StoredUse, common_files
from headwater_graph.facts.spans import difference, flat, union
from headwater_schemas.events import Certainty
from headwater_schemas.identity import utc_text

MOST_RERUNS: Final = 3
"""Maximum number of reruns that one step of a plan names for a dataset: the latest ones."""
_KNOWN: Final = (Certainty.EXACT, Certainty.INFERRED)


@dataclass(frozen=True, slots=True)
class Rerun:
    """A later run of a bad run's job with other code, which read the same inputs and wrote the same dataset.

    Attributes:
        run: the later run.
        bad: the bad run.
        dataset: the dataset.
    """

    run: Run
    bad: Run
    dataset: Asset

    @property
    def note(self) -> str:
        """Sentences on the rerun, and on what to check and declare."""
        later, bad = self.run.brief, self.bad.brief
        at = self.run.ended_at or self.run.started_at
        when = "" if at is None else f" at {utc_text(at)}"
        return (
            f"Run {later.run_id} of code {later.code_version} read the same inputs as run {bad.run_id} of code "
            f"{bad.code_version}, and wrote {self.dataset.spelling}{when}. If its write replaced the bad rows, declare "
            "the dataset repaired."
        )

    def command(self, commands: PlanCommands) -> str:
        """Command that shows the later run."""
        return commands.show_run(self.run.brief.run_id)


def reruns(
    context: Context, bad: Sequence[Run], left: Iterable[Part], tainted: frozenset[str]
) -> dict[str, list[Rerun]]:
    """Find reruns of bad runs. Returns for the key of each dataset: its latest reruns, at most `MOST_RERUNS`.

    Args:
        context: context of the trace, forwards.
        bad: bad runs of one batch job.
        left: parts of the bad runs' output that hold bad data, and that no rerun is known to replace.
        tainted: ids of all runs that bad data passed through. Such a run repaired nothing, so it is no rerun.
    """
    times = [run.ended_at or run.started_at for run in bad]
    begins = [time for time in times if time is not None]
    datasets = {part.dataset.key: part.dataset for part in left}
    names = [(name, key) for key in sorted(datasets) for name in context.datasets.keys_of(key)]
    found: dict[str, list[Rerun]] = {}
    if not begins or not any(run.brief.code_version for run in bad):
        return found
    wants = [{"n": n, "dataset": name, "since": min(begins)} for n, (name, _) in enumerate(names)]
    for row in context.tx.rows("blast/later_writers", wants=wants, limit=context.limit):
        later, (name, key) = read_run(row), names[row["n"]]
        listed = found.setdefault(key, [])
        if later.brief.run_id in tainted or not later.writes(name) or len(listed) >= MOST_RERUNS:
            continue
        bad_run = next((run for run in bad if _is_rerun(context, run, later, name)), None)
        if bad_run is not None:
            listed.append(Rerun(later, bad_run, datasets[key]))
    return found


def _is_rerun(context: Context, bad: Run, later: Run, name: str) -> bool:
    """Return whether a later run of the same job has other code, and inputs that cover the bad run's inputs."""
    ended = bad.ended_at or bad.started_at
    codes = bad.brief.code_version, later.brief.code_version
    if None in codes or codes[0] == codes[1] or bad.job is None or later.job is None or bad.job.key != later.job.key:
        return False
    if ended is None or later.started_at is None or later.started_at < ended or not bad.writes(name):
        return False
    read = bad.reads()
    return bool(read) and all(_covers(use, _uses_of(context, later, use.dataset)) for use in read)


def _uses_of(context: Context, run: Run, dataset: str) -> list[StoredUse]:
    names = context.datasets.keys_of(dataset)
    return [use for name in names for use in run.reads(name) if use.certainty in _KNOWN]


def _covers(use: StoredUse, others: Sequence[StoredUse]) -> bool:
    """Return whether other uses of the same dataset are known to cover a use."""
    same = [other for other in others if other.kind is use.kind]
    if use.kind is PartKind.OFFSETS:
        read = [other.spans for other in same if same_topic(use.topic_id, other.topic_id)]
        return bool(use.spans) and not difference(use.spans, union(span for spans in read for span in flat(spans)))
    if use.kind is PartKind.FILES:
        files = tuple(path for other in same for path in other.files)
        return use.lists_all and len(common_files(use.files, files)) == len(use.files)
    if use.kind is PartKind.SNAPSHOT:
        return any(_version(use) == _version(other) for other in same)
    return False


def _version(use: StoredUse) -> tuple[str, str]:
    return str(use.properties.get("format")), str(use.properties["snapshot_id"])
