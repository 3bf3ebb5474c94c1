"""Next revision of a set: its changes to the graph, its events, and their progress into the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from headwater_analysis.declared import Contradiction, Declaration, SetState, contradictions, merged, set_state
from headwater_analysis.declared.stored_declarations import (
    dataset_names,
    declarations,
    declared_edges,
    existing_declarations,
    feeds_elsewhere,
    holding_elsewhere,
    set_progress,
    unknown_datasets,
)
from headwater_analysis.declaring.cycles import cycles, declared_pairs
from headwater_analysis.declaring.difference import (
    ChangedDeclaration,
    Edges,
    SetResult,
    difference,
    edges_of,
    made,
    named_datasets,
    subject_key,
)
from headwater_analysis.declaring.sets import DeclaredSet, by_digest
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.keys import dataset_key
from headwater_schemas.events import DatasetRead, DatasetRef, DeclarationEvent, LineageEvent
from headwater_schemas.identity import canonical_lineage, declaration_digest
from headwater_schemas.naming import normal, spelling

_SAMPLES: Final = 100
"""Maximum number of declarations to look for while waiting for a revision."""


class OlderRevisionError(Exception):
    """The graph has a later revision of the set, or this revision with other content. Nothing was published.

    Attributes:
        set: id of the set.
    """

    def __init__(self, name: str, revision: int, given: int) -> None:
        super().__init__(
            f"Set {name!r} is at revision {revision} in the graph, and this file is revision {given} "
            "with other content."
        )
        self.set, self.revision, self.given = name, revision, given


@dataclass(frozen=True, slots=True)
class NextRevision:
    """A set's next revision, compared with the graph.

    Attributes:
        number: number of the revision; the graph's number if nothing changes.
        events: events to publish, the revision last; empty if nothing changes.
        unknown: datasets that the set names and that aren't in the graph, by namespace and name.
        keys: keys of the declarations among the events, in the order of the events.
    """

    declared: DeclaredSet
    number: int
    changes: list[ChangedDeclaration]
    events: list[LineageEvent]
    unknown: list[str]
    keys: list[str]


def next_revision(reader: Reader, declared: DeclaredSet, *, now: datetime) -> NextRevision:
    """Compute the next revision of a set. Declarations that the graph already has are neither read nor published again.

    Raises:
        OlderRevisionError: the file's number isn't greater than the graph's, and its content differs.
    """
    tenant = reader.tenant
    declared = spelled_as_observed(reader, declared)
    bodies = declared.by_key(tenant)
    state = set_state(reader, declared.name)
    is_same = _is_same(declared, state, bodies)
    given = declared.revision
    if given is not None and given <= state.revision and not is_same:
        raise OlderRevisionError(declared.name, state.revision, given)
    held = state.items - state.missing
    added = {key: body for key, body in bodies.items() if key not in held}
    before = declarations(reader, held - bodies.keys())
    subjects = {one.subject for one in before}
    # For a large set, `made` takes a third of the time, and only changed declarations need its result.
    changed = {key: body for key, body in added.items() if subjects and subject_key(body, tenant=tenant) in subjects}
    changes = difference(
        made(changed, tenant=tenant),
        before,
        added=(body for key, body in added.items() if key not in changed),
        edges=_edges(reader, changed, before),
    )
    # A declaration in the graph has also created nodes of the datasets that it names.
    unknown = unknown_datasets(reader, named_datasets(added.values()))
    is_first = not state.revision and bool(bodies)
    is_later = given is not None and given > state.revision > 0
    number, events, known = state.revision, list[LineageEvent](), held
    if is_first or is_later or state.missing or (state.revision and not is_same):
        number = given or state.revision + 1
        known = held | existing_declarations(reader, added)
        events = list(declared.events(number, tenant=tenant, event_time=now, there=known))
    return NextRevision(
        declared,
        number,
        changes,
        events,
        [f"{one.namespace} {one.name}" for one in unknown],
        [key for key in bodies if key not in known] if events else [],
    )


def result(reader: Reader, revision: NextRevision, *, published: bool, in_graph: bool) -> SetResult:
    """Build the outcome of declaring a set, with contradictions by other sets.

    Args:
        published: whether the events of the revision were published.
        in_graph: whether the graph has the revision.
    """
    declared = revision.declared
    return SetResult(
        declared.name,
        revision.number,
        len(declared.declarations),
        len(revision.events) if published else 0,
        in_graph,
        revision.changes,
        revision.unknown,
        _contradictions(reader, declared),
        reader.read(lambda tx: _cycles(tx, declared)),
    )


def _edges(reader: Reader, changed: Mapping[str, DeclarationEvent], before: Iterable[Declaration]) -> Edges:
    """Edges of the column lineages of jobs that change."""
    subjects = {subject_key(body, tenant=reader.tenant) for body in changed.values() if body.job is not None}
    plans = [(one.subject, one.values["plan"]) for one in before if one.subject in subjects and "plan" in one.values]
    return {**declared_edges(reader, plans), **edges_of(changed, tenant=reader.tenant)}


def _contradictions(reader: Reader, declared: DeclaredSet) -> list[Contradiction]:
    """Contradictions with other sets, or within this set if a dataset has several names."""
    tenant = reader.tenant
    bodies = declared.by_key(tenant)
    subjects = {key: subject_key(body, tenant=tenant) for key, body in bodies.items()}
    named = {dataset_key(tenant, one.namespace, one.name) for one in named_datasets(bodies.values())}
    names, spelled = reader.read(lambda tx: _shown_names(tx, {*subjects.values(), *named}))
    every = {name for subject in subjects.values() for name in names.get(subject, [subject])}
    shown = {name: members[0] for members in names.values() for name in members}

    def of_one(declarations: Iterable[Declaration]) -> list[Declaration]:
        return [replace(one, subject=shown.get(one.subject, one.subject)) for one in declarations]

    others = of_one(holding_elsewhere(reader, every, declared.name))
    times = Counter([*{one.subject for one in others}, *(shown.get(each, each) for each in subjects.values())])
    own = {key: bodies[key] for key, subject in subjects.items() if times[shown.get(subject, subject)] > 1}
    return contradictions(merged([*of_one(made(own, tenant=tenant, shown=spelled)), *others]).values())


def _shown_names(tx: Transaction, keys: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Result of `_names`, and the spelling of each shown name, by key."""
    names = _names(tx, keys)
    found = dataset_names(tx, {members[0] for members in names.values()}) if names else {}
    spelled = {key: spelling(*found[members[0]]) for key, members in names.items() if members[0] in found}
    return names, spelled


