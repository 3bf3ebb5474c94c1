"""Messages to the owners and consumers of datasets that incidents reached: sent, then recorded.

A message is recorded after a service accepted it. So each message arrives at least once: a command that is killed in
between sends it again. A recipient without a record gets the message in the next round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from headwater.console import shortened
from headwater.errors import CheckFailedError
from headwater.graph_reader import asking
from headwater.incident import views
from headwater.incident.acting import ActionRun, waited
from headwater.incident.channels import Channels, NamedChannel, load_channels
from headwater.incident.message_text import message_of
from headwater.incident.rounds import rounds
from headwater.incident.sending import ChannelMessage, send
from headwater.lean_imports import without
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.trace_options import arrived
from headwater_schemas.events import IncidentAction, IncidentEvent, NotificationChange, NotifiedRecipient
from headwater_schemas.events.build import lineage_event
from headwater_schemas.incident_rules import MOST_RECIPIENTS

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.incidents.actions import PRODUCER
    from headwater_analysis.incidents.recipients import IncidentRecipients, Recipient, recipients, to_notify
    from headwater_analysis.reader import Reader

PAUSES_SECONDS: Final = (1.0, 2.0, 4.0)
"""Pauses before the second and later attempts of a round."""


class Delivery(StrEnum):
    """Result for one recipient.

    UNCHANGED: the recipient got this message before. NO_CHANNEL: the file has no channel for the recipient.
    """

    SENT = "SENT"
    WOULD_SEND = "WOULD_SEND"
    FAILED = "FAILED"
    NO_CHANNEL = "NO_CHANNEL"
    UNCHANGED = "UNCHANGED"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationItem:
    """Result for one recipient.

    Attributes:
        recipient: name of an owner or consumer; `defaults.operators`: the operators, who are notified of every
            incident.
        channel: name of the channel; None: the file has none.
        change: reason for the message.
        delivery: the result.
        problem: reason of a failure; empty: there was none.
        text: lines of the message; empty: no message was due.
    """

    recipient: str
    channel: str | None
    change: NotificationChange
    delivery: Delivery
    problem: str
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentNotifications:
    """Results for one incident.

    Attributes:
        incident: id of the incident.
        complete: false: the reach isn't fully known, so there may be more recipients.
        unknown: unknown parts of the reach, as text; empty: the whole reach is known.
        items: results by recipient, the operators first.
        unowned: datasets with bad data that have no owner, by name.
    """

    incident: str
    complete: bool
    unknown: str
    items: tuple[NotificationItem, ...]
    unowned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Document of `headwater incident notify`.

    Attributes:
        rounds: number of rounds.
        sent: number of messages that were sent in all rounds.
        items: incidents of the latest round.
    """

    rounds: int
    sent: int
    items: tuple[IncidentNotifications, ...]

    def number(self, delivery: Delivery) -> int:
        """Number of recipients of the latest round with this result."""
        return sum(each.delivery is delivery for one in self.items for each in one.items)


@dataclass(slots=True)
class SentMessages:
    """Messages of this process whose records the graph may not have yet. Keys are incident and recipient.

    Attributes:
        latest: latest message that was sent.
        unrecorded: keys of messages whose record isn't on the topic yet.
    """

    latest: dict[tuple[str, str], NotifiedRecipient] = field(default_factory=dict)
    unrecorded: set[tuple[str, str]] = field(default_factory=set)

    def digest(self, incident: str, recipient: Recipient) -> str | None:
        """Digest of the latest message to a recipient, of this process or in the graph; None: there was none."""
        key = incident, recipient.recipient
        recorded = None if recipient.latest is None else recipient.latest.digest
        if key in self.latest and key not in self.unrecorded and self.latest[key].digest == recorded:
            del self.latest[key]
        return self.latest[key].digest if key in self.latest else recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyRun:
    """Wiring of the command.

    Attributes:
        run: options that all actions share.
        settings: Kafka and Neo4j.
        channels: content of the channels file.
        dry_run: whether nothing is sent and recorded.
        sleep: function that waits between attempts; its argument is seconds.
        sent: messages of earlier rounds.
    """

    run: ActionRun
    settings: Settings
    channels: Channels
    dry_run: bool = False
    sleep: Callable[[float], None] = time.sleep
    sent: SentMessages = field(default_factory=SentMessages)


