"""Views of backfill campaigns: the list, and one campaign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.incident.details import LONGEST, MOST_ROWS, titled
from headwater.lean_imports import without
from headwater.show import runs
from headwater.show.declared import consumers_table
from headwater.show.names import asset_text, moment_text
from headwater.show.pages import FittedView, pairs
from headwater.show.trace import CERTAINTY_STYLES, certainty_words, gone_words, part_words

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.incidents.campaigns.campaign_answers import (
        Campaign,
        CampaignConsumer,
        CampaignIncident,
        CampaignJob,
        CampaignPage,
        RestatedDataset,
        RestatedWrite,
        Restatement,
    )

_MOST: Final = 10
_WORDS: Final = {
    Restatement.REPLACED: "replaced everything",
    Restatement.PARTITIONS: "replaced partitions",
    Restatement.VERSIONS: "wrote versions",
    Restatement.APPENDED: "appended",
    Restatement.UNKNOWN: "not known",
}


def campaigns_table(page: CampaignPage) -> Table:
    """Table with a row for each campaign."""
    out = plain_table(
        "campaign", "runs", "without end", "failed", "began", "latest run", numbers=("runs", "without end", "failed")
    )
    for each in page.items:
        out.add_row(
            Text(shortened(each.campaign), style="bold"),
            *(f"{count:,}" for count in (each.runs, each.unfinished, each.failed)),
            moment_text(each.began),
            moment_text(each.latest),
        )
    return out


def campaign_view(found: Campaign) -> RenderableType:
    """View of a campaign: its runs, restated datasets, repaired incidents, consumers, and what is left to repair."""
    caveat = f"; {unknown_words(found)}" if found.unknown else ""
    parts: list[RenderableType] = [_header(found)]
    parts += [titled(f"Jobs, each with its latest run: {len(found.jobs):,}{caveat}"), FittedView(_jobs(found.jobs))]
    parts.append(titled(f"Datasets restated: {len(found.restated):,}{caveat}"))
    if found.restated:
        parts.append(FittedView(_restated(found.restated)))
    followed = f"of {found.followed:,} whose reach was computed"
    parts.append(titled(f"Incidents whose bad data it replaced: {_replacing(found):,} ({followed}){caveat}"))
    parts += [view for each in found.campaign_incidents for view in _incident(each)]
    silent = [each for each in found.consumers if not each.notified]
    parts.append(
        titled(f"Consumers of restated datasets: {len(found.consumers):,}, {len(silent):,} not notified{caveat}")
    )
    if found.consumers:
        parts.append(FittedView(consumers_table([each.consumer for each in found.consumers])))
        parts += map(_notified, found.consumers[:MOST_ROWS])
        parts += _more(len(found.consumers), MOST_ROWS)
    return Group(*parts)


def campaign_summary(found: Campaign) -> str:
    """Last line of a campaign: its totals, and what isn't known."""
    left = sum(len(each.left) for each in found.campaign_incidents)
    words = [
        amount(found.runs, "run"),
        f"{found.unfinished:,} without an end",
        f"{found.failed:,} failed",
        f"{amount(len(found.restated), 'dataset')} restated",
        f"{amount(left, 'step')} of open incidents left to run",
    ]
    unknown = f"; {unknown_words(found)}" if found.unknown else ""
    return f"{', '.join(words)}{unknown}."


def unknown_words(found: Campaign) -> str:
    """Format the unknown facts of a campaign for the line with its totals; empty: everything is known."""
    return f"not known: {', '.join(shortened(each, LONGEST) for each in found.unknown)}" if found.unknown else ""


def _header(found: Campaign) -> RenderableType:
    states = [f"{each.runs:,} {each.state or 'without a known state'}" for each in found.states]
    rows: tuple[tuple[str, str | Text | None], ...] = (
        ("runs", ", ".join(states)),
        ("began", moment_text(found.began)),
        ("ended", "not yet, as far as known" if found.ended is None else moment_text(found.ended)),
    )
    return Group(Text(shortened(found.campaign), style="bold"), pairs(rows))


