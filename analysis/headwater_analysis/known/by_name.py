"""Details of any dataset, column, job, consumer or run by its name."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from headwater_analysis.assets import AssetKind
from headwater_analysis.errors import NotFoundError
from headwater_analysis.known import column, consumer, dataset, job
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import FoundNode, resolve_asset, resolve_dataset, resolve_job
from headwater_analysis.runs import RunDetails, resolve_either
from headwater_analysis.runs.run_details import details_of as run_details
from headwater_analysis.runs.run_names import resolve_run

Known: TypeAlias = (
    dataset.DatasetDetails | column.ColumnDetails | job.JobDetails | consumer.ConsumerDetails | RunDetails
)


class KnownKind(StrEnum):
    """Kind of a named thing."""

    DATASET = "DATASET"
    COLUMN = "COLUMN"
    JOB = "JOB"
    CONSUMER = "CONSUMER"
    RUN = "RUN"


def known(reader: Reader, text: str, kind: KnownKind | None = None) -> Known:
    """Return the details of the asset that `text` names.

    Args:
        text: a name or key of a dataset, job or consumer; a column, `dataset#field.path` or its key; a run's id, or a
            prefix of one.
        kind: kind of the named thing; None: any. Names of datasets and jobs take precedence over names of columns, then
            of consumers, then prefixes of run ids.

    Raises:
        NotFoundError: nothing has this name; with the nearest names.
        AmbiguousError: both a dataset and a job have this name, or several of a kind.
    """

    def question(tx: Transaction) -> Known:
        match kind:
            case KnownKind.DATASET:
                return dataset.details_of(tx, resolve_dataset(tx, text).asset)
            case KnownKind.JOB:
                return job.details_of(tx, resolve_job(tx, text).asset)
            case KnownKind.COLUMN:
                return column.details_of(tx, column.resolved(tx, text))
            case KnownKind.CONSUMER:
                return consumer.details_of(tx, consumer.resolve_consumer(tx, text))
            case KnownKind.RUN:
                return run_details(tx, resolve_run(tx, text))
            case None:
                return _whatever(tx, text)

    return reader.read(question)


def _whatever(tx: Transaction, text: str) -> Known:
    try:
        asset = resolve_either(tx, text)
    except NotFoundError as error:
        nearest = list(error.nearest)
    else:
        of = job.details_of if asset.kind is AssetKind.JOB else dataset.details_of
        return of(tx, asset)
    found: FoundNode | None = None
    try:
        found = resolve_asset(tx, text)
    except NotFoundError as error:
        # The dataset exists: suggest its columns.
        nearest = [*error.nearest, *nearest]
    if found is not None:
        return column.details_of(tx, found.asset)
    try:
        return consumer.details_of(tx, consumer.resolve_consumer(tx, text))
    except NotFoundError as error:
        nearest += error.nearest
    try:
        return run_details(tx, resolve_run(tx, text))
    except NotFoundError:
        raise NotFoundError(
            f"No dataset, column, job, consumer or run is called {text!r}.", nearest=list(dict.fromkeys(nearest))
        ) from None