def notify(
    run: ActionRun, ids: Sequence[str], channels: Path, pause: timedelta | None, *, dry_run: bool
) -> Notifications:
    """Send the messages that are due: once, or, with a `pause`, in rounds until a signal.

    Args:
        run: options that all actions share.
        ids: ids of incidents, or beginnings of ids; empty: all open incidents, and resolved ones with a recipient to
            notify.
        channels: the channels file.
        pause: pause between rounds; None: one round.
        dry_run: whether to send and record nothing.

    Raises:
        HeadwaterError: see `headwater.errors`, `load_channels` and `rounds`.
    """
    declared = load_channels(channels)
    settings = connected_settings({"analysis.tenant": run.tenant}, kafka=not dry_run, neo4j=True)
    wired = NotifyRun(run=run, settings=settings, channels=declared, dry_run=dry_run)
    done = Notifications(rounds=0, sent=0, items=())
    for items in rounds(pause, lambda: one_round(wired, ids), lines):
        sent = done.sent + sum(each.delivery is Delivery.SENT for one in items for each in one.items)
        done = Notifications(rounds=done.rounds + 1, sent=sent, items=tuple(items))
    return done


def one_round(wired: NotifyRun, ids: Sequence[str]) -> list[IncidentNotifications]:
    """Send and record the messages that are due now.

    Raises:
        HeadwaterError: see `headwater.errors`.
    """
    with asking(tenant=wired.run.tenant, silently=True) as reader:
        return [_notified(wired, reader, each) for each in ids or to_notify(reader)]


class _Due:
    """A message that is due.

    Attributes:
        left: addresses of the channel that haven't accepted the message.
        problem: reason why the latest attempt failed; empty: the latest attempt succeeded, or no attempt was made.
    """

    def __init__(self, recipient: Recipient, channel: NamedChannel, message: ChannelMessage) -> None:
        self.recipient = recipient
        self.channel = channel
        self.message = message
        self.left = list(channel.addresses)
        self.problem = ""


def _notified(wired: NotifyRun, reader: Reader, incident_id: str) -> IncidentNotifications:
    found = recipients(reader, incident_id, arrivals=arrived)
    incident, reach = found.incident.brief.incident, found.incident.asked_reach
    everybody = list(_addressed(found, wired.channels))
    items: dict[str, NotificationItem] = {}
    due: list[_Due] = []
    for recipient, channel in everybody:
        if wired.sent.digest(incident, recipient) == recipient.digest:
            items[recipient.recipient] = _item(recipient, channel, Delivery.UNCHANGED)
        elif channel is None:
            items[recipient.recipient] = _item(recipient, channel, Delivery.NO_CHANNEL)
        else:
            due.append(_Due(recipient, channel, message_of(found, recipient, wired.channels)))
    if not wired.dry_run:
        # Step 1: send.
        _deliver(due, wired.sleep)
        for each in due:
            if not each.left:
                key = incident, each.recipient.recipient
                wired.sent.latest[key] = _record(each)
                wired.sent.unrecorded.add(key)
        # Step 2: record.
        _publish(wired, reader, incident)
    for each in due:
        delivery = Delivery.WOULD_SEND if wired.dry_run else Delivery.FAILED if each.left else Delivery.SENT
        items[each.recipient.recipient] = _item(
            each.recipient, each.channel, delivery, (each.message.title, *each.message.lines), each.problem
        )
    return IncidentNotifications(
        incident=incident,
        complete=reach.complete,
        unknown=views.unknown_words(reach),
        items=tuple(items[recipient.recipient] for recipient, _ in everybody),
        unowned=found.unowned,
    )


def _addressed(found: IncidentRecipients, channels: Channels) -> Iterator[tuple[Recipient, NamedChannel | None]]:
    if found.operators is not None and channels.operators is not None:
        yield found.operators, channels.operators
    for each in found.items:
        yield each, channels.channel_of(each)


def _item(
    recipient: Recipient,
    channel: NamedChannel | None,
    delivery: Delivery,
    text: tuple[str, ...] = (),
    problem: str = "",
) -> NotificationItem:
    return NotificationItem(
        recipient=recipient.recipient,
        channel=None if channel is None else channel.name,
        change=recipient.change,
        delivery=delivery,
        problem=problem,
        text=text,
    )


