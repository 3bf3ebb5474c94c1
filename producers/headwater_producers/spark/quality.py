"""Quality results of Great Expectations, Soda, dbt and Deequ, for `Capture.report_quality`.

    from headwater_producers.spark import attach, quality

    capture = attach(spark, job_name="orders")
    capture.report_quality(quality.soda(scan.get_scan_results()), dataset="/data/orders", suite="orders")

Each function takes the tool's own result, as objects or as JSON, and doesn't need the tool. A check that didn't run
(skipped by dbt, not evaluated by Soda) is no result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from headwater_producers.spark.common.errors import CaptureError
from headwater_schemas.events import QualityResult
from headwater_schemas.quality import rule_by_beginning, rule_of

_WORD: Final = re.compile(r"[A-Za-z_]+")
# Such as `UniquenessConstraint(Uniqueness(List(id, day),None,None))`, or for one column
# `…(Completeness(id,None,None))`.
_DEEQU: Final = re.compile(r"(?:\w+\()?(\w+)\((?:(?:List|Stream|Vector)\(([^)]*)\)|([^,()]*))")
_DEEQU_COLUMNS: Final = re.compile(r"List\(([^)]*)\)")
_DEEQU_VALUE: Final = re.compile(r"Value: (-?[\d.]+(?:[eE][-+]?\d+)?)")
_NO_COLUMN: Final = frozenset({"Size", "CustomSql"})
_TESTS: Final = ("test.", "unit_test.")


def great_expectations(result: Any) -> list[QualityResult]:
    """Convert a validation result of Great Expectations, 0.18 or 1, or its `to_json_dict()`.

    A result's value is `observed_value` if it is a number, else `unexpected_percent`.
    """
    found = _listed(_mapping(result), "results", "great_expectations")
    return _distinct(_expectation(_mapping(each)) for each in found)


def _expectation(each: Mapping[str, Any]) -> QualityResult:
    config = _mapping(each.get("expectation_config") or {})
    kwargs = _mapping(config.get("kwargs") or {})
    found = _mapping(each.get("result") or {})
    kind = str(config.get("type") or config.get("expectation_type") or "")
    columns = kwargs.get("column_list") or ()
    observed = _number(found.get("observed_value"))
    return QualityResult(
        assertion=kind,
        passed=each.get("success") is True,
        value=observed if observed is not None else _number(found.get("unexpected_percent")),
        column=kwargs.get("column") or ", ".join(columns) or None,
        rule=rule_of(kind),
        severity=_text(config.get("severity")),
    )


def soda(scan_results: Mapping[str, Any], *, table: str | None = None) -> list[QualityResult]:
    """Convert the result of a Soda scan: `scan.get_scan_results()`, or the JSON that it writes.

    Args:
        scan_results: the scan's results.
        table: table whose checks are read; None: all tables.
    """
    found = (_mapping(each) for each in _listed(scan_results, "checks", "soda"))
    return _distinct(
        QualityResult(
            assertion=str(each.get("name") or each.get("definition") or ""),
            passed=each["outcome"] == "pass",
            value=_number(_mapping(each.get("diagnostics") or {}).get("value")),
            column=_text(each.get("column")),
            rule=_soda_rule(str(each.get("name") or ""), str(each.get("definition") or "")),
            severity="warn" if each["outcome"] == "warn" else None,
        )
        for each in found
        if each.get("outcome") is not None and (table is None or each.get("table") == table)
    )


def _soda_rule(name: str, definition: str) -> str | None:
    """Return the rule of a Soda check, `- missing_count(id) = 0`: the definition's last line, or the name."""
    for text in (definition.rpartition("- ")[2], name):
        if text.startswith("values in "):
            return "REFERENTIAL"
        if (word := _WORD.match(text)) is not None and (rule := rule_of(word[0])) is not None:
            return rule
    return None


def dbt(
    run_results: Mapping[str, Any], manifest: Mapping[str, Any] | None = None, *, model: str | None = None
) -> list[QualityResult]:
    """Convert results of dbt's tests: `target/run_results.json`, with `target/manifest.json`.

    The manifest has the tests' columns, rules and severities.

    Args:
        run_results: the parsed file.
        manifest: the parsed file; None: the rule is derived from the test's name, and the column is unknown.
        model: model, source or snapshot whose tests are read, by the manifest; None: all.

    Raises:
        CaptureError: tests were only compiled, not run: `dbt docs generate` writes that file, too.
    """
    if model is not None and manifest is None:
        raise CaptureError("quality.dbt needs the manifest to find the tests of a model")
    nodes = _mapping((manifest or {}).get("nodes") or {})
    return _distinct(_dbt_tests(_listed(run_results, "results", "dbt"), nodes, model))


