"""Business versions: the versions of reference data that outputs were made with.

Currencies, airports, price lists: datasets that others look up in are declared as `reference`. The version that a run
read explains its outputs, whenever it ran. The version of files is the list of files: one that is overwritten under its
own name looks unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headwater_analysis.declared import declared
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.records import BusinessVersion, Use


class Reference(NamedTuple):
    """Part of reference data that a run read.

    Attributes:
        use: the part.
        names: keys of the dataset under all its names.
    """

    use: Use
    names: frozenset[str]


def references(tx: Transaction, read: Sequence[Use]) -> list[Reference]:
    """Uses among a run's inputs that are declared as reference data, in the same order."""
    identities = Identities.of(tx)
    identities.look_at([use.dataset.key for use in read])
    names = {use.dataset.key: frozenset(identities.members(use.dataset.key)) for use in read}
    about = declared(tx, frozenset[str]().union(*names.values())) if names else {}
    named = {key for key, each in about.items() if each.values.get("reference")}
    return [Reference(use, names[use.dataset.key]) for use in read if not named.isdisjoint(names[use.dataset.key])]


def business_versions(run_id: str, found: Iterable[Reference], wrote: Sequence[Use]) -> tuple[BusinessVersion, ...]:
    """Versions that a run's outputs were made with, in the order of its inputs.

    Args:
        run_id: id of the run.
        found: reference data that it read.
        wrote: outputs of the run.
    """
    out = []
    for use, names in found:
        made = (each for each in wrote if each.inputs is None or not names.isdisjoint(each.inputs))
        # Reference data that a run updates has no version of itself.
        outputs = {each.dataset.key: each.dataset for each in made if each.dataset.key not in names}
        if outputs:
            ordered = sorted(outputs.values(), key=lambda asset: (asset.namespace, asset.name))
            out.append(BusinessVersion(run_id, use, tuple(ordered)))
    return tuple(out)
