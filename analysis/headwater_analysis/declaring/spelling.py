"""Normal spelling of dataset names that people and other tools write as `s3a://lake` or `postgresql://DB`.

A declaration of `s3a://lake` `orders` would otherwise describe a dataset that nothing writes: capture and the intake
report it as `s3://lake` (`naming.normal`). A name that the graph has in exactly this spelling stays as it is: a
producer of events may spell its datasets as it likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from headwater_analysis.declared import unknown_datasets
from headwater_analysis.declaring.difference import named_datasets
from headwater_analysis.declaring.sets import DeclaredSet, by_digest
from headwater_analysis.reader import Reader
from headwater_schemas.events import DatasetRead, DatasetRef, DeclarationEvent
from headwater_schemas.identity import canonical_lineage, declaration_digest
from headwater_schemas.naming import normal


def spelled_as_observed(reader: Reader, declared: DeclaredSet) -> DeclaredSet:
    """Return the set with normal spelling of all datasets that the graph doesn't have.

    Args:
        reader: reader of the graph.
        declared: the set. Where two of its datasets would become one, both stay as they are.
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
