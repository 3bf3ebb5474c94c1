"""Question for a blast radius."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

from headwater_analysis.blast.origin import BadBatches, BadRun, batches_origin, run_origin
from headwater_analysis.blast.superseded import Replacements
from headwater_analysis.blast.tainted import Blast, Superseded, Tainted, Totals
from headwater_analysis.declared import consumers_of_datasets
from headwater_analysis.errors import QuestionError
from headwater_analysis.quality import quality_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.follow import follow
from headwater_analysis.trace.parts import Datasets, is_empty, join
from headwater_analysis.trace.starts import Starts, check, parts_of_start
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind, offsets, spans_of, surest, weakest
from headwater_graph.facts.spans import difference
from headwater_schemas.events import Certainty

LIMIT = 1_000
_SUREST = (Certainty.EXACT, Certainty.INFERRED, Certainty.UPPER_BOUND, Certainty.UNKNOWN)


def blast(
    reader: Reader,
    start: BadRun | BadBatches | Starts,
    *,
    depth: int | None = None,
    limit: int = LIMIT,
    horizon: timedelta | None = None,
    arrivals: Arrivals | None = None,
) -> Blast:
    """Find everything derived from bad data that still exists.

    Args:
        start: a run, micro-batches, or a start of `trace`: bad records of a topic, files, a version.
        depth: maximum number of hops beyond the outputs of the run or micro-batches; None: unlimited.
        horizon: as in `trace`.
        arrivals: as in `trace`.

    Raises:
        NotFoundError: there is no such run, query, micro-batch or topic.
        AmbiguousError: several queries or topics have this name.
        QuestionError: a range that ends before it begins, a limit below 1.
        AnalysisError: see the tree in `errors`.
    """
    if limit < 1:
        raise QuestionError("The limit is at least 1.", field="limit")
    if not isinstance(start, BadRun | BadBatches):
        check(start, depth, limit)

    def question(tx: Transaction) -> Blast:
        context = Context(tx, Datasets(tx), backward=False, horizon=horizon, limit=limit, arrivals=arrivals)
        origin: list[Hop] = []
        parts: list[Part] = []
        if isinstance(start, BadRun):
            origin = run_origin(context, start.run_id)
        elif isinstance(start, BadBatches):
            origin = [batches_origin(context, start)]
        else:
            parts = parts_of_start(context, start)
        return blast_in(context, parts, origin, depth=depth, limit=limit)

    return reader.read(question)


Repairs: TypeAlias = Callable[[Hop | None, Part], tuple[Part | None, list[Superseded]]]
"""Function of a hop and a part that splits the part into the rest that is still bad, and the parts declared repaired.

