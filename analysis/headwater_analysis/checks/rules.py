"""Rules of `headwater check`, with the sentences of their findings; `RULES` is the registry."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from headwater_analysis.assets import Asset, dataset_asset, job_asset
from headwater_analysis.checks.broken_chains import joints_at, suspected_beside
from headwater_analysis.declared.types import agree
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact.wording import listed
from headwater_analysis.moments import EVER
from headwater_analysis.privacy import DEFAULT_THRESHOLD
from headwater_analysis.privacy.one_step import unclassified_columns, unknown_uses
from headwater_analysis.quality import LOOKED_AT
from headwater_analysis.reader import Transaction, statement

_MOST_NAMED: Final = 3
_CORRECT: Final = "Correct the declaration, or the job."


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule. A statement in `analysis/cypher/checks.cypher` finds its violations; the statement's name has _ for -.

    Attributes:
        name: name in exemptions, metrics and reports.
        title: requirement, as a sentence.
        fix: remedy for its findings, as a sentence.
        message: function that describes a row of `found` in a sentence. Besides `found` the statement returns `total`
            and `exempted`.
        given: function that returns further parameters of the statement, by name; it gets the graph, today's date, and
            the keys of datasets with several names. None: no further parameters.
        unknown: function that returns a clause on unknown facts that may break the rule as well, and the exempted keys
            that the clause would have named; None: the statement sees everything.
    """

    name: str
    title: str
    fix: str
    message: Callable[[Mapping[str, Any]], str]
    given: Callable[[Transaction, date, Mapping[str, list[str]]], Mapping[str, Any]] | None = None
    unknown: Callable[[Transaction, Collection[str]], tuple[str | None, set[str]]] | None = None

    @property
    def statement(self) -> str:
        """Name of the rule's statement."""
        return f"checks/{self.name.replace('-', '_')}"

    @property
    def follows_names(self) -> bool:
        """True if the statement needs the datasets with several names."""
        return "$given.names" in statement(self.statement)


def of_dataset(row: Mapping[str, Any], field: str = "dataset") -> str:
    """Name of a dataset that isn't the row's subject, with its name in a catalog."""
    return named(dataset_asset(row[field]))


def named(dataset: Asset) -> str:
    """Name of a dataset in a sentence, with its name in a catalog: `s3://lake/orders (db.orders)`."""
    return dataset.spelling if dataset.table is None else f"{dataset.spelling} ({dataset.table})"


def query_text(row: Mapping[str, Any]) -> str:
    """Name of a streaming query, else the beginning of its id."""
    return str(row["query_name"] or row["query_id"][:8])


def _broken_chain(row: Mapping[str, Any]) -> str:
    faults = (
        ("micro-batches missing", row["missing"]),
        ("partitions with a gap", row["gaps"]),
        ("partitions read twice", row["overlaps"]),
    )
    listed = ", ".join(f"{count:,} {what}" for what, count in faults if count)
    return f"Query {query_text(row)} is broken in {row['places']:,} places: {listed}."


