"""Severity inputs in Neo4j: looked up for many assets at once, and only once for each asset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from headwater_analysis.declared import Declared, declared
from headwater_analysis.identity import Identities
from headwater_analysis.impact.policy_inputs import ConsumerInput, InputGroup, JobInput, QualityState, SeverityInputs
from headwater_analysis.quality import checks_of
from headwater_analysis.reader import Transaction
from headwater_analysis.sensitivity import LEVELS, level_of

if TYPE_CHECKING:
    from neo4j import Record

LOOKED_AT: Final = 20
"""Number of a job's latest runs to search for the last write of the dataset."""
_OF: Final = ("own", "whole")
"""Fields of a row with declarations: of the asset itself, and of its whole dataset."""
_END: Final = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _About:
    """Declared and reported properties of a column or dataset."""

    deadline: str | None = None
    freshness_seconds: int | None = None
    sensitivity: str | None = None
    classification: str | None = None


_Known: TypeAlias = tuple[
    str | None, _About, tuple[ConsumerInput, ...], str | None, tuple[QualityState | None, tuple[str, ...]]
]
"""Inputs of an asset: its criticality, declared or reported properties, consumers, publication, checks."""
_NOTHING: Final = _About()
_UNCHECKED: Final[tuple[QualityState | None, tuple[str, ...]]] = (None, ())


def _inputs(
    criticality: str | None,
    about: _About,
    consumers: tuple[ConsumerInput, ...],
    publication: str | None,
    checked: tuple[QualityState | None, tuple[str, ...]],
) -> SeverityInputs:
    level = level_of(about.sensitivity)
    quality, failed = checked
    return SeverityInputs(
        criticality=criticality,
        consumers=consumers,
        deadline=about.deadline,
        freshness_seconds=about.freshness_seconds,
        sensitivity=LEVELS[level] if level else None,
        classification=about.classification,
        publication=publication,
        quality=quality,
        failed=failed,
    )