def _cycles(tx: Transaction, declared: DeclaredSet) -> list[list[str]]:
    """Cycles of datasets through the set's jobs; other sets' jobs and other names of the datasets count, too."""
    pairs = declared_pairs(declared.declarations.values())
    if not pairs:
        return []
    refs = {dataset_key(tx.tenant, one.namespace, one.name): one for pair in pairs for one in pair}
    own = [(dataset_key(tx.tenant, a.namespace, a.name), dataset_key(tx.tenant, b.namespace, b.name)) for a, b in pairs]
    others = feeds_elsewhere(tx, declared.name)
    names = _names(tx, {key for pair in (*own, *others) for key in pair})

    def shown(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(names.get(source, [source])[0], names.get(target, [target])[0]) for source, target in pairs]

    found = cycles(shown(own), shown(others))
    spelled = {key: (ref.namespace, ref.name) for key, ref in refs.items()}
    unknown = {key for cycle in found for key in cycle} - spelled.keys()
    spelled |= dataset_names(tx, unknown) if unknown else {}
    return [[" ".join(spelled.get(key, (key,))) for key in cycle] for cycle in found]


def _names(tx: Transaction, keys: Iterable[str]) -> dict[str, list[str]]:
    """Keys of all names of each dataset with several names, by the requested key; the shown name is first.

    A requested key that the graph has only as another name of a dataset is included: declaring this name merges the
    two.
    """
    asked = set(keys)
    if not tx.several_names or not asked:
        return {}
    identities = Identities.of(tx)
    called = {row["key"]: row["datasets"] for row in tx.rows("declared/called", keys=sorted(asked))}
    identities.look_at({*asked, *(dataset for each in called.values() for dataset in each)})
    out = {}
    for key in asked:
        members = identities.members(key)
        if len(members) == 1 and len(called.get(key, ())) == 1:
            members = [*identities.members(called[key][0]), key]
        if len(members) > 1:
            out[key] = members
    return out


