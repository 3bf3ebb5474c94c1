"""Rules about declarations: certified datasets, consumers, sensitive columns."""

from __future__ import annotations

from collections.abc import Collection

from headwater_analysis.checks.rule import CheckRule, of_dataset
from headwater_analysis.impact.wording import listed
from headwater_analysis.privacy import DEFAULT_THRESHOLD
from headwater_analysis.privacy.graph import reviewed_edges, unknown_uses
from headwater_analysis.reader import Transaction

CERTIFIED = CheckRule(
    "certified-datasets",
    "A certified dataset has an owner, an SLO, column lineage, and a run that wrote it.",
    "Declare what is missing, capture its job, or withdraw the certification.",
    lambda row: f"It is certified, and has no {', no '.join(row['lacks'])}.",
)

CONSUMERS = CheckRule(
    "consumers-without-owner",
    "Each consumer has an owner.",
    "Add `owners` to its declaration.",
    lambda _: "Nobody is declared as its owner.",
)


def _unknown(tx: Transaction, exempt: Collection[str]) -> tuple[str | None, set[str]]:
    jobs, left_out = unknown_uses(tx, exempt)
    what = f"what {listed(jobs)} may make of sensitive columns: the column lineage is missing or incomplete"
    return (what if jobs else None), left_out


SENSITIVE = CheckRule(
    "sensitive-downstream",
    "A column that is made from a sensitive one, unmasked, is classified itself.",
    "Declare its sensitivity, or mask it. Older plans count as well: their data may still be there.",
    lambda row: (
        f"{row['column']} is made from {of_dataset(row)}#{row['source']}, which is {row['sensitivity']}, and has no "
        "sensitivity or classification."
    ),
    lambda tx, today, names: {"reviewed": reviewed_edges(tx, today, DEFAULT_THRESHOLD, names)},
    _unknown,
)
