"""`bench query` on a tiny estate: imported for real, asked for real, and everyone finds the same."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.console import console
from headwater_benchmarks.estate import store
from headwater_benchmarks.estate.sizes import Sizes
from headwater_benchmarks.query.run import Options, run
from headwater_benchmarks.query.show import view
from support.running import QUICK_JVM

pytestmark = pytest.mark.nightly

SIZES = Sizes(datasets=1_000, columns=5_000, intervals=1_000, seed=3)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="module")
def document(stores: Path) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", QUICK_JVM)  # how fast it is counts nothing here
        return run(Options(SIZES, 2, 3, 30.0, 512, 128, stores, warm_up=3))


@pytest.mark.timeout(300)
def test_headwater_finds_what_the_hand_written_statement_finds(document: dict[str, Any]) -> None:
    names = [measurement["question"] for measurement in document["measurements"]]
    assert len(names) == len(set(names)) == 7
    for measurement in document["measurements"]:
        ours, *others = measurement["contestants"]
        assert ours["found"]["minimum"] > 0
        assert ours["too_long"] == 0
        for other in others:
            assert other["found"] == ours["found"], measurement["question"]


def test_the_report_reports_what_was_measured_on(document: dict[str, Any]) -> None:
    kinds = document["environment"]["by_kind"]
    assert kinds["Dataset"] == SIZES.datasets
    assert kinds["Segment"] == 10
    assert document["environment"]["micro_batches"] == SIZES.intervals
    assert document["environment"]["relationships"] > 10_000
    assert document["environment"]["peak_rss_mb"]["headwater"] > 0
    assert document["options"]["seed"] == SIZES.seed
    assert [goal["direction"] for goal in document["goals"]] == ["at_most"] * 5
    assert all({"name", "value", "goal", "direction", "met"} == set(goal) for goal in document["goals"])
    json.dumps(document)


def test_it_is_shown_as_tables(document: dict[str, Any]) -> None:
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    shown = captured.get()
    assert "downstream, all hops, first page" in shown
    assert "one statement" in shown
    assert shown.count("≤") == 5


def test_a_store_that_is_there_is_not_made_again(
    stores: Path, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (manifest,) = stores.glob("estate-*/manifest.json")
    made = manifest.stat().st_mtime_ns
    assert not list(stores.glob("estate-*/sheets"))

    # Without starting it once more, which it was for `document` after it had been made.
    @contextlib.contextmanager
    def nobody(*_: object, **__: object) -> Iterator[tuple[object, object]]:
        yield SimpleNamespace(process=SimpleNamespace(pid=0)), None

    monkeypatch.setattr(store, "server_up", nobody)
    monkeypatch.setattr(store, "_make", lambda *_: pytest.fail("it is made again"))
    with store.served(SIZES, stores, heap_mb=512, page_cache_mb=128, report=lambda _: None) as again:
        assert again.manifest["nodes"] | again.manifest["relationships"] == document["environment"]["by_kind"]
    assert manifest.stat().st_mtime_ns == made