def _deliver(due: Sequence[_Due], sleep: Callable[[float], None]) -> None:
    """Send the messages to their addresses, one after another.

    An address that doesn't accept its message is tried again after each of `PAUSES_SECONDS`, until it does. The other
    addresses are tried before the pause: they wait for a slow address, but not for its retries.
    """
    for pause in (0.0, *PAUSES_SECONDS):
        waiting = [each for each in due if each.left]
        if not waiting:
            return
        if pause:
            sleep(pause)
        for each in waiting:
            failures = [
                (address, problem)
                for address in each.left
                if (problem := send(address.get_secret_value(), each.message))
            ]
            each.left = [address for address, _ in failures]
            each.problem = failures[0][1] if failures else ""


def _record(sent: _Due) -> NotifiedRecipient:
    return NotifiedRecipient(
        recipient=sent.recipient.recipient,
        channel=sent.channel.name,
        digest=sent.recipient.digest,
        change=sent.recipient.change,
    )


def _publish(wired: NotifyRun, reader: Reader, incident: str) -> None:
    """Publish the records of sent messages. Wait until the graph has them, unless `wait_seconds` is 0."""
    keys = sorted(key for key in wired.sent.unrecorded if key[0] == incident)
    for first in range(0, len(keys), MOST_RECIPIENTS):
        some = keys[first : first + MOST_RECIPIENTS]
        body = IncidentEvent(
            incident=incident,
            action=IncidentAction.NOTIFIED,
            by=wired.run.actor,
            notified=tuple(wired.sent.latest[key] for key in some),
        )
        event = lineage_event(body, producer=PRODUCER, event_time=datetime.now(UTC), tenant=reader.tenant)
        publish(wired.settings, [event])
        wired.sent.unrecorded.difference_update(some)
        if wired.run.wait_seconds:
            waited(reader, event, wired.run.wait_seconds)


_WORDS: Final = {
    Delivery.SENT: "notified",
    Delivery.WOULD_SEND: "would be notified",
    Delivery.FAILED: "not notified",
    Delivery.NO_CHANNEL: "not notified",
}


def lines(items: Sequence[IncidentNotifications], *, with_text: bool = False) -> list[str]:
    """Lines for people: who was notified, who wasn't and why, and what isn't known.

    Args:
        with_text: whether to add the lines of the messages.
    """
    return [line for each in items for line in _lines(each, with_text=with_text)]


def _lines(found: IncidentNotifications, *, with_text: bool) -> Iterator[str]:
    name = shortened(found.incident)
    for each in found.items:
        who = shortened(each.recipient)
        match each.delivery:
            case Delivery.UNCHANGED:
                continue
            case Delivery.NO_CHANNEL:
                yield f"{name}: not notified: no channel for {who}."
            case Delivery.FAILED:
                yield f"{name}: not notified: {who} by {shortened(each.channel or '')}: {each.problem}."
            case _:
                yield f"{name}: {_WORDS[each.delivery]}: {who} by {shortened(each.channel or '')} ({each.change})."
                if with_text:
                    yield from (f"  {line}" for line in each.text)
    unchanged = sum(each.delivery is Delivery.UNCHANGED for each in found.items)
    rest = [amount(unchanged, "recipient") + " with nothing new"] if unchanged else []
    rest += [] if found.items else ["0 recipients to notify"]
    rest += [amount(len(found.unowned), "dataset") + " without an owner"] if found.unowned else []
    rest += [found.unknown] if found.unknown else []
    if rest:
        yield f"{name}: {'; '.join(rest)}."


def summary(done: Notifications) -> str:
    """Last line: number of sent messages, and of recipients who weren't notified in the latest round."""
    found = [f"{done.sent:,} sent in {amount(done.rounds, 'round')}"]
    for delivery, words in (
        (Delivery.WOULD_SEND, "would be sent"),
        (Delivery.FAILED, "failed"),
        (Delivery.NO_CHANNEL, "without a channel"),
    ):
        found += [f"{number:,} {words}"] if (number := done.number(delivery)) else []
    return f"{', '.join(found)}."


def check(done: Notifications) -> None:
    """Check that no message of the latest round failed.

    Raises:
        CheckFailedError: a message failed.
    """
    failed = [each for one in done.items for each in one.items if each.delivery is Delivery.FAILED]
    if failed:
        names = sorted({each.recipient for each in failed})
        raise CheckFailedError(
            f"{len(failed):,} messages weren't accepted, for {first_of([shortened(name) for name in names], 5)}.",
            fix="Check the channels; the next round sends these messages again, because they weren't recorded.",
        )
