"""Names without a namespace, as the graph resolves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.declaring import names
from headwater_analysis.declaring.names import UnresolvedNameError, found_in
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.reader import Reader
from headwater_analysis.resolve import FoundNode
from headwater_schemas.events import DatasetRef

KEY = "cafe" * 8


class _Reader:
    def read(self, question: Callable[[Any], Any]) -> Any:
        return question(None)


def resolving(monkeypatch: pytest.MonkeyPatch, answer: FoundNode | Exception) -> list[str]:
    asked: list[str] = []

    def resolve(_tx: Any, text: str, *, whole: bool) -> FoundNode:
        assert whole, "the last part of a name is none"
        asked.append(text)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(names, "resolve_dataset", resolve)
    return asked


def found() -> FoundNode:
    return FoundNode(1, Asset(AssetKind.DATASET, KEY, "file", "/warehouse/shop.db/orders"))


def test_a_name_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = resolving(monkeypatch, found())
    looked_up = found_in(cast("Reader", _Reader()))
    assert looked_up.dataset("shop.orders") == DatasetRef("file", "/warehouse/shop.db/orders")
    assert looked_up.dataset("shop.orders") == DatasetRef("file", "/warehouse/shop.db/orders")
    assert asked == ["shop.orders"]


def test_a_name_of_none_or_several(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (
            NotFoundError("x", nearest=["n/shop.orders", "n/shop.items"]),
            "has no dataset a.b, the nearest are n/shop.or",
        ),
        (NotFoundError("x"), "has no dataset a.b"),
        (AmbiguousError("x", candidates=["n/a.b", "m/a.b"]), "has several datasets a.b: n/a.b, m/a.b"),
    ]
    for error, message in cases:
        with subtests.test(error=error):
            resolving(monkeypatch, error)
            with pytest.raises(UnresolvedNameError, match=message):
                found_in(cast("Reader", _Reader())).dataset("a.b")


def test_the_beginning_of_a_key_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, found())
    with pytest.raises(UnresolvedNameError, match="cafe is the beginning of a dataset's key, not a name"):
        found_in(cast("Reader", _Reader())).dataset("cafe")