def _faults_beside(tx: Transaction, _today: date, _names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Gaps and overlaps that the graph doesn't store: between two names, or two incarnations, of a topic."""
    out = [
        {"query": each.interval.query, "since": each.since, "gaps": each.gaps, "overlaps": each.overlaps}
        for each in joints_at(tx, suspected_beside(tx))
    ]
    return {"beside": out}


def _failed_quality(row: Mapping[str, Any]) -> str:
    by = row["by"]
    if "run_id" in by:
        where = f"run {by['run_id']} of job {job_asset(by['job']).spelling}"
    else:
        where = f"batch {by['batch']} of query {query_text(by)}"
    return f"An assertion failed in {where}, and none passed since; {row['readers']:,} jobs and consumers read it."


def _tainted(row: Mapping[str, Any]) -> str:
    severity = f" ({row['severity']})" if row["severity"] else ""
    readers = f"{row['consumers']:,} consumer{'s read' if row['consumers'] != 1 else ' reads'} it"
    return f"It holds bad data of incident {row['incident']}{severity}, which is open, and {readers}."


def _incomplete_lineage(row: Mapping[str, Any]) -> str:
    if not row["known"]:
        return "It writes datasets, and its column lineage is unknown."
    return f"Its latest column lineage is incomplete: {row['reason'] or 'no reason is reported'}."


def _drift_of_datasets(row: Mapping[str, Any]) -> str:
    dataset = of_dataset(row)
    if row["output"] is not None:
        output = of_dataset(row, "output")
        if row["declared"]:
            return f"{output} is declared to be made from {dataset}, but this was never observed."
        return f"{output} was observed to be made from {dataset}, but this isn't declared."
    verb = "read" if row["verb"] == "READS" else "write"
    if row["declared"]:
        return f"It is declared to {verb} {dataset}, but this was never observed."
    return f"It was observed to {verb} {dataset}, but this isn't declared."


def _drift_of_columns(row: Mapping[str, Any]) -> str:
    names = {each["key"]: named(dataset_asset(each)) for each in row["datasets"]}

    def listed(field: str) -> str:
        shown = [
            names[each["dataset"]] + ("" if each["path"] is None else f"#{each['path']}")
            for each in row[field][:_MOST_NAMED]
        ]
        more = len(row[field]) - len(shown)
        return ", ".join(sorted(shown)) + (f" and {more:,} more" if more else "")

    parts = (("declared and never observed", "missing"), ("observed and not declared", "more"))
    columns = "; ".join(f"{what}: {listed(field)}" for what, field in parts if row[field])
    return f"{of_dataset(row)}#{row['column']} is made from other columns than declared ({columns})."


def _differing_types(tx: Transaction, _: date, names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """For each declared type: the observed types of its columns that contradict it."""
    found = {}
    for row in tx.rows("checks/declared_types", names=names):
        if others := [each for each in row["observed"] if not agree(row["declared"], each)]:
            found[row["declared"]] = others
    return {"differing": found}


def _drift_of_schemas(row: Mapping[str, Any]) -> str:
    declared = f"Its column {row['column']} is declared by {', '.join(row['sets'])}"
    if row["type"] is not None:
        return f"{declared} as {row['type']}, but its type is {row['observed']}."
    return f"{declared}, but {'has left the schema' if row['gone'] else 'the schema has no column of this name'}."


def _unknown_uses(tx: Transaction, exempt: Collection[str]) -> tuple[str | None, set[str]]:
    jobs, left_out = unknown_uses(tx, exempt)
    what = f"the use of sensitive columns by {listed(jobs)}: the column lineage is missing or incomplete"
    return (what if jobs else None), left_out


RULES: tuple[CheckRule, ...] = (
    CheckRule(
        "versions-without-run",
        "Each version of a table that jobs write was written by a known run.",
        "Capture the job that wrote it, or backfill its run; `headwater runs versions` shows who reads it.",
        lambda row: f"{row['format']} version {row['version']} is read, and no run is known to have written it.",
    ),
    CheckRule(
        "written-from-outside",
        "Between versions that known runs wrote, nobody else commits.",
        "Capture the job that committed it, or exempt the dataset if maintenance (OPTIMIZE, compaction) may commit.",
        lambda row: (
            f"{row['format']} version {row['version']} was written on top of version {row['parent']}, which no known "
            "run wrote."
        ),
    ),
    CheckRule(
        "runs-without-code-version",
        "Each run that wrote something reports its code version.",
        "Run it from a git checkout, or set HEADWATER_JOB_CODE_VERSION (docs/capture.md).",
        lambda row: f"Run {row['run_id']} wrote something and reports no code version.",
    ),
    CheckRule(
        "runs-open-too-long",
        "No run has been open for long without an event or heartbeat.",
        "Check whether its driver is still alive: `headwater runs list --open`; the job's next run infers its end.",
        lambda row: f"Run {row['run_id']} reported no end, and no event or heartbeat since.",
    ),
    CheckRule(
        "broken-chains",
        "The micro-batches of each streaming query leave no gap, and read nothing twice.",
        "`headwater runs intervals JOB` shows where; `headwater reconcile CHECKPOINT` recovers what a crash lost.",
        _broken_chain,
        _faults_beside,
    ),
    CheckRule(
        "failed-quality",
        "Datasets with readers passed their latest assertions.",
        "`headwater runs last-good` shows since when, `headwater blast` what the bad data reached.",
        _failed_quality,
        lambda _tx, _today, _names: {"looked_at": LOOKED_AT, "until": EVER},
    ),
    CheckRule(
        "tainted-datasets",
        "No consumer reads a dataset that an open incident reached.",
        "`headwater incident show` lists repairs and people to notify; `headwater incident refresh` records repairs.",
        _tainted,
    ),
    CheckRule(
        "lineage-incomplete",
        "The latest column lineage of each job that writes is complete.",
        "Declare the column lineage of what capture can't read (docs/columns.md has the reasons).",
        _incomplete_lineage,
    ),
    CheckRule(
        "drift-of-datasets",
        "Jobs read and write what is declared, and nothing else.",
        _CORRECT,
        _drift_of_datasets,
    ),
    CheckRule(
        "drift-of-columns",
        "Columns are made from those that are declared, and from no others.",
        _CORRECT,
        _drift_of_columns,
    ),
    CheckRule(
        "drift-of-schemas",
        "The schema of a dataset has the columns that are declared for it, with their types.",
        "Correct the declaration, or the dataset.",
        _drift_of_schemas,
        _differing_types,
    ),
    CheckRule(
        "orphan-datasets",
        "Each existing dataset is used by a job or a consumer.",
        "Capture or declare who uses it; or delete it, and report the DROP.",
        lambda _: "No job and no consumer uses it.",
    ),
    CheckRule(
        "orphan-jobs",
        "Each job reads or writes something, or starts a job that does.",
        "Look in its log for anything that capture couldn't read, or declare its inputs and outputs.",
        lambda _: "No dataset that it reads or writes is known.",
    ),
    CheckRule(
        "certified-datasets",
        "A certified dataset has an owner, an SLO, column lineage, and a run that wrote it.",
        "Declare what is missing, capture its job, or withdraw the certification.",
        lambda row: f"It is certified, and has no {', no '.join(row['lacks'])}.",
    ),
    CheckRule(
        "consumers-without-owner",
        "Each consumer has an owner.",
        "Add `owners` to its declaration.",
        lambda _: "Nobody is declared as its owner.",
    ),
    CheckRule(
        "sensitive-downstream",
        "A column that is made from a sensitive one, unmasked, is classified itself.",
        "Declare its sensitivity, or mask it. Older plans count as well: their data may still be there.",
        lambda row: (
            f"{row['column']} {'may be' if row['possible'] else 'is'} made from {of_dataset(row)}#{row['source']}, "
            f"which is {row['sensitivity']}, and has no sensitivity or classification."
        ),
        lambda tx, today, _names: {"made": unclassified_columns(tx, today, DEFAULT_THRESHOLD)},
        _unknown_uses,
    ),
)
"""Rules, in the order of reports."""

_BY_NAME = {rule.name: rule for rule in RULES}


def rule_named(name: str) -> CheckRule:
    """Return the rule with this name.

    Raises:
        QuestionError: no rule has this name; with the nearest.
    """
    if (rule := _BY_NAME.get(name)) is not None:
        return rule
    nearest = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)
    raise QuestionError(f"There is no rule {name!r}; the nearest is {nearest[0]!r}.", field="rule")
