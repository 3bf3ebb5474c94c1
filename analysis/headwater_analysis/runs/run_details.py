"""One run: its details, inputs and outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from headwater_analysis import micro_batches, paging
from headwater_analysis.assets import Asset
from headwater_analysis.facets import contents, facets_of
from headwater_analysis.hidden import SeenDatasets, run_seen, sources_seen
from headwater_analysis.identity import Identities
from headwater_analysis.micro_batches import Stretch, of_run
from headwater_analysis.moments import moment
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.from_rows import interval_items, quality, use
from headwater_analysis.runs.notes import notes
from headwater_analysis.runs.records import (
    BusinessVersion,
    Role,
    RunDetails,
    RunItem,
    RunParent,
    Use,
    UsePage,
)
from headwater_analysis.runs.run_names import resolve_run
from headwater_analysis.schemas import first_reports
from headwater_analysis.trace.traced_parts import OffsetSpan, weakest
from headwater_graph.keys import run_key
from headwater_schemas.events import Certainty

MOST_SHOWN = 20
"""Maximum number of inputs, and of outputs, in a run's details."""
MOST_USES = 10_000
"""Maximum number of a run's uses of datasets to read."""


def run(reader: Reader, run_id: str) -> RunDetails:
    """Return the details of one run.

    Args:
        run_id: id of the run, or its node's key.

    Raises:
        NotFoundError: no run has this id.
    """
    return reader.read(lambda tx: details_of(tx, resolve_run(tx, run_id)))


def details_of(tx: Transaction, item: RunItem) -> RunDetails:
    """Return the details of a resolved run."""
    row = tx.rows("runs/details", run=item.key)[0]
    own = run_seen(tx, row["details"])
    facets = facets_of(own)
    read, wrote = uses_of(tx, item, Role.READ), uses_of(tx, item, Role.WROTE)
    unchanged = (
        *("engine", "engine_version", "capture_version", "error_stack", "publication", "checkpoint_location"),
        *("script", "repository", "branch", "package", "image", "user", "service", "campaign", "statement"),
        *("rows_rejected", "provenance"),
    )
    return RunDetails(
        run=item,
        **{name: own[name] for name in unchanged},
        nominal_start=moment(own["nominal_start"]),
        nominal_end=moment(own["nominal_end"]),
        first_seen=moment(own["first_seen"]),
        last_seen=moment(own["last_seen"]),
        parent=_ancestor(own, "parent"),
        root=_ancestor(own, "root"),
        children=row["children"],
        intervals=tx.rows("runs/count_of_run", run=item.key)[0]["total"],
        inputs=tuple(read[:MOST_SHOWN]),
        inputs_total=len(read),
        outputs=tuple(wrote[:MOST_SHOWN]),
        outputs_total=len(wrote),
        business_versions=business_versions(item.run_id, references(tx, read), _made_from(wrote)),
        quality=quality(own),
        notes=notes(contents(facets), named=tx.visible is None),
        facets=facets,
    )


def business_versions_of(tx: Transaction, item: RunItem) -> tuple[BusinessVersion, ...]:
    """Versions of reference data that went into a resolved run's outputs."""
    found = references(tx, uses_of(tx, item, Role.READ))
    return business_versions(item.run_id, found, _made_from(uses_of(tx, item, Role.WROTE))) if found else ()


def _made_from(wrote: Iterable[Use]) -> list[tuple[Asset, Collection[str] | None]]:
    return [(each.dataset, each.inputs) for each in wrote]


def uses(reader: Reader, run_id: str, role: Role, *, limit: int = 100, cursor: str | None = None) -> UsePage:
    """List the datasets that a run read (or wrote), by name, each with the part that the run used.

    Raises:
        NotFoundError: no such run.
        QuestionError: the cursor belongs to another question.
    """

    def question(tx: Transaction) -> UsePage:
        item = resolve_run(tx, run_id)
        asked = ("uses", tx.tenant, item.key, role)
        start = paging.decode_start(cursor, question=asked)
        ordered = uses_of(tx, item, role)
        after = start + limit
        following = paging.encode((after,), question=asked) if after < len(ordered) else None
        return UsePage(item, role, tuple(ordered[start:after]), len(ordered), following)

    return reader.read(question)


