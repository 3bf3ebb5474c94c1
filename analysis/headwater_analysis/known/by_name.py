"""Details of any dataset, column, job, consumer or run, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import NotFoundError
from headwater_analysis.known import column, consumer, dataset, job
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_asset, resolve_dataset, resolve_job
from headwater_analysis.runs import RunDetails, RunItem, resolve_either
from headwater_analysis.runs.run_details import details_of as run_details
from headwater_analysis.runs.run_names import resolve_run

Known: TypeAlias = (
    dataset.DatasetDetails | column.ColumnDetails | job.JobDetails | consumer.ConsumerDetails | RunDetails
)


class KnownKind(StrEnum):
    """Kind of a named node."""

    DATASET = "DATASET"
    COLUMN = "COLUMN"
    JOB = "JOB"
    CONSUMER = "CONSUMER"
    RUN = "RUN"


@dataclass(frozen=True, slots=True)
class NamedNode:
    """Node that has a name.

    Attributes:
        kind: kind of the node.
        key: key of the node; for a run, its id.
        name: full name; for a run, its short name.
    """

    kind: KnownKind
    key: str
    name: str


_Resolved: TypeAlias = Asset | consumer.ConsumerName | RunItem


def known(reader: Reader, text: str, kind: KnownKind | None = None) -> Known:
    """Return the details of the node that `text` names.

    Args:
        text: see `named`.
        kind: kind of the node; None: any.

    Raises:
        NotFoundError, AmbiguousError: see `named`.
    """

    def question(tx: Transaction) -> Known:
        match _resolved(tx, text, () if kind is None else (kind,)):
            case RunItem() as found:
                return run_details(tx, found)
            case consumer.ConsumerName() as found:
                return consumer.details_of(tx, found)
            case Asset(kind=AssetKind.COLUMN) as found:
                return column.details_of(tx, found)
            case Asset(kind=AssetKind.JOB) as found:
                return job.details_of(tx, found)
            case found:
                return dataset.details_of(tx, found)

    return reader.read(question)


def named(reader: Reader, text: str, kinds: Sequence[KnownKind] = ()) -> NamedNode:
    """Return the node that `text` names.

    Args:
        text: a name or key of a dataset, job or consumer; a column, `dataset#field.path` or its key; a run's id, or a
            prefix of one.
        kinds: kinds of nodes to look for; empty: all. Names of datasets and jobs take precedence over names of
            columns, then of consumers, then prefixes of run ids.

    Raises:
        NotFoundError: nothing has this name; with the nearest names.
        AmbiguousError: both a dataset and a job have this name, or several of a kind.
    """
    match reader.read(lambda tx: _resolved(tx, text, kinds)):
        case RunItem() as found:
            return NamedNode(KnownKind.RUN, found.run_id, found.name)
        case consumer.ConsumerName() as found:
            return NamedNode(KnownKind.CONSUMER, found.key, found.name)
        case found:
            return NamedNode(KnownKind(found.kind.value), found.key, found.spelling)


def _resolved(tx: Transaction, text: str, kinds: Sequence[KnownKind]) -> _Resolved:
    wanted = frozenset(kinds or KnownKind)
    if len(wanted) == 1:
        return _RESOLVERS[min(wanted)](tx, text)
    nearest: list[str] = []
    for resolved, resolve in _IN_ORDER:
        if resolved <= wanted:
            try:
                return resolve(tx, text)
            except NotFoundError as error:
                # The nearest names of columns come first, because their dataset exists.
                nearest = [*error.nearest, *nearest] if KnownKind.COLUMN in resolved else [*nearest, *error.nearest]
            wanted -= resolved
    words = [each.value.lower() for each in KnownKind if each in (kinds or KnownKind)]
    raise NotFoundError(
        f"No {', '.join(words[:-1])} or {words[-1]} is called {text!r}.", nearest=list(dict.fromkeys(nearest))
    )


_RESOLVERS: dict[KnownKind, Callable[[Transaction, str], _Resolved]] = {
    KnownKind.DATASET: lambda tx, text: resolve_dataset(tx, text).asset,
    KnownKind.JOB: lambda tx, text: resolve_job(tx, text).asset,
    KnownKind.COLUMN: column.resolved,
    KnownKind.CONSUMER: consumer.resolve_consumer,
    KnownKind.RUN: resolve_run,
}
_IN_ORDER: tuple[tuple[frozenset[KnownKind], Callable[[Transaction, str], _Resolved]], ...] = (
    (frozenset({KnownKind.DATASET, KnownKind.JOB}), resolve_either),
    (frozenset({KnownKind.DATASET}), _RESOLVERS[KnownKind.DATASET]),
    (frozenset({KnownKind.JOB}), _RESOLVERS[KnownKind.JOB]),
    (frozenset({KnownKind.COLUMN}), lambda tx, text: resolve_asset(tx, text).asset),
    (frozenset({KnownKind.CONSUMER}), consumer.resolve_consumer),
    (frozenset({KnownKind.RUN}), resolve_run),
)
