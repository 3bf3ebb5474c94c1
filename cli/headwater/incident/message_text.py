"""Text of a message about an incident: at most five lines of plain text, for one recipient.

Titles and names come from outside, and services render links and markup in a text. So anything in a title or name that
would form a line, a link or a tag is changed: `https://…` becomes `https[:]//…`, `<` becomes `‹`. The only link of a
message is the declared link of the incident's page.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from headwater.console import shortened
from headwater.incident import views
from headwater.incident.channels import Channels
from headwater.incident.sending import ChannelMessage
from headwater.lean_imports import without
from headwater.show.names import moment_text
from headwater_schemas.events import Certainty, NotificationChange

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount
    from headwater_analysis.incidents.answers import Incident, IncidentReach
    from headwater_analysis.incidents.recipients import OPERATORS, HeldDataset, IncidentRecipients, Recipient

_MOST_NAMED: Final = 5
_LINK: Final = re.compile(r"(?:https?|ftp|mailto):(?=\S)|www\.", re.IGNORECASE)
_HEADINGS: Final = {
    NotificationChange.OPENED: "Bad data",
    NotificationChange.REACHED: "Bad data",
    NotificationChange.CHANGED: "Bad data, changed",
    NotificationChange.CLEARED: "Clean again",
    NotificationChange.RESOLVED: "Resolved",
}


def plain(text: str) -> str:
    """Return a text from outside as one line without a link or a tag."""
    shown = shortened(text).replace("<", "‹").replace(">", "›").replace("](", "] (")
    return _LINK.sub(lambda found: f"{found[0][:-1]}[{found[0][-1]}]", shown)


def message_of(found: IncidentRecipients, recipient: Recipient, channels: Channels) -> ChannelMessage:
    """Build the message for a recipient."""
    brief = found.incident.brief
    severity = brief.severity or "no severity"
    title = f"{_HEADINGS[recipient.change]}: {plain(brief.title or 'no title')} ({severity}, {plain(brief.incident)})"
    link = channels.page_of(brief.incident)
    lines = [_since(found.incident, recipient), _reached(found.incident, recipient), _advice(found.incident, recipient)]
    return ChannelMessage(
        incident=brief.incident,
        severity=brief.severity,
        recipient=recipient.recipient,
        change=recipient.change,
        title=title,
        lines=(*lines, *([] if link is None else [f"Page: {link}"])),
        link=link,
    )


def _since(found: Incident, recipient: Recipient) -> str:
    opened = moment_text(found.brief.opened_at)
    if recipient.change is NotificationChange.RESOLVED:
        into = found.brief.continued_in
        result = f"goes on in {plain(into)}" if into else found.brief.resolution or "no resolution"
        return f"Opened: {opened}. Resolved: {moment_text(found.brief.resolved_at)}, {result}."
    times = [each.since for each in recipient.held]
    known = [time for time in times if time is not None]
    if not recipient.held:
        return f"Opened: {opened}."
    if len(known) < len(times) or recipient.unlisted:
        return f"Opened: {opened}. Bad data since: not known for all datasets."
    return f"Opened: {opened}. Bad data since: {moment_text(min(known))}."


def _reached(found: Incident, recipient: Recipient) -> str:
    yours = "All datasets" if recipient.recipient == OPERATORS else "Your data"
    sure = [each for each in recipient.held if each.certainty is Certainty.EXACT]
    unsure = [each for each in recipient.held if each.certainty is not Certainty.EXACT]
    parts = []
    if sure:
        parts.append(f"bad data is in {_named(sure)}")
    if unsure or recipient.unlisted:
        parts.append(f"{_named(unsure, recipient.unlisted)} may hold bad data")
    if recipient.cleared:
        parts.append(f"{len(recipient.cleared):,} clean again")
    doubts = [] if found.reach is None else [views.unknown_words(found.reach), _spreading(found.reach)]
    doubts = [each for each in doubts if each]
    if not recipient.held and not recipient.unlisted:
        # The incident may still have bad data, but none of it is in the recipient's datasets.
        parts.insert(0, "no bad data is known" if doubts else "no bad data is left")
    return f"{yours}: {'; '.join([*parts, *doubts])}."


def _spreading(reach: IncidentReach) -> str:
    return f"{amount(len(reach.may_spread), 'query', 'queries')} may still spread" if reach.may_spread else ""


def _named(held: list[HeldDataset], unlisted: int = 0) -> str:
    names = ", ".join(plain(each.dataset) for each in held[:_MOST_NAMED])
    more = len(held) + unlisted - min(len(held), _MOST_NAMED)
    return " and ".join(filter(None, (names, f"{more:,} more" if more else "")))


def _advice(found: Incident, recipient: Recipient) -> str:
    show = f"headwater incident show {plain(found.brief.incident)}"
    is_over = recipient.change in (NotificationChange.CLEARED, NotificationChange.RESOLVED)
    if is_over and not recipient.held and not recipient.unlisted and found.reach is not None and found.reach.is_final:
        return f"There is nothing to do. Details: {show}"
    names = [each.dataset for each in recipient.held if plain(each.dataset) == each.dataset]
    gate = shlex.quote(names[0]) if names else "DATASET"
    return f"Details: {show} — check before a job reads the data: headwater gate {gate}"
