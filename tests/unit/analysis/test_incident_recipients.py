"""Owners and consumers to notify of an incident, and when a message is due."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.incidents.answers import DatasetOwners, SentNotification
from headwater_analysis.incidents.recipients import OPERATORS, IncidentRecipients, Recipient, recipients_of
from headwater_analysis.owners import OwnerName
from headwater_graph.incidents import IncidentStatus
from headwater_schemas.events import Certainty, IncidentResolution, IncidentSeverity, NotificationChange
from support.incidents import AT, a_spreading, an_incident, asset, offsets, reach, tainted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from headwater_analysis.incidents.answers import IncidentReach

OWNERS = {"d0": (OwnerName("ann", None), OwnerName("team:lake", "STEWARD")), "c0": (OwnerName("team:lake", None),)}


def consumer(name: str, *reads: str, total: int | None = None, owner: str = "team:board") -> ReadingConsumer:
    return ReadingConsumer(
        key=name,
        name=name,
        type="DASHBOARD",
        owners=(OwnerName(owner, None),),
        on_call="#on-call",
        contact="mail@example.com",
        criticality=None,
        notice_days=None,
        freshness_seconds=None,
        deadline=None,
        url=None,
        reads=tuple(asset(each) for each in reads),
        reads_total=len(reads) if total is None else total,
        sets=("s",),
    )


def with_consumers(found: IncidentReach, *consumers: ReadingConsumer) -> IncidentReach:
    return replace(found, blast=replace(found.blast, consumers=consumers))


def owned(found: IncidentReach, owners: Mapping[str, tuple[OwnerName, ...]]) -> IncidentReach:
    return replace(found, owners=tuple(DatasetOwners(dataset=asset(key), owners=each) for key, each in owners.items()))


def of(found: IncidentReach, *notified: SentNotification, **brief: object) -> IncidentRecipients:
    return recipients_of(replace(an_incident(owned(found, OWNERS), **brief), notified=notified))


def sent(*recipients: Recipient) -> tuple[SentNotification, ...]:
    """The messages that are right for these recipients were sent."""
    return tuple(
        SentNotification(recipient=each.recipient, channel="c", change=each.change, at=AT, digest=each.digest)
        for each in recipients
    )


def everybody(found: IncidentRecipients) -> list[Recipient]:
    return [*found.items, *([] if found.operators is None else [found.operators])]


def due(found: IncidentRecipients) -> dict[str, str]:
    """Recipients whose message is due, with its reason."""
    return {each.recipient: str(each.change) for each in everybody(found) if each.is_due}


def test_owners_and_consumers_each_with_what_is_theirs() -> None:
    found = of(with_consumers(reach(bad=2, clean=1), consumer("board", "d0", "d9", total=3)))
    assert {each.recipient: [held.dataset for held in each.held] for each in everybody(found)} == {
        "ann": ["n/d0"],
        "board": ["n/d0", "n/d9"],
        "team:lake": ["n/d0"],
        OPERATORS: ["n/d0", "n/d1"],
    }
    ann, board, lake = found.items
    assert (ann.addresses, ann.cleared) == (("ann",), ())
    assert board.addresses == ("#on-call", "mail@example.com", "board", "team:board")
    assert lake.cleared == ("n/c0",)
    assert [each.certainty for each in board.held] == [Certainty.EXACT, Certainty.UNKNOWN]
    assert [each.since for each in board.held] == [AT, None]
    assert board.unlisted == 1
    assert found.operators is not None
    assert found.operators.cleared == ("n/c0",)
    assert found.unowned == ("n/d1",)


def test_bad_data_that_began_in_a_dataset_concerns_its_owners() -> None:
    found = of(replace(reach(bad=0), start=(tainted("d0", offsets("d0"), depth=0),)))
    assert [each.recipient for each in found.items] == ["ann", "team:lake"]


def test_a_message_is_due_once() -> None:
    found = reach(bad=1, clean=1)
    first = of(found)
    assert due(first) == {"ann": "OPENED", "team:lake": "OPENED", OPERATORS: "OPENED"}
    assert due(of(found, *sent(*everybody(first)))) == {}
    # Other parts, and other times, are no reason.
    moved = replace(offsets("d0"), offsets=(), since=None)
    same = replace(found, blast=replace(found.blast, tainted=(tainted("d0", moved), *found.blast.tainted[1:])))
    assert due(of(same, *sent(*everybody(first)))) == {}


def changed(before: IncidentReach, after: IncidentReach, **brief: object) -> dict[str, str]:
    """Messages that are due when all got those of `before`."""
    return due(of(after, *sent(*everybody(of(before))), **brief))


def test_changes(subtests: pytest.Subtests) -> None:
    one, other = reach(bad=1), reach(bad=2)
    nothing, unknown = reach(bad=0), reach(bad=0, is_unknown=True)
    spreading, over = (
        reach(bad=0, spreading=(a_spreading("q"),)),
        reach(bad=0, spreading=(a_spreading("q", is_over=True),)),
    )
    all_of = {"ann", "team:lake", OPERATORS}
    cases: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        "another dataset": (changed(one, other), {OPERATORS: "CHANGED"}),
        "a dataset that is clean": (
            changed(one, reach(bad=1, clean=1)),
            {"team:lake": "CHANGED", OPERATORS: "CHANGED"},
        ),
        "nothing left": (changed(one, nothing), dict.fromkeys(all_of, "CLEARED")),
        "nothing known to be left": (changed(one, unknown), dict.fromkeys(all_of, "CHANGED")),
        "nothing left, but a query may still spread": (changed(one, spreading), dict.fromkeys(all_of, "CHANGED")),
        "nothing left, and the query is over": (changed(spreading, over), {OPERATORS: "CLEARED"}),
        "something that isn't known": (changed(one, reach(bad=1, is_unknown=True)), {}),
        "another severity": (changed(one, one, severity=IncidentSeverity.SEV1), dict.fromkeys(all_of, "CHANGED")),
        "another title": (changed(one, one, title="Other"), {}),
        "somebody more": (changed(one, with_consumers(one, consumer("board", "d0"))), {"board": "REACHED"}),
        "assigned": (changed(one, one, status=IncidentStatus.ASSIGNED), {}),
        "resolved": (changed(one, one, status=IncidentStatus.RESOLVED), dict.fromkeys(all_of, "RESOLVED")),
    }
    for name, (found, expected) in cases.items():
        with subtests.test(name):
            assert found == expected


def after(found: Recipient, change: NotificationChange) -> SentNotification:
    return replace(sent(found)[0], change=change, digest="0" * 64)


def test_bad_data_that_comes_back(subtests: pytest.Subtests) -> None:
    ann = of(reach()).items[0]
    for before, expected in (("CLEARED", "REACHED"), ("RESOLVED", "OPENED"), ("REACHED", "CHANGED")):
        with subtests.test(before=before):
            found = of(reach(), after(ann, NotificationChange(before)))
            assert due(found)["ann"] == expected


def test_clean_data_is_no_reason_for_a_second_message_to_operators() -> None:
    """The incident reached nothing from the beginning on."""
    first = of(reach(bad=0))
    assert due(first) == {OPERATORS: "OPENED"}
    assert due(of(reach(bad=0), *sent(*everybody(first)))) == {}


def test_who_never_knew_of_an_incident_is_not_notified_of_its_end() -> None:
    resolved: dict[str, object] = {"status": IncidentStatus.RESOLVED, "resolution": IncidentResolution.OTHER}
    assert everybody(of(reach(), **resolved)) == []
    ann = of(reach()).items[0]
    found = of(reach(), *sent(ann), **resolved)
    assert due(found) == {"ann": "RESOLVED"}
    assert found.operators is None
    assert [each.dataset for each in found.items[0].held] == ["n/d0"]
    # Nothing that happens to the data afterwards is a reason.
    assert due(of(reach(bad=0), *sent(*found.items), **resolved)) == {}


def test_an_earlier_recipient_whom_nothing_names_any_more() -> None:
    old = SentNotification(recipient="bob", channel="#b", change=NotificationChange.OPENED, at=AT, digest="0" * 64)
    _, bob, _ = of(reach(), old).items
    assert (bob.recipient, bob.addresses, bob.held, bob.change) == ("bob", (), (), NotificationChange.CLEARED)


def test_one_name_of_an_owner_and_a_consumer_is_one_recipient() -> None:
    found = of(with_consumers(reach(bad=2), consumer("ann", "d1", owner="ann")))
    ann = found.items[0]
    assert [each.dataset for each in ann.held] == ["n/d0", "n/d1"]
    assert ann.addresses == ("ann", "#on-call", "mail@example.com")


def test_names_from_outside_are_never_the_operators_and_never_too_long() -> None:
    names = (OPERATORS, "a" * 201, "a" * 200 + "b")
    owners = {"d0": tuple(OwnerName(name, None) for name in names)}
    found = recipients_of(an_incident(owned(reach(), owners)))
    assert len({each.recipient for each in everybody(found)}) == 4
    assert all(len(each.recipient) <= 200 for each in found.items)
    assert {each.addresses for each in found.items} == {(name,) for name in names}