def uses_of(tx: Transaction, item: RunItem, role: Role) -> list[Use]:
    """Inputs or outputs of a run, by name."""
    type_ = "CONSUMED" if role is Role.READ else "PRODUCED"
    own = tx.rows("runs/uses", run=item.key, use=type_, limit=MOST_USES)
    seen = SeenDatasets.of(tx)
    found = {_use_key(each): each for each in (use(row["dataset"], sources_seen(seen, row["part"])) for row in own)}
    for spanned in _spans(tx, item, role):
        # Micro-batches name a schema only for writes inside foreachBatch.
        reported = found.get(_use_key(spanned))
        digest = spanned.schema_digest or (reported.schema_digest if reported is not None else None)
        found[_use_key(spanned)] = replace(spanned, schema_digest=digest)
    ordered = sorted(found.values(), key=lambda each: (each.dataset.namespace, each.dataset.name, each.ordinal))
    since = first_reports(tx, [_schema(each) for each in ordered if each.schema_digest is not None])
    return [replace(each, schema_since=since.get(_schema(each))) for each in ordered]


def _schema(use: Use) -> tuple[str, str]:
    return use.dataset.key, use.schema_digest or ""


def _spans(tx: Transaction, item: RunItem, role: Role) -> list[Use]:
    """Uses of a streaming run, from its first micro-batch's start to its last one's end, by two index look-ups."""
    if item.first_batch is None or item.last_batch is None:
        return []
    known = tx.rows("runs/count_of_run", run=item.key)[0]["total"]
    complete = known >= item.last_batch - item.first_batch + 1
    out: dict[tuple[str, int], Use] = {}
    batches = item.last_batch - item.first_batch + 1
    for query in tx.rows("runs/queries_of_run", of=item.key):
        stretch, wanted = Stretch(query["key"], item.first_batch, item.last_batch), of_run(item.run_id)
        first = micro_batches.following(tx, [stretch], 1, wanted=wanted)[0]
        last = micro_batches.preceding(tx, [stretch], 1, wanted=wanted)[0]
        for interval in (*interval_items(tx, first), *interval_items(tx, last)):
            for each in interval.inputs if role is Role.READ else interval.outputs:
                before = out.get(_use_key(each))
                out[_use_key(each)] = each if before is None else joined(before, each, batches)
    return [each if complete else _bounded(each) for each in out.values()]


def _bounded(use: Use) -> Use:
    """Lower the certainty to UPPER_BOUND: there may be unknown batches between the known batches."""
    if use.certainty is None:
        return use
    return replace(use, certainty=weakest(use.certainty, Certainty.UPPER_BOUND))


def joined(first: Use, last: Use, batches: int) -> Use:
    """Merge the uses of a run's first and last micro-batch, from the start of the first to the end of the last.

    Values of one batch, such as rows, are left out. The run has `batches` micro-batches.
    """
    starts = {span.partition: span for span in first.offsets}
    ends = {span.partition: span for span in last.offsets}
    spans = []
    for partition in sorted(starts.keys() | ends.keys()):
        begin, end = starts.get(partition) or ends[partition], ends.get(partition) or starts[partition]
        spans.append(OffsetSpan(partition, begin.start, end.end))
    known = [each.certainty for each in (first, last) if each.certainty is not None]
    if first == last:
        return first
    if {first.position, last.position} == {"table_snapshot"} and first.version != last.version:
        return _versions(first, last, batches)
    made_from = None if first.inputs is None or last.inputs is None else {*first.inputs, *last.inputs}
    return replace(
        last,
        inputs=None if made_from is None else tuple(sorted(made_from)),
        offsets=tuple(spans),
        from_version=first.from_version,
        certainty=weakest(*known) if known else None,
        rows=None,
        bytes=None,
        files=None,
        paths=(),
        partitions=(),
    )


def _versions(first: Use, last: Use, batches: int) -> Use:
    """Range of a table's versions; it may include versions of other writers.

    Delta's versions are a range; ids of Iceberg's snapshots don't grow.
    """
    known = weakest(first.certainty or Certainty.UNKNOWN, last.certainty or Certainty.UNKNOWN)
    bounds = [int(each.version) for each in (first, last) if each.version is not None and each.version.isdecimal()]
    of_delta = last.format == "delta" and len(bounds) == 2
    if not of_delta or bounds[1] - bounds[0] + 1 != batches:
        known = weakest(known, Certainty.UPPER_BOUND)
    return replace(
        last,
        position="table_range" if of_delta else last.position,
        from_version=str(bounds[0] - 1) if of_delta and bounds[0] else None,
        text=f"{last.format} {first.version} to {last.version}",
        certainty=known,
        rows=None,
        bytes=None,
        files=None,
        partitions=(),
    )


