"""Consumers for people: whom to notify, in a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from headwater.console import shortened
from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer

_MOST = 50
_MOST_READS = 3


def consumers_table(consumers: Sequence[ReadingConsumer]) -> Table:
    """Each with what it is, what it reads of what is shown, and how its people are reached."""
    table = Table(box=None, pad_edge=False)
    for heading in ("consumer", "", "reads", "notice", "owner", "reached by"):
        table.add_column(heading, overflow="fold")
    for consumer in consumers[:_MOST]:
        about = [text for text in (consumer.type, consumer.criticality) if text]
        reads = [_called(asset) for asset in consumer.reads[:_MOST_READS]]
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


def _called(asset: Asset) -> str:
    name = shortened(asset.title or asset.name)
    return name if asset.column is None else f"{name}#{shortened(asset.column)}"
