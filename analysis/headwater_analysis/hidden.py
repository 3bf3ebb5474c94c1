"""Removal of hidden assets from values that name several assets: micro-batches, and lists of keys or names.

Patterns of statements are filtered as a whole (`filtered`); values packed into one property are filtered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headwater_analysis.reader import Transaction
from headwater_graph.facts.nodes import MADE_FROM, IntervalFacts, Variant
from headwater_graph.facts.registers import Registers
from headwater_graph.keys import dataset_key, run_key
from headwater_graph.segments.slots import DatasetName, digest_of

_ANCESTORS = ("parent", "root")
_OUTCOMES = ("quality_namespaces", "quality_datasets")


class SeenDatasets:
    """Datasets that the asker of a question may see. Datasets with unknown names are looked up once."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._known: dict[str, bool] = {}

    @staticmethod
    def of(tx: Transaction) -> SeenDatasets:
        """Return the transaction's visible datasets, which all parts of a question share."""
        return tx.common(SeenDatasets)

    @property
    def all(self) -> bool:
        """True if the asker may see everything."""
        return self._tx.visible is None

    def among(self, keys: Iterable[str], names: Mapping[str, DatasetName] | None = None) -> set[str]:
        """Return the keys of visible datasets among these."""
        wanted = set(keys)
        if (visible := self._tx.visible) is None:
            return wanted
        for key, name in (names or {}).items():
            self._known[key] = visible.shows_dataset(key, name.namespace)
        if new := sorted(wanted - self._known.keys()):
            found = set(self._tx.one("visible/datasets", keys=new)["keys"])
            self._known |= {key: key in found for key in new}
        return {key for key in wanted if self._known[key]}


def without_hidden(seen: SeenDatasets, interval: IntervalFacts, names: Mapping[str, DatasetName]) -> IntervalFacts:
    """Return a micro-batch without uses of hidden datasets; reports that become equal are merged.

    Args:
        names: names of the datasets that it used, by key.
    """
    if seen.all:
        return interval
    tenant = str(interval.identity["tenant"])
    keys = {use.dataset for variant in interval.variants.values() for use in variant.uses}
    keys |= {key for variant in interval.variants.values() for key in _named(tenant, variant.registers)}
    keys |= {key for variant in interval.variants.values() for uses in variant.uses.values() for key in _sources(uses)}
    visible = seen.among(keys, names)
    if visible == keys:
        return interval
    variants: dict[str, Variant] = {}
    for variant in sorted(interval.variants.values(), key=lambda variant: variant.rank, reverse=True):
        uses = {use: _listed(registers, visible) for use, registers in variant.uses.items() if use.dataset in visible}
        left = Variant(outcomes_seen(tenant, variant.registers, visible), uses)
        digest = digest_of(left.uses, names)
        if digest in variants:
            variants[digest].join(left)
        else:
            variants[digest] = left
    return IntervalFacts(interval.identity, interval.query, interval.batch_id, variants)


def outcomes_seen(tenant: str, stored: Mapping[str, Any], visible: set[str]) -> dict[str, Any]:
    """Return properties of a run or micro-batch without outcomes of assertions about hidden datasets.

    Args:
        stored: properties or registers of the run or micro-batch; `quality_…` are parallel lists.
        visible: keys of visible datasets.
    """
    cell = stored.get("quality")
    if not isinstance(cell, tuple) or not isinstance(cell[1], dict):
        return dict(stored)
    return {**stored, "quality": (cell[0], lists_seen(tenant, cell[1], visible))}


def lists_seen(tenant: str, outcomes: Mapping[str, Any], visible: set[str]) -> dict[str, Any]:
    """Return parallel lists of outcomes without outcomes about hidden datasets; other properties stay unchanged."""
    named = enumerate(_keys_of(tenant, outcomes))
    indices = [index for index, key in named if key is None or key in visible]
    return {
        name: [value[index] for index in indices] if name.startswith("quality_") and value else value
        for name, value in outcomes.items()
    }


def sources_seen(seen: SeenDatasets, part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return properties of a use without hidden datasets among the sources of the output."""
    if seen.all or not part.get(MADE_FROM):
        return part
    visible = seen.among(part[MADE_FROM])
    return {**part, MADE_FROM: [key for key in part[MADE_FROM] if key in visible]}


def runs_among(tx: Transaction, run_ids: Iterable[str]) -> set[str]:
    """Return the run ids among these that the asker may see."""
    by_key = {run_key(tx.tenant, run_id): run_id for run_id in run_ids}
    if tx.visible is None or not by_key:
        return set(by_key.values())
    return {by_key[key] for key in tx.one("visible/runs", keys=sorted(by_key))["keys"]}


def run_seen(tx: Transaction, own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return properties of a run without outcomes about hidden datasets, and without hidden parent and root runs."""
    if tx.visible is None:
        return own
    left = lists_seen(tx.tenant, own, SeenDatasets.of(tx).among(key for key in _keys_of(tx.tenant, own) if key))
    ancestors = {role: left[f"{role}_run_id"] for role in _ANCESTORS if left.get(f"{role}_run_id")}
    found = runs_among(tx, ancestors.values())
    for role, run_id in ancestors.items():
        if run_id not in found:
            left |= dict.fromkeys((f"{role}_run_id", f"{role}_job_namespace", f"{role}_job_name"))
    return left


def _keys_of(tenant: str, outcomes: Mapping[str, Any]) -> list[str | None]:
    assertions = outcomes.get("quality_assertions") or []
    empty = [""] * len(assertions)
    named = zip(*(outcomes.get(name) or empty for name in _OUTCOMES), strict=True)
    return [dataset_key(tenant, namespace, name) if name else None for namespace, name in named]


def _named(tenant: str, registers: Registers) -> set[str]:
    cell = registers.get("quality", ("", None))[1]
    return {key for key in _keys_of(tenant, cell) if key is not None} if isinstance(cell, dict) else set()


def _sources(registers: Registers) -> list[str]:
    sources = registers.get(MADE_FROM, ("", None))[1]
    return [str(key) for key in sources] if isinstance(sources, list) else []


def _listed(registers: Registers, visible: set[str]) -> Registers:
    if MADE_FROM not in registers:
        return dict(registers)
    stamp, _ = registers[MADE_FROM]
    return {**registers, MADE_FROM: (stamp, [key for key in _sources(registers) if key in visible])}