def _use_key(each: Use) -> tuple[str, int]:
    return each.dataset.key, each.ordinal


def _ancestor(own: Mapping[str, Any], role: str) -> RunParent | None:
    """Build the run's `parent` or `root` from properties of the run; None if unknown."""
    if own[f"{role}_run_id"] is None:
        return None
    return RunParent(own[f"{role}_run_id"], own[f"{role}_job_namespace"], own[f"{role}_job_name"])


class Reference(NamedTuple):
    """Part of reference data that a run read.

    Attributes:
        names: keys of the dataset under all its names.
    """

    use: Use
    names: frozenset[str]


def references(tx: Transaction, read: Sequence[Use]) -> list[Reference]:
    """Uses among a run's inputs that are declared as reference data, in the same order."""
    names = _reference_names(tx, [use.dataset.key for use in read])
    return [Reference(use, names[use.dataset.key]) for use in read if use.dataset.key in names]


def _reference_names(tx: Transaction, keys: Collection[str]) -> dict[str, frozenset[str]]:
    """Keys of all names of the datasets among these that are declared as reference data, by the given key."""
    if not keys or not tx.declarations:
        return {}
    identities = Identities.of(tx)
    identities.look_at(keys)
    names = {key: frozenset(identities.members(key)) for key in keys}
    asked = frozenset[str]().union(*names.values())
    named = set(tx.one("declared/references", keys=sorted(asked))["keys"])
    return {key: each for key, each in names.items() if not named.isdisjoint(each)}


def references_of_runs(tx: Transaction, wrote: Mapping[str, Collection[Asset]]) -> tuple[BusinessVersion, ...]:
    """Versions of reference data that went into outputs of several runs, in order of run and reference dataset.

    Reference data that a streaming query reads anew in each micro-batch isn't listed. The number of statements doesn't
    depend on the number of runs.

    Args:
        wrote: outputs to explain, by id of the run that wrote them.
    """
    if not wrote or not tx.declarations:
        return ()
    runs = sorted(run_key(tx.tenant, run_id) for run_id in wrote)
    names = _reference_names(tx, tx.one("runs/read_by_runs", runs=runs)["keys"])
    rows = tx.rows("runs/references_of_runs", runs=runs, references=sorted(names)) if names else ()
    seen = SeenDatasets.of(tx)
    out: list[BusinessVersion] = []
    for row in rows:
        read = [use(each["dataset"], sources_seen(seen, each["part"])) for each in row["read"]]
        found = [Reference(each, names[each.dataset.key]) for each in sorted(read, key=_spelling)]
        made_from: dict[str, list[list[str] | None]] = defaultdict(list)
        for key, inputs in row["wrote"]:
            made_from[key].append(inputs)
        outputs = [(asset, inputs) for asset in wrote[row["run"]] for inputs in made_from.get(asset.key, [None])]
        out += business_versions(row["run"], found, outputs)
    return tuple(out)


def _spelling(use: Use) -> str:
    return use.dataset.spelling


def business_versions(
    run_id: str, found: Iterable[Reference], wrote: Collection[tuple[Asset, Collection[str] | None]]
) -> tuple[BusinessVersion, ...]:
    """Versions of reference data that went into a run's outputs, in the order of its inputs.

    Reference data are datasets for look-ups that are declared as `reference`: currencies, airports, price lists. The
    version that a run read explains its outputs, whenever it ran. The version of files is the list of files: a file
    that is overwritten under its own name looks unchanged.

    Args:
        run_id: id of the run.
        found: reference data that the run read.
        wrote: outputs of the run, each with the keys of the datasets that went into it; None: its producer doesn't
            record them.
    """
    out = []
    for read, names in found:
        made = (asset for asset, inputs in wrote if inputs is None or not names.isdisjoint(inputs))
        # Reference data that the run updates itself isn't an output computed with that data.
        outputs = {asset.key: asset for asset in made if asset.key not in names}
        if outputs:
            ordered = sorted(outputs.values(), key=lambda asset: (asset.namespace, asset.name))
            out.append(BusinessVersion(run_id, read, tuple(ordered)))
    return tuple(out)
