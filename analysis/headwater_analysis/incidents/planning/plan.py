"""Repair plan of an incident: steps in an order after which no bad data is left.

| step      | comes after                                                                             |
|-----------|-----------------------------------------------------------------------------------------|
| NOTIFY    | nothing: consumers of bad data have to know at once                                     |
| CORRECT   | nothing; one step for each part of the scope that still has bad data                    |
| RERUN, REPROCESS | corrections of the step or its input, and the steps that write its input (`order`) |
| DECLARE   | the steps that write the dataset; only for data whose repair the graph can't show       |
| NOTIFY    | the steps that clean the datasets that the consumer reads                               |
| RESOLVE   | all other steps                                                                         |

The plan is computed from the graph as it is now: a step disappears when a rerun has replaced its bad data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater_analysis.amounts import amount
from headwater_analysis.assets import Asset
from headwater_analysis.blast.blast_radius import LIMIT, split_outputs
from headwater_analysis.incidents.answers import IncidentReach, ResolvedPart
from headwater_analysis.incidents.planning.commands import FILE, PlanCommands, narrowing
from headwater_analysis.incidents.planning.order import BadStep, RepairGroup, repair_groups
from headwater_analysis.incidents.planning.planned import IncidentPlan, RepairStep, RepairStepKind
from headwater_analysis.incidents.planning.reruns import Rerun
from headwater_analysis.incidents.planning.steps import MOST_SHOWN, job_name, writing_step
from headwater_analysis.incidents.questions import stored_incident
from headwater_analysis.incidents.reach import reach_of
from headwater_analysis.incidents.repairs import DeclaredRepairs
from headwater_analysis.incidents.unknown import unknown_parts, unknown_sentences
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.last_good_run import quality_turns
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.follow import follow
from headwater_analysis.trace.parts import Datasets, join
from headwater_analysis.trace.traced_parts import Part, PartKind, RunBrief, spans_of, weakest
from headwater_graph.facts.spans import difference, flat
from headwater_graph.incidents import IncidentState
from headwater_graph.keys import dataset_key
from headwater_schemas.ranges import MOST_OFFSET


def plan(reader: Reader, incident_id: str, *, limit: int = LIMIT, arrivals: Arrivals | None = None) -> IncidentPlan:
    """Plan the repair of everything that an incident reached, as the graph is now.

    Args:
        incident_id: id of the incident, or the beginning of the id.
        limit: maximum number of steps that bad data passed through.
        arrivals: as in `trace`.

    Raises:
        NotFoundError: no incident has this id.
        AmbiguousError: several ids have this beginning.
    """

    def question(tx: Transaction) -> IncidentPlan:
        stored, state = stored_incident(tx, incident_id)
        reach = reach_of(tx, state, limit=limit, arrivals=arrivals)
        return plan_of(tx, stored["incident"], state, reach, limit=limit)

    return reader.read(question)


def plan_of(
    tx: Transaction, incident: str, state: IncidentState, reach: IncidentReach, *, limit: int = LIMIT
) -> IncidentPlan:
    """Plan the repair of an incident with this id, state and reach, as part of another question; see `plan`."""
    return _Planner(tx, incident, state, reach, limit).planned()


@dataclass(frozen=True, slots=True)
class _Correction:
    """Corrections that one part of the scope needs.

    Attributes:
        part: the part.
        starts: keys of the datasets that the part names, if they hold bad data.
        steps: steps that wrote bad data themselves, or that wrote the data that the part names.
        loads: keys of those datasets of `starts` with bad data that no known step wrote.
    """

    part: ResolvedPart
    starts: frozenset[str]
    steps: tuple[BadStep, ...]
    loads: frozenset[str]


class _Planner:
    def __init__(self, tx: Transaction, incident: str, state: IncidentState, reach: IncidentReach, limit: int) -> None:
        self._context = Context(tx, Datasets(tx), backward=False, horizon=None, limit=limit)
        self._incident, self._state, self._reach, self._limit = incident, state, reach, limit
        self._commands = PlanCommands(incident, tx.tenant)
        self._steps: list[RepairStep] = []
        self._clean: dict[str, set[int]] = defaultdict(set)
        """Key of a dataset ⇒ numbers of the steps that clean it."""
        self._appended: dict[str, list[Part]] = defaultdict(list)
        """Key of a dataset ⇒ bad parts that the graph won't show as clean after the steps."""
        self._reruns: dict[str, list[Rerun]] = defaultdict(list)
        """Key of a dataset ⇒ later runs that may have repaired it."""

    def planned(self) -> IncidentPlan:
        reach = self._reach
        repairs = DeclaredRepairs(self._context, self._state)
        left: dict[int, list[Part]] = defaultdict(list)
        outputs = split_outputs(self._context, reach.blast.hops, repairs.split)
        for hop, _, rest, _ in outputs:
            left[hop.number] += [] if rest is None else [rest]
        bad = [
            BadStep(hop, tuple(left[hop.number]), frozenset(part.dataset.key for part in hop.inputs))
            for hop in reach.blast.hops
            if left[hop.number]
        ]
        start = [part for one in reach.start for part in one.parts]
        writers, is_cut = self._writers(start)
        corrections = [each for part in reach.scope if (each := self._correction(part, bad, start, writers))]
        self._add_all(corrections, repair_groups([*bad, *writers]))
        unknown = (*unknown_parts(reach), *(["who wrote the first bad data, beyond a limit"] if is_cut else []))
        spreading = tuple(each.text for each in reach.may_spread)
        complete = reach.complete and not is_cut
        return IncidentPlan(
            incident=self._incident,
            title=self._state.title,
            steps=tuple(self._steps),
            clean_again=len({hop.number for hop, *_ in outputs if not left[hop.number]}),
            nothing_left=complete and not (self._steps or unknown or spreading),
            complete=complete,
            unknown=unknown,
            not_known=tuple(unknown_sentences(reach)),
            spreading=spreading,
            notes=reach.blast.notes,
        )

    def _writers(self, start: Sequence[Part]) -> tuple[list[BadStep], bool]:
        """Steps that wrote the data that the scope names, and whether a limit left some out."""
        context = Context(self._context.tx, self._context.datasets, backward=True, horizon=None, limit=self._limit)
        found = follow(context, start, depth=1, limit=self._limit)
        steps = [
            BadStep(replace(hop, depth=0), hop.outputs, frozenset(), wrote_start=True)
            for hop in found.hops
            if hop.outputs
        ]
        return steps, context.cut

    def _correction(
        self, part: ResolvedPart, bad: Sequence[BadStep], start: Sequence[Part], writers: Sequence[BadStep]
    ) -> _Correction | None:
        named = {each.dataset.key for each in part.parts}
        starts = frozenset(each.dataset.key for each in start if each.dataset.key in named)
        own = [step for step in bad if step.hop.number in part.hops]
        wrote = [step for step in writers if any(each.dataset.key in starts for each in step.left)]
        written = [each for step in wrote for each in step.left]
        loads = frozenset(
            each.dataset.key for each in start if each.dataset.key in starts and _is_of_others(each, written)
        )
        is_consumer = part.part.consumer in self._reach.undeclared_consumers
        found = _Correction(part, starts, (*own, *wrote), loads)
        return found if found.steps or loads or is_consumer else None

    def _add(self, kind: RepairStepKind, title: str, after: Iterable[int] = (), **fields: Any) -> int:
        number = len(self._steps) + 1
        self._steps.append(RepairStep(number=number, kind=kind, after=tuple(sorted(after)), title=title, **fields))
        return number

    def _add_all(self, corrections: Sequence[_Correction], groups: Sequence[RepairGroup]) -> None:
        consumers = self._reach.blast.consumers
        if consumers:
            self._add(
                RepairStepKind.NOTIFY,
                f"Notify {amount(len(consumers), 'consumer')}: their input holds bad data",
                consumers=consumers,
            )
        corrected = [(each, self._correct(each)) for each in corrections]
        self._rewrite(corrected, groups)
        self._declare()
        for consumer in consumers:
            keys = [self._key_of(read) for read in consumer.reads]
            is_whole = consumer.reads_total == len(consumer.reads)
            cleaned = self._clean.values() if not is_whole else [self._clean[key] for key in dict.fromkeys(keys)]
            gates = (self._commands.gate(replace(read, column=None)) for read in consumer.reads)
            self._add(
                RepairStepKind.NOTIFY,
                f"Notify {consumer.name}: the datasets that it reads are clean again",
                set[int]().union(*cleaned),
                consumers=(consumer,),
                commands=tuple(dict.fromkeys(gates)),
            )
        if self._steps:
            needed = {number for step in self._steps for number in step.after}
            unfinished = (
                [] if self._reach.complete else ["The reach of the incident isn't fully known: clarify it first."]
            )
            self._add(
                RepairStepKind.RESOLVE,
                f"Resolve {self._incident}",
                {step.number for step in self._steps} - needed,
                notes=tuple(unfinished),
                commands=(self._commands.refresh(), self._commands.resolve()),
            )

    def _key_of(self, read: Asset) -> str:
        return self._context.datasets.shown_key(dataset_key(self._context.tx.tenant, read.namespace, read.name))

    def _correct(self, each: _Correction) -> int:
        part = each.part.part
        jobs = {step.hop.step.job.key: step.hop.step.job for step in each.steps if step.hop.step.job is not None}
        runs = tuple({run.run_id: run for step in each.steps for run in step.hop.step.runs}.values())
        outputs = join(one for t in self._reach.start for one in t.parts if one.dataset.key in each.starts)
        fields: dict[str, Any] = {}
        if len(jobs) == 1:
            [fields["job"]] = jobs.values()
            fields["good_code_version"] = self._good_code(fields["job"])
        number = self._add(
            RepairStepKind.CORRECT,
            f"Correct {part.text}",
            runs=runs,
            outputs=outputs,
            certainty=weakest(each.part.certainty, *(one.certainty for one in outputs)),
            notes=tuple(self._correction_notes(each, list(jobs.values()), runs)),
            commands=(
                *(self._commands.show_run(run.run_id) for run in runs[:MOST_SHOWN]),
                *([self._commands.repair_consumer(part.consumer)] if part.consumer is not None else []),
            ),
            **fields,
        )
        for one in outputs:
            if one.dataset.key in each.loads:
                self._clean[one.dataset.key].add(number)
                self._appended[one.dataset.key].append(one)
        return number

    def _correction_notes(self, each: _Correction, jobs: Sequence[Asset], runs: Sequence[RunBrief]) -> Iterable[str]:
        part = each.part.part
        if part.consumer is not None:
            yield "A consumer holds no data that the graph knows: correct the consumer itself."
        if part.column is not None:
            yield f"The bad data is in column {part.column}."
        for key in sorted(each.loads):
            name = self._context.datasets[key].spelling
            if each.steps:
                yield f"No known run wrote some of the bad data in {name}: load this part again from its source."
            else:
                yield f"No known run wrote the bad data in {name}: load it again from its source."
        if jobs:
            named = ", ".join(sorted(job_name(job) for job in jobs))
            codes = ", ".join(sorted({run.code_version for run in runs if run.code_version is not None}))
            code = f" with code {codes}" if codes else ", with code of unknown version"
            yield f"The bad data was written by {named}{code}: correct the code, its configuration, or its input."
        if each.part.why:
            yield each.part.why

    def _good_code(self, job: Asset) -> str | None:
        """Code version of the last good run before the first bad one; None: not known."""
        turns = [turn for turn in quality_turns(self._context.tx, job) if turn.first_bad_run or turn.first_bad]
        runs = [turn.last_good_run for turn in turns if turn.last_good_run is not None]
        codes = {run.code_version for run in runs}
        return codes.pop() if len(codes) == 1 else None

    def _rewrite(self, corrected: Sequence[tuple[_Correction, int]], groups: Sequence[RepairGroup]) -> None:
        numbers: list[int] = []
        tainted = frozenset(run.run_id for hop in self._reach.blast.hops for run in hop.step.runs)
        for group in groups:
            after = {numbers[index] for index in group.after}
            for each, number in corrected:
                if each.loads & group.reads or any(step in each.steps for step in group.steps):
                    after.add(number)
            step = writing_step(self._context, group, self._commands, tainted)
            numbers.append(self._add(step.kind, after=after, **step.fields))
            for key in group.writes:
                self._clean[key].add(numbers[-1])
            for part in step.appended:
                self._appended[part.dataset.key].append(part)
            for key, found in step.reruns.items():
                self._reruns[key] += found

    def _declare(self) -> None:
        named = sorted((join(parts) for parts in self._appended.values()), key=self._order)
        for parts in named:
            [dataset] = {part.dataset.key: part.dataset for part in parts}.values()
            of_files = [part for part in parts if narrowing(part)[0] == FILE]
            others = [part for part in parts if part not in of_files]
            notes = ["The step disappears from the plan when the graph gets an overwrite of this data."]
            if any(part.kind is PartKind.OFFSETS for part in parts):
                notes = ["Records of a topic can't be overwritten: declare them once all readers skip them."]
            if not all(narrowing(part)[0] for part in parts):
                notes.append("The bad part isn't known: the command declares the whole dataset.")
            evidence = self._reruns[dataset.key]
            notes += [each.note for each in evidence]
            number = self._add(
                RepairStepKind.DECLARE,
                f"Declare {dataset.spelling} repaired",
                self._clean[dataset.key],
                outputs=parts,
                certainty=weakest(*(part.certainty for part in parts)),
                notes=tuple(notes),
                commands=tuple(
                    dict.fromkeys(
                        (
                            *(each.command(self._commands) for each in evidence),
                            *(text for part in others for text in self._commands.repair(part)),
                        )
                    )
                ),
                file_commands=tuple(text for part in of_files for text in self._commands.repair(part)),
            )
            self._clean[dataset.key].add(number)

    def _order(self, parts: Sequence[Part]) -> tuple[int, str, str]:
        dataset = parts[0].dataset
        return min(self._clean[dataset.key]), dataset.namespace, dataset.name


def _is_of_others(part: Part, written: Iterable[Part]) -> bool:
    """Return whether the written parts lack some data of a part.

    Parts other than records and files count as a whole.
    """
    same = [each for each in written if each.dataset.key == part.dataset.key]
    if part.kind is PartKind.OFFSETS and same:
        rest = difference(spans_of(part.offsets), spans_of(span for each in same for span in each.offsets))
        # A whole topic ends at MOST_OFFSET: beyond the known records there is nothing to load.
        return any(end != MOST_OFFSET for _, _, end in flat(rest))
    if part.kind is PartKind.FILES and part.files and all(each.kind is PartKind.FILES for each in same):
        return not set(part.files) <= {path for each in same for path in each.files}
    return not same
