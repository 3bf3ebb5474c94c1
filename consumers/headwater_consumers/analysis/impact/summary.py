"""The answer as Markdown, to paste into a ticket."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater_consumers.analysis.impact.wording import called, headline, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater_consumers.analysis.impact.answer import Impact, ImpactItem, Owner

_MOST_ITEMS = 50
_MOST_OWNERS = 20
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def summary_of(impact: Impact) -> str:
    """What changes, how bad it is, who has to know, and what to do, in this order."""
    return "\n".join(_lines(impact)) + "\n"


def _lines(impact: Impact) -> Iterator[str]:
    name = impact.change.column if impact.start.column is None else None
    start = impact.start.spelling + (f"#{name}" if name else "")
    yield f"## {_text(headline(impact.change, impact.type, impact.start))}: {impact.severity}"
    yield ""
    yield f"{impact.type} of {_code(start)}: {counted(impact)}."
    for note in impact.notes:
        yield f"{_text(note)}"
    if impact.jobs:
        yield ""
        yield "### Jobs"
        yield ""
        for job in impact.jobs[:_MOST_ITEMS]:
            yield f"- **{job.severity}** {_code(job.job.name)}: {_text(job.reason)}{_owned(job.owners)}"
        yield from _more(impact.jobs_total - min(len(impact.jobs), _MOST_ITEMS), "jobs")
    if impact.items:
        shown = impact.items[:_MOST_ITEMS]
        yield ""
        yield "### Impact"
        yield ""
        yield "| severity | asset | | hops | why | to do |"
        yield "|---|---|---|---|---|---|"
        for item in shown:
            yield _row(item)
        yield from _more(impact.total - len(shown), "assets")
    every = (*(job.owners for job in impact.jobs), *(item.owners for item in impact.items))
    owners = list(dict.fromkeys(owner.name for told in every for owner in told))
    if owners:
        yield ""
        told = ", ".join(_text(owner) for owner in owners[:_MOST_OWNERS])
        yield f"To tell: {told}{f' and {len(owners) - _MOST_OWNERS} more' if len(owners) > _MOST_OWNERS else ''}."


def counted(impact: Impact) -> str:
    """The totals in words."""
    if not impact.total:
        return "nothing that is known uses it"
    by = ", ".join(f"{total.total:,} {total.severity}" for total in impact.totals)
    whole = impact.total - impact.columns
    parts = [
        f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in ((impact.columns, "column"), (whole, "dataset")) if n
    ]
    jobs = f"{impact.jobs_total:,} job{'' if impact.jobs_total == 1 else 's'}"
    far = f"up to {impact.max_hops} hops away" if impact.max_hops > 1 else "1 hop away"
    return f"{' and '.join(parts)}, {far}, by {jobs} ({by}; {impact.direct:,} DIRECT, {impact.indirect:,} INDIRECT)"


def _row(item: ImpactItem) -> str:
    cells = (
        f"**{item.severity}**",
        _text(called(item.asset)),
        str(item.influence),
        str(item.hops),
        _text(item.reason),
        _text(item.action),
    )
    return f"| {' | '.join(cells)} |"


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield ""
        yield f"… and {count:,} more {what}."


def _owned(owners: tuple[Owner, ...]) -> str:
    return f" ({', '.join(_text(owner.name) for owner in owners)})" if owners else ""


def _code(text: str) -> str:
    """As code, with a fence longer than any run of backticks in it."""
    shown = short(text, 200)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    return f"{fence} {shown} {fence}" if "`" in shown else f"`{shown}`"


def _text(text: str) -> str:
    """As text: nothing in it is Markdown."""
    return _SPECIAL.sub(r"\\\1", short(text, 600))
