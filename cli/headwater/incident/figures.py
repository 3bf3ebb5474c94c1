"""Views of the figures of incidents."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from headwater.console import plain_table
from headwater.lean_imports import without
from headwater.show.names import moment_text

with without("numpy", "pandas"):
    from headwater_analysis.incidents.figures import IncidentFigures, TimeTaken

if TYPE_CHECKING:
    from rich.table import Table


def figures_table(found: IncidentFigures) -> Table:
    """Table with a row for each severity: open incidents by age, and times to acknowledge and resolve."""
    out = plain_table(
        "severity", "open", "< 1 day", "< 7 days", "older", "new", "oldest since", "acknowledged", "resolved"
    )
    for each in found.severities:
        counts = (each.open.under_a_day, each.open.under_a_week, each.open.older)
        out.add_row(
            Text("–" if each.severity is None else each.severity.value, style="bold"),
            *(Text(f"{count:,}") for count in (sum(counts), *counts, each.new)),
            moment_text(each.oldest_opened_at),
            Text(taken_words(each.to_acknowledge)),
            Text(taken_words(each.to_resolve)),
        )
    return out


def figures_summary(found: IncidentFigures) -> str:
    """Last line of the figures: number of open incidents, openings of the period, and the meaning of the times."""
    number = sum(each.open.under_a_day + each.open.under_a_week + each.open.older for each in found.severities)
    opened = sum(each.opened for each in found.severities)
    return (
        f"{number:,} open; {opened:,} opened since {moment_text(found.since)}. Times are medians, from the opening to "
        "an acknowledgement or resolution since then."
    )


def taken_words(taken: TimeTaken) -> str:
    """Format times from the opening: `3, after 2 h 5 min (at most 7 h)`."""
    if taken.median_seconds is None or taken.longest_seconds is None:
        return "none"
    most = f" (at most {span_words(taken.longest_seconds)})" if taken.incidents > 1 else ""
    return f"{taken.incidents:,}, after {span_words(taken.median_seconds)}{most}"


def span_words(seconds: float) -> str:
    """Format a length of time by its two largest units: `2 d 3 h`, `45 s`."""
    whole = timedelta(seconds=round(seconds))
    hours, rest = divmod(whole.seconds, 3_600)
    minutes, left = divmod(rest, 60)
    units = ((whole.days, "d"), (hours, "h"), (minutes, "min"), (left, "s"))
    first = next((index for index, (number, _) in enumerate(units) if number), len(units) - 1)
    return " ".join(f"{number:,} {unit}" for number, unit in units[first : first + 2] if number) or "0 s"
