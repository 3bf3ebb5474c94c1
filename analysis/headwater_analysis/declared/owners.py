"""Owners of datasets, jobs and consumers, whatever name they were declared or reported by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwater_analysis.declared.stored_declarations import declared
from headwater_analysis.identity import Identities
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.reader import Transaction


def owners_by_key(tx: Transaction, nodes: Sequence[Mapping[str, Any]]) -> dict[str, tuple[OwnerName, ...]]:
    """Owners by key: declared ones, else those that events report; of a dataset under each of its names.

    Args:
        tx: transaction to read in.
        nodes: properties of Datasets, Jobs and Consumers: `key`, `owners`, `owner_types`.
    """
    identities = Identities.of(tx)
    own = {str(node["key"]): node for node in nodes}
    identities.look_at(own)
    names = {key: identities.members(key) for key in own}
    asked = {name for each in names.values() for name in each}
    stated = declared(tx, asked) if asked and tx.declarations else {}
    reported = {key: owners_of(node) for key, node in own.items()}
    others = sorted(asked - own.keys())
    reported |= {row["key"]: owners_of(row) for row in (tx.rows("declared/owners", keys=others) if others else ())}
    out = {}
    for key, each in names.items():
        by_people = [owner for name in each if name in stated for owner in owners_of(stated[name].values)]
        out[key] = tuple(dict.fromkeys(by_people or [owner for name in each for owner in reported.get(name, ())]))
    return out
