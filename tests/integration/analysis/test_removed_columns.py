"""A removed column of flights.departed, with what is declared: whom to notify, and where its values went."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from headwater_analysis.declaring.reading import read_set
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import ImpactChange, SchemaChange, analyze
from headwater_analysis.lineage import Influence
from headwater_analysis.privacy import PrivacyQuestion, privacy
from headwater_analysis.privacy.exposed_data import PrivacyItem
from headwater_analysis.privacy.operations import Exposure
from headwater_analysis.reader import Reader
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[3]
TODAY, DECLARED = date(2026, 11, 22), datetime(2026, 11, 22, tzinfo=UTC)
BY_HAND: dict[str, Any] = yaml.safe_load(
    (ROOT / "tests" / "recordings" / "demo" / "removed_columns.yaml").read_text(encoding="utf-8")
)
COLUMN = "flights.departed"


@pytest.fixture
def declared_demo(demo_graph: Driver) -> None:
    events = []
    for name in ("flights", "privacy"):
        text = (ROOT / "docs" / "examples" / "declare" / f"{name}.yaml").read_text(encoding="utf-8")
        events += list(read_set(f"{name}.yaml", text).events(1, tenant="default", event_time=DECLARED))
    GraphWriter(demo_graph, "neo4j").apply(fold(events))


@pytest.mark.usefixtures("declared_demo")
def test_a_removed_column_names_exactly_whom_to_notify(reader: Reader) -> None:
    for column, expected in BY_HAND.items():
        impact = analyze(reader, ImpactChange(COLUMN, column, schema=SchemaChange.REMOVED))
        assert [consumer.name for consumer in impact.consumers] == expected.get("consumers", []), column


@pytest.mark.usefixtures("declared_demo")
def test_where_the_values_of_a_column_went(reader: Reader) -> None:
    for column, expected in BY_HAND.items():
        sensitive = expected.get("sensitive")
        if sensitive is None:
            with pytest.raises(QuestionError, match="isn't declared"):
                privacy(reader, PrivacyQuestion(COLUMN, column), TODAY)
            continue
        found = privacy(reader, PrivacyQuestion(COLUMN, column), TODAY)
        if "as" in sensitive:
            assert [source.sensitivity for source in found.sources] == [sensitive["as"]]
        held: dict[str, dict[str, set[str]]] = {"clear": {}, "hidden": {}, "ended": {}}
        for how, items in by_fate(found.items).items():
            for item in items:
                held[how].setdefault(item.asset.title or item.asset.name, set()).add(item.asset.column or "")
        assert held == {
            how: {dataset: set(names) for dataset, names in sensitive.get(how, {}).items()} for how in held
        }, column


def by_fate(items: tuple[PrivacyItem, ...]) -> dict[str, list[PrivacyItem]]:
    found = defaultdict(list)
    for item in items:
        if item.influence is Influence.DIRECT:
            how = "clear" if item.exposure is Exposure.READABLE else "hidden"
            found["ended" if item.ending is not None else how].append(item)
    return found


def test_the_table_has_consumers_of_every_column_that_somebody_declared_needs() -> None:
    """Both columns of the table are there for some, and not for all."""
    for name in ("consumers", "sensitive"):
        assert {name in expected for expected in BY_HAND.values()} == {True, False}