def _jobs(jobs: Sequence[CampaignJob]) -> Table:
    out = plain_table("job", "runs", "without end", "failed", "latest", "state", "run", numbers=("runs",))
    for each in jobs[:MOST_ROWS]:
        job, latest = each.latest.job, each.latest
        out.add_row(
            Text("–" if job is None else shortened(job.name), style="bold"),
            *(f"{count:,}" for count in (each.runs, each.unfinished, each.failed)),
            moment_text(latest.began),
            runs.state_text(latest),
            Text(shortened(latest.run_id)),
        )
    if len(jobs) > MOST_ROWS:
        out.add_row(f"… and {len(jobs) - MOST_ROWS:,} more; --json lists all")
    return out


def _restated(datasets: Sequence[RestatedDataset]) -> Table:
    out = plain_table("dataset", "how", "runs", "written", numbers=("runs",))
    for each in datasets[:MOST_ROWS]:
        for n, write in enumerate(each.writes):
            name = asset_text(each.dataset) if n == 0 else Text()
            out.add_row(name, Text(_WORDS[write.kind]), f"{write.runs:,}", Text("\n".join(_written(write))))
    if len(datasets) > MOST_ROWS:
        out.add_row(f"… and {len(datasets) - MOST_ROWS:,} more; --json lists all")
    return out


def _written(write: RestatedWrite) -> Iterator[str]:
    if write.partitions:
        yield first_of([shortened(each) for each in write.partitions], _MOST)
    for part in write.parts[:_MOST]:
        yield f"{part_words(part)} ({certainty_words(part)})"
    if len(write.parts) > _MOST:
        yield f"… and {len(write.parts) - _MOST:,} more; --json lists all"


def _replacing(found: Campaign) -> int:
    return sum(bool(each.replaced) for each in found.campaign_incidents)


def _incident(found: CampaignIncident) -> Iterator[RenderableType]:
    brief = found.incident
    unknown = f"; not known: {', '.join(map(shortened, found.unknown))}" if found.unknown else ""
    title = Text(shortened(brief.incident), style="bold")
    yield title.append(f"  {brief.status or 'not opened'}  {shortened(brief.title or '')}", style="not bold")
    yield Text(f"    replaced by it: {amount(len(found.replaced), 'part')}{unknown}")
    for gone in found.replaced[:_MOST]:
        yield Text("      ").append_text(asset_text(gone.part.dataset)).append(f"  {gone_words(gone)}")
    yield from _more(len(found.replaced), _MOST)
    yield Text(f"    bad data now: {amount(len(found.bad), 'dataset')}{unknown}")
    for each in found.bad[:_MOST]:
        text = Text("      ").append_text(asset_text(each.dataset))
        yield text.append(f"  {each.certainty.value}", style=CERTAINTY_STYLES[each.certainty])
    yield from _more(len(found.bad), _MOST)
    if found.left or not found.complete:
        yield Text(f"    left to run: {amount(len(found.left), 'step')}{unknown}")
    for step in found.left[:_MOST]:
        yield Text(f"      {step.kind.value}  {shortened(step.title)}")
    yield from _more(len(found.left), _MOST)


def _notified(each: CampaignConsumer) -> Text:
    name = shortened(each.consumer.name)
    if not each.notified:
        return Text(f"{name}: not notified, as far as recorded", style="yellow")
    sent = [
        f"{shortened(one.incident)} ({one.sent.change} by {shortened(one.sent.channel)} at {moment_text(one.sent.at)})"
        for one in each.notified
    ]
    return Text(f"{name}: notified of {', '.join(sent)}")


def _more(number: int, most: int) -> Iterator[Text]:
    if number > most:
        yield Text(f"      … and {number - most:,} more; --json lists all", style="dim")
