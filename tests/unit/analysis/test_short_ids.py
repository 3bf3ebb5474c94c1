"""Prefixes of ids, code versions and queries: the one that is meant, and those that several share."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from headwater import errors
from headwater.commands.runs import _named
from headwater_analysis.blast.origin import _queries_like
from headwater_analysis.diff.sides import _whole_version
from headwater_analysis.errors import AmbiguousError
from headwater_analysis.runs.run_names import id_prefixes, resolve_run


class Known:
    """A transaction that knows code versions of a job."""

    def rows(self, _name: str, *, prefix: str, limit: int, **_: Any) -> list[dict[str, str]]:
        known = ("1a2b3c4d5e6f7", "1a2b3c4d5e6f7-dirty", "9f00", "abcd1", "abcd2", "v1-2")
        return [{"code_version": each} for each in known if each.startswith(prefix)][:limit]


def test_a_code_version(subtests: pytest.Subtests) -> None:
    cases = [
        ("1a2b3c4d5e6f", "1a2b3c4d5e6f7"),
        ("1a2b3c4d5e6f-dirty", "1a2b3c4d5e6f7-dirty"),
        ("9f00", "9f00"),
        ("9f0", "9f0"),
        ("0000000", "0000000"),
    ]
    for text, version in cases:
        with subtests.test(text=text):
            assert _whole_version(Known(), "job", text) == version  # type: ignore[arg-type]


class Several:
    """A transaction that knows several runs and queries whose ids begin alike."""

    tenant = "default"

    def row(self, _name: str, /, **_: Any) -> None:
        return None

    def rows(self, statement: str, /, **_: Any) -> list[dict[str, Any]]:
        if statement == "blast/queries_by_name":
            return []
        return [{"run": {"run_id": each}, "query_id": each, "key": each} for each in ("abcd-1", "abcd-2")]


def test_several_that_begin_so() -> None:
    with pytest.raises(AmbiguousError) as of_runs:
        resolve_run(Several(), "abcd")  # type: ignore[arg-type]
    with pytest.raises(AmbiguousError) as of_queries:
        _queries_like(Several(), "abcd")  # type: ignore[arg-type]
    with pytest.raises(AmbiguousError) as of_versions:
        _whole_version(Known(), "job", "abcd")  # type: ignore[arg-type]
    assert of_versions.value.candidates == ("abcd1", "abcd2")
    assert of_runs.value.candidates == of_queries.value.candidates == ("abcd-1", "abcd-2")


def test_a_name_of_a_job_and_a_dataset_offers_kind() -> None:
    find = Mock(side_effect=AmbiguousError("Both are called so.", candidates=("job 01ab", "dataset 02cd")))
    with pytest.raises(errors.InputError) as offered:
        _named(find, "a", None)
    assert "--kind job or --kind dataset" in offered.value.fix
    assert offered.value.nearest == ("01ab", "02cd")


def test_a_name_of_several_jobs_stays_ambiguous() -> None:
    find = Mock(side_effect=AmbiguousError("Both are called so.", candidates=("ns/a", "other/a")))
    with pytest.raises(AmbiguousError):
        _named(find, "a", None)


def test_what_an_id_may_begin_with(subtests: pytest.Subtests) -> None:
    cases = [
        ("abc", []),
        ("ABCD1234", ["ABCD1234", "abcd1234"]),
        ("abcd12345", ["abcd12345", "abcd1234-5"]),
        ("abcd1234-5678", ["abcd1234-5678"]),
        ("manual__2025", ["manual__2025"]),
    ]
    for text, prefixes in cases:
        with subtests.test(text=text):
            assert id_prefixes(text) == prefixes
