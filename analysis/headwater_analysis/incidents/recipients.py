"""Recipients of messages about an incident: owners and consumers, each with their datasets that bad data reached.

A message is due if its digest differs from the digest of the recipient's latest notification. The digest covers the
facts that the recipient has to know. For an open incident: the severity, and which of the recipient's datasets hold bad
data or are clean again. For a resolved incident: the resolution. A change of a dataset's bad parts, or of times, is no
reason for a message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from headwater_analysis.blast.blast_radius import LIMIT
from headwater_analysis.incidents.answers import Incident, SentNotification
from headwater_analysis.incidents.questions import incident_in
from headwater_analysis.incidents.recorded import collected
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.traced_parts import surest
from headwater_graph.incidents import OPEN, IncidentStatus
from headwater_schemas.events import Certainty, NotificationChange
from headwater_schemas.incident_rules import MOST_CHARACTERS
from headwater_schemas.naming import spelling

OPERATORS: Final = "defaults.operators"
"""Name of the recipient for every incident and all datasets of its reach."""
_DIGITS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDataset:
    """A dataset of a recipient that certainly or possibly holds bad data.

    Attributes:
        dataset: name of the dataset, as questions accept it.
        certainty: certainty that the dataset holds bad data.
        since: earliest time at which bad data was written to the dataset; None: not known.
    """

    dataset: str
    certainty: Certainty
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Somebody to notify.

    Attributes:
        recipient: name of an owner or consumer, or `OPERATORS`.
        addresses: names under which the recipient's channel may be declared, the most specific first; empty: only the
            channel of the latest notification is known.
        held: datasets of the recipient that certainly or possibly hold bad data, by name.
        unlisted: number of further datasets with bad data, because `held` lists only 20 datasets of a consumer.
        cleared: datasets of the recipient that held bad data and are clean again, by name.
        latest: latest notification; None: there was none.
        change: reason for a message now.
        digest: digest of the facts of this message.
    """

    recipient: str
    addresses: tuple[str, ...]
    held: tuple[HeldDataset, ...]
    unlisted: int
    cleared: tuple[str, ...]
    latest: SentNotification | None
    change: NotificationChange
    digest: str

    @property
    def is_due(self) -> bool:
        """True if the recipient's latest notification reported other facts."""
        return self.latest is None or self.latest.digest != self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRecipients:
    """An incident, and everybody to notify.

    Attributes:
        incident: the incident, with its reach.
        items: owners of the reached datasets, consumers, and earlier recipients, by name. If the incident isn't open:
            only earlier recipients.
        operators: the operators; None: the incident isn't open, and the operators were never notified of it.
        unowned: datasets with bad data that have no owner, by name.
    """

    incident: Incident
    items: tuple[Recipient, ...]
    operators: Recipient | None
    unowned: tuple[str, ...]


def to_notify(reader: Reader) -> tuple[str, ...]:
    """List the ids of incidents that may need a message: open incidents, and resolved ones with somebody to notify."""
    return reader.read(
        lambda tx: tuple(
            row["incident"] for row in tx.rows("incidents/to_notify", states=[str(state) for state in OPEN])
        )
    )


def recipients(
    reader: Reader, incident_id: str, *, limit: int = LIMIT, arrivals: Arrivals | None = None
) -> IncidentRecipients:
    """Find everybody to notify of an incident, as the graph is now.

    Args:
        incident_id, limit, arrivals: as in `incident`.

    Raises:
        NotFoundError: no incident has this id.
        AmbiguousError: several ids have this beginning.
    """

    def question(tx: Transaction) -> IncidentRecipients:
        return recipients_of(incident_in(tx, incident_id, detailed=False, limit=limit, arrivals=arrivals))

    return reader.read(question)


@dataclass(slots=True)
class _Concerned:
    addresses: dict[str, None] = field(default_factory=dict)
    held: dict[str, HeldDataset] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    unlisted: int = 0


