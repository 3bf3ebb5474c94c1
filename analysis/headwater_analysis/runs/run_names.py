"""Name that a person typed ⇒ node of the run, job or dataset."""

from __future__ import annotations

import re
from functools import partial

from headwater_analysis.assets import Asset
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.reader import Transaction
from headwater_analysis.resolve import FoundNode, resolve_dataset, resolve_job
from headwater_analysis.runs.from_rows import run_items
from headwater_analysis.runs.records import RunItem
from headwater_graph.keys import run_key
from headwater_graph.words import id_start
from headwater_schemas.identity import run_id_of

_KEY = re.compile(r"[0-9a-f]{32}")
_SHORTEST = 4
"""Minimum length of an id's prefix, in characters."""
MOST_CANDIDATES = 20
"""Maximum number of ids to list if several have a prefix."""


def resolve_run(tx: Transaction, text: str) -> RunItem:
    """Return the run with this id or key, else the only run whose id has this prefix.

    Case and dashes of a UUID don't matter. An id that the producer spelled differently is found by that spelling, too.

    Raises:
        NotFoundError: no run has this id or key.
        AmbiguousError: several ids have this prefix.
    """
    if (exact := _exact_run(tx, text)) is not None:
        return exact
    prefixes = [{"id": prefix, "start": id_start(tx.tenant, prefix)} for prefix in id_prefixes(text)]
    found = tx.rows("runs/by_prefix", prefixes=prefixes, limit=MOST_CANDIDATES)
    if not found:
        prefix = "or an id with this prefix" if prefixes else f"and a prefix needs {_SHORTEST} characters"
        raise NotFoundError(f"No run has the id {text!r}, {prefix}.")
    if len(found) > 1:
        raise AmbiguousError(
            f"Several runs have ids that begin with {text!r}: give more of it.",
            candidates=[each["run"]["run_id"] for each in found],
        )
    return run_items(tx, [found[0]["run"]])[0]


def _exact_run(tx: Transaction, text: str) -> RunItem | None:
    keys = [run_key(tx.tenant, text), run_key(tx.tenant, run_id_of(text)), *([text] if _KEY.fullmatch(text) else [])]
    row = tx.row("runs/by_key", keys=keys)
    return None if row is None else run_items(tx, [row["run"]])[0]


def resolve_run_or_job(tx: Transaction, text: str) -> RunItem | Asset:
    """Return the run with this id or key, else the job with this name, else the only run whose id has this prefix.

    Raises:
        NotFoundError: no run or job has this id or name; with the nearest names of jobs.
        AmbiguousError: several jobs have this name, or several ids have this prefix.
    """
    try:
        job = resolve_job(tx, text).asset
    except NotFoundError as no_job:
        try:
            return resolve_run(tx, text)
        except NotFoundError as no_run:
            raise NotFoundError(f"No job is called {text!r}. {no_run}", nearest=no_job.nearest) from None
    return _exact_run(tx, text) or job


def id_prefixes(text: str) -> list[str]:
    """Prefixes of stored ids for a typed prefix: unchanged, and as part of a UUID. Empty if it is too short."""
    digits = text.replace("-", "").lower()
    if len(digits) < _SHORTEST:
        return []
    if len(digits) > 32 or not set(digits) <= set("0123456789abcdef"):
        return [text]
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return list(dict.fromkeys((text, "-".join(part for part in parts if part))))


def resolve_owner(tx: Transaction, job: str | None, dataset: str | None) -> FoundNode:
    """Return the job or dataset of the question.

    Raises:
        QuestionError: neither is named, or both are.
        NotFoundError: no job or dataset has this name.
        AmbiguousError: several have this name.
    """
    if (job is None) == (dataset is None):
        raise QuestionError("Name either a job or a dataset.", field="job" if job is None else "dataset")
    return resolve_job(tx, job) if job is not None else resolve_dataset(tx, str(dataset))


def resolve_either(tx: Transaction, text: str) -> Asset:
    """Return the job or dataset with this name, whichever it is.

    Raises:
        NotFoundError: no job or dataset has this name; with the nearest names of both.
        AmbiguousError: several have this name.
    """
    found: list[Asset] = []
    nearest: list[str] = []
    for resolve in (resolve_job, partial(resolve_dataset, whole=True)):
        try:
            found.append(resolve(tx, text).asset)
        except NotFoundError as error:
            nearest += error.nearest
    if len(found) > 1:
        raise AmbiguousError(
            f"Both a job and a dataset are called {text!r}: choose one.",
            candidates=[f"{each.kind.value.lower()} {each.key}" for each in found],
        )
    if found:
        return found[0]
    # Tried last: a job with exactly this name takes precedence over a dataset whose name only ends in it.
    try:
        return resolve_dataset(tx, text).asset
    except NotFoundError:
        raise NotFoundError(f"No job or dataset is called {text!r}.", nearest=nearest) from None
