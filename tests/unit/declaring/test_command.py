"""`headwater declare` where it needs no Kafka and no Neo4j, and how it shows how far it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cli import main
from headwater.commands import declare
from headwater.errors import UnreachableError
from headwater_analysis.declaring.model import json_schema
from headwater_analysis.declaring.sets import DeclaredSet
from support.dbt_artifacts import NAMESPACE, RECORDED


def test_the_schema_is_the_published_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["declare", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_a_manifest_with_its_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    manifest, catalog = str(RECORDED / "manifest.json"), str(RECORDED / "catalog.json")
    base = ["declare", manifest, "--namespace", NAMESPACE, "--json"]
    assert main([*base, "--check"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"] == [{"set": "dbt:shop", "declarations": 16}]
    columns = {}
    for more in ([], ["--catalog", catalog]):
        assert main([*base, "--as-contract", *more]) == 0
        (contract,) = json.loads(capsys.readouterr().out)["contracts"]
        columns[len(more)] = contract["contract"].count("ordered_at")
    # The catalog has the columns that nobody documented.
    assert columns[0] == 0 < columns[2]
    assert main([*base, "--check", "--catalog", "no-such-catalog.json"]) == 2
    assert "no-such-catalog.json" in capsys.readouterr().err


class _Revision:
    """A revision of so many events, of which the graph has more each time."""

    def __init__(self, name: str, counts: list[int]) -> None:
        self.declared = DeclaredSet(name, {})
        self.events = list(range(counts[-1]))
        self.counts = iter(counts)


def test_the_bar_shows_how_far_all_sets_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def progress(_: Any, revision: _Revision) -> tuple[bool, int]:
        count = next(revision.counts)
        return count == len(revision.events), count

    monkeypatch.setattr(declare, "progress", progress)
    monkeypatch.setattr(declare, "_POLL_SECONDS", 0.0)
    shown: list[int] = []
    revisions: Iterator[Any] = iter([_Revision("a", [0, 4, 10]), _Revision("b", [2, 3])])
    declare._wait(None, revisions, 60, shown.append)  # type: ignore[arg-type]
    assert shown == [0, 4, 10, 12, 13]
    late: Any = [_Revision("c", [1, 1, 9])]
    with pytest.raises(UnreachableError, match="has about 1 of its 9 events"):
        declare._wait(None, late, 0, shown.append)  # type: ignore[arg-type]