def recipients_of(found: Incident) -> IncidentRecipients:
    """Find everybody to notify of an incident. Pure.

    Args:
        found: the incident, with its reach.

    Raises:
        ValueError: the answer has no reach.
    """
    reach = found.asked_reach
    owners = {each.dataset.key: each.owners for each in reach.owners}
    everything = _Concerned()
    concerned: dict[str, _Concerned] = {}
    unowned = set()
    by_name: dict[str, HeldDataset] = {}
    for one in collected(reach):
        name = one.asset.spelling
        if one.parts:
            by_name[name] = HeldDataset(dataset=name, certainty=surest(one.certainties), since=one.since)
            if not owners.get(one.asset.key):
                unowned.add(name)
        of_owners = [_of_name(concerned, owner.name) for owner in owners.get(one.asset.key, ())]
        for each in (everything, *of_owners):
            if one.parts:
                each.held[name] = by_name[name]
            else:
                each.cleared.add(name)
    for consumer in reach.blast.consumers:
        addresses = (consumer.on_call, consumer.contact, consumer.name, *(owner.name for owner in consumer.owners))
        each = _of_name(concerned, consumer.name, addresses)
        each.unlisted += consumer.reads_total - len(consumer.reads)
        for read in consumer.reads:
            name = spelling(read.namespace, read.name)
            # The reach doesn't have the dataset under its other names.
            each.held[name] = by_name.get(name, HeldDataset(dataset=name, certainty=Certainty.UNKNOWN, since=None))
    latest = {each.recipient: each for each in found.notified}
    for name in latest.keys() - {OPERATORS}:
        concerned.setdefault(name, _Concerned())
    is_open = found.brief.status in OPEN
    known = {name for name in concerned if is_open or name in latest}
    operators = _recipient(found, OPERATORS, everything, latest.get(OPERATORS))
    return IncidentRecipients(
        incident=found,
        items=tuple(_recipient(found, name, concerned[name], latest.get(name)) for name in sorted(known)),
        operators=operators if is_open or OPERATORS in latest else None,
        unowned=tuple(sorted(unowned)),
    )


def recipient_name(name: str) -> str:
    """Name of an owner or consumer as a recipient; a name that is too long, or equals `OPERATORS`, gets a digest."""
    if len(name) <= MOST_CHARACTERS and name != OPERATORS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    return f"{name[: MOST_CHARACTERS - _DIGITS - 1]}…{digest}"


def _of_name(concerned: dict[str, _Concerned], name: str, addresses: Iterable[str | None] = ()) -> _Concerned:
    """Find or add somebody by name."""
    each = concerned.setdefault(recipient_name(name), _Concerned())
    each.addresses |= dict.fromkeys(address for address in (*addresses, name) if address)
    return each


def _recipient(found: Incident, name: str, each: _Concerned, latest: SentNotification | None) -> Recipient:
    is_clean = not each.held and not each.unlisted and found.reach is not None and found.reach.is_final
    change = _change(found, name, latest, is_clean=is_clean)
    held, cleared = sorted(each.held), sorted(each.cleared - each.held.keys())
    about: list[Any] = [str(found.brief.severity), held, each.unlisted, cleared]
    if change is NotificationChange.RESOLVED:
        about = [change, str(found.brief.resolution), found.brief.continued_in]
    elif is_clean:
        about = [NotificationChange.CLEARED]
    return Recipient(
        recipient=name,
        addresses=tuple(each.addresses),
        held=tuple(each.held[dataset] for dataset in held),
        unlisted=each.unlisted,
        cleared=tuple(cleared),
        latest=latest,
        change=change,
        digest=hashlib.sha256(json.dumps(about).encode()).hexdigest(),
    )


def _change(found: Incident, name: str, latest: SentNotification | None, *, is_clean: bool) -> NotificationChange:
    """Reason for a message now.

    OPENED: the incident is new to its recipients, or was reopened. REACHED: bad data reached the recipient later than
    others, or again. CLEARED: no dataset of the recipient holds bad data, that is certain, and no query may still
    spread bad records.
    """
    if found.brief.status is IncidentStatus.RESOLVED:
        return NotificationChange.RESOLVED
    if latest is None and (name == OPERATORS or (not found.notified and not is_clean)):
        return NotificationChange.OPENED
    if latest is not None and latest.change is NotificationChange.RESOLVED:
        return NotificationChange.OPENED
    if is_clean:
        return NotificationChange.CLEARED
    if latest is None or latest.change is NotificationChange.CLEARED:
        return NotificationChange.REACHED
    return NotificationChange.CHANGED
