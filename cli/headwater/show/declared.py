"""Views of the declarations on a dataset, a column or a job, and of declared consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater_analysis.assets import Asset
from headwater_analysis.declared import Contradiction, Declared, ReadingConsumer

_LONGEST: Final = 300
BESIDE: Final = {"owners": "owner_types", "tags": "tag_values"}
"""Property ⇒ parallel property: a type for each owner, and a value for each tag."""


def declared_table(found: Declared) -> Table:
    """Table with a row for each property of the dataset or job itself, and for each column with a declaration."""
    table = plain_table()
    table.add_row("in sets", Text(shortened(", ".join(found.sets), _LONGEST)))
    for name, value in _properties(found.values):
        table.add_row(shortened(name), Text(shortened(value, _LONGEST)))
    for path, values in found.columns.items():
        table.add_row(Text(shortened(f"#{path}")), Text(stated(values)))
    for each in found.contradictions:
        table.add_row(Text("contradiction", style="yellow"), Text(shortened(contradiction_text(each), _LONGEST)))
    return table


def stated(values: Mapping[str, Any]) -> str:
    """Format properties in one line."""
    return shortened(", ".join(f"{name} {value}" for name, value in _properties(values)), _LONGEST)


def _properties(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    parallel = set(BESIDE.values())
    out = []
    for name, value in values.items():
        if name in parallel:
            continue
        if name == "plan":
            out.append(("column lineage", "declared"))
            continue
        shown = _pairs(value, values.get(BESIDE[name]) or []) if name in BESIDE else value
        out.append((name.replace("_", " "), value_text(shown)))
    return out


def _pairs(names: list[str], others: list[str]) -> list[str]:
    others = [*others, *[""] * (len(names) - len(others))]
    return [f"{name} ({other})" if other else name for name, other in zip(names, others, strict=True)]


def contradiction_text(each: Contradiction) -> str:
    """Describe a contradiction: property and column, the sets' values, and the shown value."""
    column = "" if each.column is None else f"column {shortened(each.column)}, "
    subject = f"{column}{shortened(each.property)}"
    values = "; ".join(f"{shortened(set_)}: {value_text(value)}" for set_, value in each.values.items())
    return f"{subject}: {values}. The value of {shortened(next(iter(each.values)))} is shown."


def value_text(value: Any) -> str:
    """Format a value of a property; for a list, all its items."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(shortened(str(item)) for item in value) or "none"
    return "none" if value is None else shortened(str(value), _LONGEST)


_MOST = 50
_MOST_READS = 3


def consumers_table(consumers: Sequence[ReadingConsumer]) -> Table:
    """Table of consumers: type, which of the shown assets they read, and contacts."""
    table = plain_table("consumer", "", "reads", "notice", "owner", "reached by")
    for consumer in consumers[:_MOST]:
        about = [text for text in (consumer.type, consumer.criticality) if text]
        reads = [_short_name(asset) for asset in consumer.reads[:_MOST_READS]]
        more = [f"and {consumer.reads_total - _MOST_READS:,} more"] if consumer.reads_total > _MOST_READS else []
        table.add_row(
            Text(shortened(consumer.name), style="bold"),
            Text(" ".join(map(shortened, about))),
            Text("\n".join([*reads, *more])),
            Text("" if consumer.notice_days is None else f"{consumer.notice_days} days"),
            Text("\n".join(shortened(owner.name) for owner in consumer.owners)),
            Text("\n".join(shortened(text) for text in (consumer.on_call, consumer.contact) if text)),
        )
    if len(consumers) > _MOST:
        table.add_row(Text(f"… and {len(consumers) - _MOST:,} more", style="dim"))
    return table


def _short_name(asset: Asset) -> str:
    name = shortened(asset.title or asset.name)
    return name if asset.column is None else f"{name}#{shortened(asset.column)}"