Hop None: the part may have been written by any hop.
"""


def blast_in(
    context: Context,
    parts: Sequence[Part],
    origins: Sequence[Hop],
    *,
    depth: int | None = None,
    limit: int = LIMIT,
    repairs: Repairs | None = None,
    bad_start: Iterable[str] | None = None,
) -> Blast:
    """Find everything derived from bad data, as part of another question.

    Args:
        context: context of the trace, forwards.
        parts: bad parts of datasets.
        origins: runs and micro-batches that wrote bad data themselves, numbered from 1.
        depth, limit: as in `blast`.
        repairs: removes parts that were declared repaired; None: no part was declared.
        bad_start: keys of the datasets of `parts` that still hold bad data; None: all datasets of `parts` do.
    """
    found = follow(
        context,
        parts,
        depth=depth,
        limit=limit,
        first=origins,
        passes=None if repairs is None else lambda hop: not _read_repaired(hop, repairs),
    )
    tainted = _tainted(context, found.hops, repairs, shift=0 if origins else 1)
    still_bad = {part.dataset.key for part in found.start} if bad_start is None else set(bad_start)
    still_bad |= {one.dataset.key for one in tainted if one.parts}
    return Blast(
        start=found.start,
        tainted=tainted,
        hops=found.hops,
        totals=_totals(tainted, found.hops),
        consumers=consumers_of_datasets(context.tx, still_bad),
        quality=tuple(quality_of(context.tx, (each.dataset for each in tainted))),
        notes=tuple(context.notes),
        truncated=found.truncated,
    )


def _read_repaired(hop: Hop, repairs: Repairs) -> bool:
    """Return whether a step began after the repairs of all bad parts that it read."""
    began = hop.step.started_at
    if not hop.inputs or began is None:
        return False
    for part in hop.inputs:
        left, gone = repairs(None, part)
        if left is not None or any(each.at is None or each.at > began for each in gone):
            return False
    return True


def split_outputs(
    context: Context, hops: Iterable[Hop], repairs: Repairs | None = None
) -> list[tuple[Hop, Part, Part | None, list[Superseded]]]:
    """Split each part of the steps' output into the rest that is still bad, and the data that is gone.

    Returns:
        For each part: its step, the part, the rest that is still bad (None: nothing), and the parts that are gone.
    """
    written = [
        (hop, replace(part, certainty=weakest(hop.overall, part.certainty))) for hop in hops for part in hop.outputs
    ]
    replacements = Replacements(context, [part for _, part in written])
    out: list[tuple[Hop, Part, Part | None, list[Superseded]]] = []
    for hop, part in written:
        if is_empty(part):
            continue
        left, gone = replacements.split(part)
        if left is not None and repairs is not None:
            left, repaired = repairs(hop, left)
            gone = [*gone, *repaired]
        out.append((hop, part, left, gone))
    return out


def _tainted(context: Context, hops: Iterable[Hop], repairs: Repairs | None, *, shift: int) -> tuple[Tainted, ...]:
    by_dataset: dict[str, list[tuple[Hop, Part | None, list[Superseded]]]] = defaultdict(list)
    for hop, part, left, gone in split_outputs(context, hops, repairs):
        by_dataset[part.dataset.key].append((hop, left, gone))
    out = []
    for key, items in by_dataset.items():
        tainted = _by_certainty(part for _, part, _ in items if part is not None)
        superseded = tuple(dict.fromkeys(each for _, _, some in items for each in some))
        out.append(
            Tainted(
                dataset=context.datasets[key],
                depth=min(hop.depth for hop, _, _ in items) - shift,
                parts=tainted,
                superseded=superseded,
                hops=tuple(sorted({hop.number for hop, _, _ in items})),
                certainty=surest([part.certainty for part in tainted] or [each.part.certainty for each in superseded]),
            )
        )
    return tuple(sorted(out, key=lambda each: (each.depth, each.dataset.namespace, each.dataset.name)))


def _by_certainty(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Join parts of equal certainty. Data that a more certain part has is removed from the less certain parts."""
    groups: dict[Certainty, list[Part]] = defaultdict(list)
    for part in parts:
        groups[part.certainty].append(part)
    out: list[Part] = []
    for certainty in _SUREST:
        surer = tuple(out)
        out += [left for part in join(groups[certainty]) if not is_empty(left := _without(part, surer))]
    return tuple(out)


def _without(part: Part, surer: Iterable[Part]) -> Part:
    comparable = [each for each in surer if each.kind is part.kind and each.topic_id == part.topic_id]
    if part.kind is PartKind.OFFSETS:
        left = difference(spans_of(part.offsets), spans_of(span for each in comparable for span in each.offsets))
        return part if left == spans_of(part.offsets) else replace(part, offsets=offsets(left), rows=None)
    if part.kind is PartKind.FILES and len(part.files) == part.file_count:
        known = {path for each in comparable for path in each.files}
        files = tuple(path for path in part.files if path not in known)
        return part if files == part.files else replace(part, files=files, file_count=len(files), rows=None)
    return part


def _totals(tainted: Iterable[Tainted], hops: Iterable[Hop]) -> Totals:
    tainted = list(tainted)
    parts = [part for each in tainted for part in each.parts]
    return Totals(
        datasets=sum(1 for each in tainted if each.parts),
        clean_again=sum(1 for each in tainted if not each.parts),
        offsets=sum(span.end - span.start for part in parts for span in part.offsets),
        files=sum(part.file_count or len(part.files) for part in parts if part.kind is PartKind.FILES),
        versions=sum(1 for part in parts if part.kind is PartKind.SNAPSHOT),
        unknown=sum(1 for each in tainted if any(part.kind is PartKind.UNKNOWN for part in each.parts)),
        steps=sum(1 for _ in hops),
    )
