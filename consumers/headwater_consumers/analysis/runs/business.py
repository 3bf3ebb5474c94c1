"""Business versions: the versions of reference data that outputs were made with.

Currencies, airports, price lists: what others look up in is declared as `reference`. Which version of it a run read
says what its outputs hold, whenever it ran. Of files, the version is which files they are: one that is overwritten
under its own name looks the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headwater_consumers.analysis.declared import declared
from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.reader import Transaction
from headwater_consumers.analysis.runs.answer import BusinessVersion, Use


class Reference(NamedTuple):
    """What a run read of reference data.

    Attributes:
        use: which part.
        names: keys of the dataset under all its names.
    """

    use: Use
    names: frozenset[str]


def references(tx: Transaction, read: Sequence[Use]) -> list[Reference]:
    """Those of what a run read that are declared as reference data, in the same order."""
    identities = Identities.of(tx)
    identities.look_at([use.dataset.key for use in read])
    names = {use.dataset.key: frozenset(identities.members(use.dataset.key)) for use in read}
    about = declared(tx, frozenset[str]().union(*names.values())) if names else {}
    named = {key for key, each in about.items() if each.values.get("reference")}
    return [Reference(use, names[use.dataset.key]) for use in read if not named.isdisjoint(names[use.dataset.key])]


def business_versions(run_id: str, found: Iterable[Reference], wrote: Sequence[Use]) -> tuple[BusinessVersion, ...]:
    """The versions that what a run wrote has, in the order of what it read.

    Args:
        run_id: of the run.
        found: the reference data that it read.
        wrote: what it wrote.
    """
    out = []
    for use, names in found:
        made = (each for each in wrote if each.inputs is None or not names.isdisjoint(each.inputs))
        # Reference data that a run brings up to date has no version of itself.
        outputs = {each.dataset.key: each.dataset for each in made if each.dataset.key not in names}
        if outputs:
            ordered = sorted(outputs.values(), key=lambda asset: (asset.namespace, asset.name))
            out.append(BusinessVersion(run_id, use, tuple(ordered)))
    return tuple(out)