class StoredInputs:
    """Severity inputs in Neo4j, read within one transaction. Facts under other names of a dataset count, too."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._identities = Identities.of(tx)
        self._keys: dict[int, str] = {}
        self._about: dict[int, _About] = {}
        self._consumers: dict[int, tuple[ConsumerInput, ...]] = {}
        self._published: dict[int, str | None] = {}
        self._checked: dict[int, tuple[QualityState | None, tuple[str, ...]]] = {}
        self._jobs: dict[str, JobInput | None] = {}
        self._criticalities: dict[int, str | None] = {}
        self._declared: dict[str, Declared] = {}
        self._sent: Callable[[], Record] | None = None

    @staticmethod
    def of(tx: Transaction) -> StoredInputs:
        """Return the transaction's inputs: every part of a question shares them."""
        return tx.common(StoredInputs)

    def criticalities(self, datasets: Iterable[int]) -> dict[int, str]:
        """Declared criticality of datasets, by id; if several declaration sets state one, the first set counts."""
        if not self._tx.declarations:
            return {}
        asked = list(dict.fromkeys(datasets))
        if new := [node for node in asked if node not in self._criticalities]:
            under = self._under(new)
            rows = {
                row["node"]: list(row["declared"]) for row in self._tx.rows("impact/criticality", nodes=_all(under))
            }
            for node, names in under.items():
                given = sorted(rows[each] for each in names if each in rows)
                self._criticalities[node] = given[0][1] if given else None
        return {node: value for node in asked if (value := self._criticalities[node]) is not None}

    def job_criticalities(self, jobs: Iterable[str]) -> dict[str, JobInput]:
        """Jobs among these that have a criticality, declared or reported; by key."""
        asked = list(dict.fromkeys(jobs))
        self.expect(asked, ())
        self._receive()
        return {job: found for job in asked if (found := self._jobs[job]) is not None}

    def expect(self, jobs: Iterable[str], datasets: Iterable[int]) -> None:
        """Start to look up these jobs' criticality and these datasets' publication, which will be needed.

        Neo4j looks up missing values while Python continues.
        """
        self._receive()
        new_jobs = list(dict.fromkeys(job for job in jobs if job not in self._jobs))
        new_datasets = [node for node in datasets if node not in self._published]
        if new_jobs or new_datasets:
            self._jobs |= dict.fromkeys(new_jobs)
            self._published |= dict.fromkeys(new_datasets)
            self._sent = self._tx.sent(
                "impact/makers",
                jobs=new_jobs,
                declarations=self._tx.declarations,
                datasets=list(self._named(new_datasets).values()),
                until=_END,
                looked_at=LOOKED_AT,
            )

    def _receive(self) -> None:
        if self._sent is not None:
            row, self._sent = self._sent(), None
            self._jobs |= {key: JobInput(name, criticality) for key, name, criticality in row["jobs"]}
            self._published |= dict(row["published"])

    def look_up(
        self, nodes: Mapping[int, int], criticality: Mapping[int, str], groups: Iterable[InputGroup]
    ) -> dict[int, SeverityInputs]:
        """Inputs of assets, without the jobs that write them.

        Args:
            nodes: id of each asset's dataset, by the asset's id. The dataset of a dataset is the dataset itself.
            criticality: criticality of each asset's dataset, by the asset's id.
            groups: groups to look up; inputs of other groups stay empty.
        """
        wanted = frozenset(groups)
        datasets = list(dict.fromkeys(nodes.values()))
        if InputGroup.DECLARED in wanted:
            self._fill(self._about, nodes, self._look_up_about)
        if InputGroup.CONSUMERS in wanted:
            self._fill(self._consumers, nodes, self._look_up_consumers)
        if InputGroup.PUBLICATION in wanted:
            self.expect((), datasets)
            self._receive()
        if InputGroup.QUALITY in wanted:
            self._fill(self._checked, datasets, self._look_up_quality)
        about = self._about if InputGroup.DECLARED in wanted else {}
        consumers = self._consumers if InputGroup.CONSUMERS in wanted else {}
        published = self._published if InputGroup.PUBLICATION in wanted else {}
        checked = self._checked if InputGroup.QUALITY in wanted else {}
        out = {}
        # Most assets have equal inputs, which share one object.
        shared: dict[_Known, SeverityInputs] = {}
        for node, dataset in nodes.items():
            known = (
                criticality.get(node) or None,
                about.get(node, _NOTHING),
                consumers.get(node, ()),
                published.get(dataset),
                checked.get(dataset, _UNCHECKED),
            )
            found = shared.get(known)
            if found is None:
                found = shared[known] = _inputs(*known)
            out[node] = found
        return out

    @staticmethod
    def _fill(known: dict[int, Any], nodes: Iterable[int], look_up: Callable[[list[int]], Mapping[int, Any]]) -> None:
        if new := [node for node in nodes if node not in known]:
            known |= look_up(new)

    def _under(self, nodes: Sequence[int]) -> dict[int, list[int]]:
        """Nodes of all names of each column or dataset, by the id of its node."""
        self._identities.learn(nodes)
        return {node: self._identities.expanded([node]) for node in nodes}

    def _named(self, datasets: Sequence[int]) -> dict[int, list[int]]:
        """Nodes of all names of each dataset, except temporary names; the dataset's own node is first."""
        if not self._identities.any:
            return {node: [node] for node in datasets}
        return {
            node: [node, *(named.id for key in keys if (named := self._identities.named(key)) and named.id != node)]
            for node, keys in self._members(datasets).items()
        }

    def _members(self, datasets: Sequence[int]) -> dict[int, list[str]]:
        """Keys of all names of datasets, by id."""
        if new := [node for node in datasets if node not in self._keys]:
            self._keys |= zip(*self._tx.one("lineage/written", nodes=new).values(), strict=True)
        self._identities.look_at([self._keys[node] for node in datasets])
        return {node: self._identities.members(self._keys[node]) for node in datasets}

    def _look_up_about(self, nodes: list[int]) -> dict[int, _About]:
        under = self._under(nodes)
        rows = {row["node"]: row for row in self._tx.one("impact/declared", nodes=_all(under))["declared"]}
        if not rows:
            return dict.fromkeys(nodes, _NOTHING)
        return {node: _about([rows[each] for each in names if each in rows]) for node, names in under.items()}

    def _look_up_consumers(self, nodes: list[int]) -> dict[int, tuple[ConsumerInput, ...]]:
        if not self._tx.consumers:
            return dict.fromkeys(nodes, ())
        under = self._under(nodes)
        rows = {row["node"]: row["consumers"] for row in self._tx.rows("declared/readers", nodes=_all(under))}
        every = {key for found in rows.values() for key, *_ in found}
        self._declared |= declared(self._tx, every - self._declared.keys()) if every else {}
        out = {}
        for node, names in under.items():
            found = {key: name for each in names for key, name, _ in rows.get(each, ())}
            ordered = sorted(found.items(), key=lambda pair: (pair[1], pair[0]))
            out[node] = tuple(self._consumer(key, name) for key, name in ordered)
        return out

    def readers(self, nodes: Iterable[int]) -> list[tuple[ConsumerInput, bool]]:
        """Consumers of these assets, by name, each with whether it names one of the assets, its parent or its field."""
        if not self._tx.consumers:
            return []
        rows = self._tx.rows("declared/readers", nodes=_all(self._under(list(dict.fromkeys(nodes)))))
        found: dict[tuple[str, str], bool] = {}
        for key, name, names_it in (each for row in rows for each in row["consumers"]):
            found[name, key] = found.get((name, key), False) or names_it
        self._declared |= declared(self._tx, {key for _, key in found} - self._declared.keys())
        return [(self._consumer(key, name), named) for (name, key), named in sorted(found.items())]

    def _consumer(self, key: str, name: str) -> ConsumerInput:
        values = self._declared[key].values if key in self._declared else {}
        asked = ("type", "criticality", "deadline", "freshness_seconds")
        return ConsumerInput(name, *(values.get(each) for each in asked))

    def _look_up_quality(self, datasets: list[int]) -> dict[int, tuple[QualityState | None, tuple[str, ...]]]:
        members = self._members(datasets)
        checks = checks_of(self._tx, _all(members))
        out: dict[int, tuple[QualityState | None, tuple[str, ...]]] = {}
        for node, names in members.items():
            found = [check for name in names for check in checks.get(name, ())]
            failed = sorted({each.assertion for check in found for each in check.failed})
            state = QualityState.FAILED if failed else QualityState.PASSED if found else None
            out[node] = state, tuple(failed)
        return out


def _all(under: Mapping[int, Sequence[Any]]) -> list[Any]:
    return sorted({each for names in under.values() for each in names})


def _about(rows: Sequence[Mapping[str, Any]]) -> _About:
    """Merge an asset's properties under all its names: greatest sensitivity; of other properties, the first set's."""
    own, whole = ([each for _, each in sorted((pair for row in rows for pair in row[of]), key=_set_of)] for of in _OF)
    reported = sorted(row["classification"] for row in rows if row["classification"])
    return _About(
        deadline=_first(whole, "deadline"),
        freshness_seconds=_first(whole, "freshness_seconds"),
        sensitivity=_greatest(own) or _greatest(whole),
        classification=_first(own, "classification") or _first(whole, "classification") or next(iter(reported), None),
    )


def _set_of(declaration: Sequence[Any]) -> str:
    return str(declaration[0])


def _first(rows: Iterable[Mapping[str, Any]], name: str) -> Any:
    return next((row[name] for row in rows if row[name] is not None), None)


def _greatest(rows: Iterable[Mapping[str, Any]]) -> str | None:
    return max((row["sensitivity"] for row in rows if row["sensitivity"]), key=level_of, default=None)