def progress(reader: Reader, revision: NextRevision) -> tuple[bool, int]:
    """Return whether the graph has the whole revision or a later one, and roughly how many of the revision's events.

    The events are written in order, so a sample of the declarations shows the progress. Counting all declarations each
    time would cost the database more than writing them.
    """
    declared, keys = revision.declared, revision.keys
    step = max(1, len(keys) // _SAMPLES)
    number, sampled = set_progress(reader, declared.name, keys[::step])
    is_there = number > revision.number
    if number == revision.number:
        state = set_state(reader, declared.name)
        is_there = not state.missing and state.items == declared.keys(reader.tenant).keys()
    return is_there, len(revision.events) if is_there else min(sampled * step, len(keys))


def _is_same(declared: DeclaredSet, state: SetState, keys: Mapping[str, object]) -> bool:
    """Return whether the latest revision in the graph has this content."""
    about = (declared.format, declared.source, declared.document)
    return state.revision > 0 and state.items == keys.keys() and about == (state.format, state.source, state.document)


def spelled_as_observed(reader: Reader, declared: DeclaredSet) -> DeclaredSet:
    """Return the set, with the usual spelling (`naming.normal`) for all datasets that the graph lacks.

    A declaration of `s3a://lake` `orders` would otherwise describe a dataset that nothing writes: capture and the
    intake report this dataset as `s3://lake`. A name that the graph has in exactly this spelling stays unchanged: a
    producer of events may spell its datasets as it likes.

    Args:
        declared: the set. If two of its datasets would become one, both stay unchanged.
    """
    named = named_datasets(declared.declarations.values())
    others = {ref: usual for ref in named if ref.name and (usual := normal(ref.namespace, ref.name)) != ref}
    if not others:
        return declared
    unknown = unknown_datasets(reader, others)
    subjects = {body.dataset for body in declared.declarations.values() if body.dataset is not None}
    spelled = {ref: others[ref] for ref in unknown if not (ref in subjects and others[ref] in subjects)}
    bodies = {digest: _respelled(body, spelled) for digest, body in declared.declarations.items()}
    lines = declared.lines or {}
    return replace(
        declared,
        declarations=by_digest(list(bodies.values())),
        lines={declaration_digest(body): lines[digest] for digest, body in bodies.items() if digest in lines},
    )


def _respelled(body: DeclarationEvent, spelled: Mapping[DatasetRef, DatasetRef]) -> DeclarationEvent:
    if named_datasets([body]).isdisjoint(spelled):
        return body

    def of(ref: DatasetRef) -> DatasetRef:
        return spelled.get(ref, ref)

    def all_of(refs: Iterable[DatasetRef] | None) -> tuple[DatasetRef, ...] | None:
        return None if refs is None else tuple(sorted({of(ref) for ref in refs}))

    lineage, partitions, reads = body.lineage, body.partitions, body.reads
    return msgspec.structs.replace(
        body,
        dataset=None if body.dataset is None else of(body.dataset),
        inputs=all_of(body.inputs),
        outputs=all_of(body.outputs),
        lineage=lineage
        and canonical_lineage(msgspec.structs.replace(lineage, datasets=tuple(map(of, lineage.datasets)))),
        partitions=partitions
        and tuple(
            sorted(msgspec.structs.replace(each, input=of(each.input), output=of(each.output)) for each in partitions)
        ),
        reads=reads and tuple(sorted({DatasetRead(of(each.dataset), each.columns) for each in reads})),
    )
