"""`headwater campaign`: list of backfill campaigns, and one campaign."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import shortened
from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.incident import campaigns as views
from headwater.incident.details import LONGEST
from headwater.lean_imports import without
from headwater.show.pages import FittedView, counted
from headwater.trace_options import arrived

with without("numpy", "pandas"):
    from headwater_analysis.incidents.campaigns import campaign as questions
    from headwater_analysis.incidents.campaigns.campaign_answers import Campaign, CampaignPage


@graph_command(page=50)
def command(
    ask: Ask,
    campaign: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of the campaign, as its runs report it.", show_default=False)
    ] = None,
) -> Shown:
    """List backfill campaigns, or show one: its runs, what they restated, who was notified, and what is left.

    Start runs of a campaign with HEADWATER_JOB_CAMPAIGN=ID. If ID is the id of an incident, the answer has this
    incident, too.

    headwater campaign INC-1a2b3c4d5e
    """
    if campaign is None:
        page = ask(
            lambda reader: questions.campaigns(reader, limit=ask.limit, cursor=ask.cursor),
            lambda server: server.get(("campaigns",), CampaignPage, {"limit": ask.limit, "cursor": ask.cursor}),
        )
        summary = counted(page.total, len(page.items), "campaign", page.next_cursor)
        return Shown(page, FittedView(views.campaigns_table(page)), summary)
    if ask.cursor is not None:
        raise InputError("--cursor: one campaign has no pages.", fix="Leave out the id to list campaigns.")
    found = ask(
        lambda reader: questions.campaign(reader, campaign, arrivals=arrived),
        lambda server: server.get(("campaigns", campaign), Campaign, {}),
    )
    notes = tuple(shortened(note, LONGEST) for note in found.notes)
    return Shown(found, views.campaign_view(found), views.campaign_summary(found), notes)
