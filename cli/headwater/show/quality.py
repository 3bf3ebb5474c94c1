"""Views of quality checks of datasets: a table, or a line for each dataset that failed checks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.show.names import moment_text
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.quality import Check, DatasetQuality
from headwater_analysis.runs import Quality

_MOST_FAILED = 5
_MOST_DATASETS = 10


def checks_table(checks: Sequence[Check]) -> Table:
    """Table with a row for each run or micro-batch that checked a dataset."""
    out = plain_table("at", "job", "by", "found")
    for each in checks:
        found = Text(_found_text(each), style="red" if each.failed else "green")
        job = "" if each.job is None else shortened(each.job.name)
        out.add_row(moment_text(each.at), job, _by(each), found)
    return out


def _by(check: Check) -> str:
    return f"run {shortened(check.run_id or '')}" if check.batch_id is None else f"batch {check.batch_id:,}"


def _found_text(check: Check) -> str:
    """Format the results of a check: `failed: not_null of id (error, COMPLETENESS); 3 passed`."""
    failed = [f"failed: {_results_text(check.failed)}"] if check.failed else []
    return "; ".join([*failed, *([f"{check.passed:,} passed"] if check.passed else [])])


def _results_text(results: Sequence[Quality]) -> str:
    """List the first failed assertions, and the number of further ones."""
    return first_of([_result_text(each) for each in results], _MOST_FAILED)


def _result_text(result: Quality) -> str:
    """Format a failed assertion: `not_null of id (error, COMPLETENESS, 0.02, suite orders 3)`."""
    suite = f"suite {result.suite} {result.suite_version or ''}".rstrip() if result.suite else None
    details = ", ".join(filter(None, (result.severity, result.rule, result.value, suite)))
    of = f" of {result.column}" if result.column else ""
    return shortened(f"{result.assertion}{of}" + (f" ({details})" if details else ""), 600)


def lines(found: Sequence[DatasetQuality]) -> str:
    """Format a line for each dataset that failed its latest checks, and one line for all datasets that passed."""
    failed = [each for each in found if each.failed]
    out = [
        f"{shortened(each.dataset.spelling)} failed its latest checks: {_results_text(each.failed)}."
        for each in failed[:_MOST_DATASETS]
    ]
    if len(failed) > _MOST_DATASETS:
        out.append(f"{len(failed) - _MOST_DATASETS:,} more failed their latest checks.")
    if passed := len(found) - len(failed):
        out.append(f"{amount(passed, 'dataset')} passed the latest checks.")
    return "\n".join(out)
