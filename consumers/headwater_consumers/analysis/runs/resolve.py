"""What a person calls a run, or what has runs ⇒ the node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater_consumers.analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_consumers.analysis.resolve import resolve_dataset, resolve_job
from headwater_consumers.analysis.runs.rows import run_item
from headwater_consumers.graph.keys import run_key

if TYPE_CHECKING:
    from headwater_consumers.analysis.assets import Asset
    from headwater_consumers.analysis.reader import Transaction
    from headwater_consumers.analysis.runs.answer import RunItem

_KEY = re.compile(r"[0-9a-f]{32}")


def resolve_run(tx: Transaction, text: str) -> RunItem:
    """The run with that id, or whose node has that key.

    Raises:
        NotFoundError: there is none.
    """
    keys = [run_key(tx.tenant, text), *([text] if _KEY.fullmatch(text) else [])]
    row = tx.row("runs/by_key", keys=keys)
    if row is None:
        raise NotFoundError(f"No run has the id {text!r}.")
    return run_item(tx.tenant, row["run"])


def resolve_owner(tx: Transaction, job: str | None, dataset: str | None) -> Asset:
    """The job or dataset that is asked about.

    Raises:
        QuestionError: neither is named, or both are.
        NotFoundError: there is none of that name.
        AmbiguousError: there are several.
    """
    if (job is None) == (dataset is None):
        raise QuestionError("Name a job or a dataset, one of them.", field="job" if job is None else "dataset")
    return resolve_job(tx, job).asset if job is not None else resolve_dataset(tx, str(dataset)).asset


def resolve_either(tx: Transaction, text: str) -> Asset:
    """The job or dataset of that name, whichever it is.

    Raises:
        NotFoundError: neither is called so; with the nearest names of both.
        AmbiguousError: several are.
    """
    found: list[Asset] = []
    nearest: list[str] = []
    for resolve in (resolve_job, resolve_dataset):
        try:
            found.append(resolve(tx, text).asset)
        except NotFoundError as error:
            nearest += error.nearest
    if len(found) > 1:
        raise AmbiguousError(
            f"Both a job and a dataset are called {text!r}: say which.",
            candidates=[f"{each.kind.value.lower()} {each.key}" for each in found],
        )
    if not found:
        raise NotFoundError(f"No job or dataset is called {text!r}.", nearest=nearest)
    return found[0]