def _dbt_tests(results: Iterable[Any], nodes: Mapping[str, Any], model: str | None) -> Iterator[QualityResult]:
    for each in map(_mapping, results):
        name, status = str(each.get("unique_id") or ""), str(each.get("status") or "")
        node = _mapping(nodes.get(name) or {})
        if not name.startswith(_TESTS) or status in ("", "skipped") or (model is not None and not _is_of(node, model)):
            continue
        if status == "success":
            raise CaptureError(
                f"dbt has compiled {name} and not run it: take run_results.json as `dbt build` leaves it"
            )
        test = name.split(".")[2] if name.count(".") >= 2 else name
        config = _mapping(node.get("config") or {})
        yield QualityResult(
            assertion=test,
            passed=status == "pass",
            value=_number(each.get("failures")),
            column=_text(node.get("column_name")),
            rule=rule_of(str(_mapping(node.get("test_metadata") or {}).get("name"))) or _rule_of_dbt(test),
            # A test of severity `error` with the thresholds `warn_if` and `error_if` may only warn.
            severity="warn" if status == "warn" else _text(config.get("severity")),
        )


def _is_of(node: Mapping[str, Any], model: str) -> bool:
    attached = node.get("attached_node")
    of = [attached] if attached else _mapping(node.get("depends_on") or {}).get("nodes") or []
    return any(str(each).rpartition(".")[2] == model for each in of)


def _rule_of_dbt(test: str) -> str | None:
    """Find the rule by a test's name: `not_null_orders_id`, `dbt_utils_accepted_range_orders_amount__0`."""
    return rule_by_beginning(test.removeprefix("dbt_utils_").removeprefix("dbt_expectations_"))


def deequ(rows: Any) -> list[QualityResult]:
    """Convert the rows of Deequ's `VerificationResult.checkResultsAsDataFrame`, or the DataFrame itself."""
    found = rows.collect() if hasattr(rows, "collect") else rows
    return _distinct(_constraint(each.asDict() if hasattr(each, "asDict") else _mapping(each)) for each in found)


def _constraint(row: Mapping[str, Any]) -> QualityResult:
    text = str(row.get("constraint") or "")
    matched = _DEEQU.match(text)
    kind = matched[1] if matched is not None else ""
    value = _DEEQU_VALUE.search(str(row.get("constraint_message") or ""))
    return QualityResult(
        assertion=text,
        passed=row.get("constraint_status") == "Success",
        value=float(value[1]) if value is not None else None,
        column=_deequ_column(kind, matched, text) or None,
        rule=rule_of(kind),
        severity=_text(row.get("check_level")),
    )


def _deequ_column(kind: str, matched: re.Match[str] | None, text: str) -> str:
    if matched is None or kind in _NO_COLUMN:
        return ""
    # A Compliance constraint has its name first, and its columns last.
    columns = _DEEQU_COLUMNS.findall(text)
    if kind == "Compliance":
        return str(columns[-1]) if columns else ""
    return (matched[2] if matched[2] is not None else matched[3]).strip()


def _distinct(results: Iterable[QualityResult]) -> list[QualityResult]:
    """Number repeated results of one name and column, such as a range for each of two days."""
    seen: Counter[tuple[str, str | None]] = Counter()
    found = []
    for each in results:
        key = (each.assertion, each.column)
        seen[key] += 1
        number = seen[key]
        found.append(each if number == 1 else msgspec.structs.replace(each, assertion=f"{each.assertion} {number}"))
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or the mapping that a tool's object gives."""
    mapping = value.to_json_dict() if hasattr(value, "to_json_dict") else value
    if not isinstance(mapping, Mapping):
        raise CaptureError(f"a result of a check is a mapping, not {type(value).__name__}")
    return mapping


def _listed(given: Mapping[str, Any], key: str, tool: str) -> list[Any]:
    found = given.get(key)
    if not isinstance(found, list | tuple):
        raise CaptureError(f"quality.{tool} takes a result with a list of `{key}`")
    return list(found)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return str(value) if value else None
