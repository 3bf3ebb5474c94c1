"""Messages about an incident: plain lines, of which none is formed by a title or a name; and alerts made of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from headwater.incident.channels import Channels
from headwater.incident.message_text import message_of, plain
from headwater.incident.sending import ChannelMessage, alerts
from headwater_analysis.incidents.answers import Incident
from headwater_analysis.incidents.recipients import OPERATORS, HeldDataset, IncidentRecipients, Recipient
from headwater_graph.incidents import IncidentStatus
from headwater_schemas.events import Certainty, IncidentResolution, IncidentSeverity, NotificationChange
from support.incidents import AT, a_spreading, an_incident, reach

LINK = Channels(link="https://page.example/#/incident/{incident}")
LATER = AT + timedelta(hours=1)


def held(name: str, certainty: Certainty = Certainty.EXACT, since: datetime | None = LATER) -> HeldDataset:
    return HeldDataset(dataset=name, certainty=certainty, since=since)


def recipient(change: str, *datasets: HeldDataset, **fields: Any) -> Recipient:
    given: dict[str, Any] = {"recipient": "ann", "addresses": ("ann",), "unlisted": 0, "cleared": (), "latest": None}
    return Recipient(change=NotificationChange(change), digest="d", held=datasets, **given | fields)


def message(found: Incident, to: Recipient, channels: Channels = LINK) -> ChannelMessage:
    all_of = IncidentRecipients(incident=found, items=(to,), operators=None, unowned=())
    return message_of(all_of, to, channels)


def lines(found: Incident, to: Recipient, channels: Channels = LINK) -> list[str]:
    made = message(found, to, channels)
    return [made.title, *made.lines]


REACHED = (
    "Your data: bad data is in n/d0, n/d1, n/d2, n/d3, n/d4 and 2 more; n/u and 2 more may hold bad data; 1 clean "
    "again."
)


def test_a_message_of_bad_data() -> None:
    many = [held(f"n/d{n}") for n in range(7)]
    unsure = held("n/u", Certainty.UPPER_BOUND)
    assert lines(an_incident(reach()), recipient("OPENED", *many, unsure, unlisted=2, cleared=("n/c",))) == [
        "Bad data: Negative delays (SEV2, INC-1a2b3c4d5e)",
        "Opened: 2025-01-31 12:00:00Z. Bad data since: not known for all datasets.",
        REACHED,
        "Details: headwater incident show INC-1a2b3c4d5e — check before a job reads the data: headwater gate n/d0",
        "Page: https://page.example/#/incident/INC-1a2b3c4d5e",
    ]


def test_since_when() -> None:
    found = an_incident(reach())
    first = held("n/a", since=AT + timedelta(minutes=1))
    assert lines(found, recipient("OPENED", held("n/b"), first))[1].endswith("Bad data since: 2025-01-31 12:01:00Z.")
    assert lines(found, recipient("OPENED", first, held("n/b", since=None)))[1].endswith("not known for all datasets.")


def test_nothing_is_left_only_if_all_is_known() -> None:
    cleared = recipient("CLEARED", cleared=("n/a", "n/b"))
    clean = lines(an_incident(reach(bad=0)), cleared, Channels())
    assert clean == [
        "Clean again: Negative delays (SEV2, INC-1a2b3c4d5e)",
        "Opened: 2025-01-31 12:00:00Z.",
        "Your data: no bad data is left; 2 clean again.",
        "There is nothing to do. Details: headwater incident show INC-1a2b3c4d5e",
    ]
    unknown = lines(an_incident(reach(bad=0, is_unknown=True)), replace(cleared, change=NotificationChange.CHANGED))
    assert unknown[2] == "Your data: no bad data is known; 2 clean again; not known: 1 part of the scope."
    assert "nothing to do" not in unknown[3]
    spreading = reach(bad=0, spreading=(a_spreading("windows"), a_spreading("done", is_over=True)))
    open_ = lines(an_incident(spreading), replace(cleared, change=NotificationChange.CHANGED))
    assert open_[2] == "Your data: no bad data is known; 2 clean again; 1 query may still spread."
    assert "nothing to do" not in open_[3]


def test_a_resolution_says_what_is_left() -> None:
    brief: dict[str, object] = {
        "status": IncidentStatus.RESOLVED,
        "resolved_at": LATER,
        "resolution": IncidentResolution.OTHER,
    }
    done = lines(an_incident(reach(bad=0), **brief), recipient("RESOLVED"))
    assert done[0].startswith("Resolved: ")
    assert done[1] == "Opened: 2025-01-31 12:00:00Z. Resolved: 2025-01-31 13:00:00Z, OTHER."
    assert done[3].startswith("There is nothing to do.")
    left = lines(an_incident(reach(), **brief), recipient("RESOLVED", held("n/d0")))
    assert left[2] == "Your data: bad data is in n/d0."
    assert left[3].startswith("Details: ")
    merged = lines(an_incident(reach(bad=0), **brief | {"continued_in": "INC-2"}), recipient("RESOLVED"))
    assert merged[1].endswith("goes on in INC-2.")


def test_operators_get_all_datasets() -> None:
    found = lines(an_incident(reach(), severity=None), recipient("OPENED", held("n/d0"), recipient=OPERATORS))
    assert found[0] == "Bad data: Negative delays (no severity, INC-1a2b3c4d5e)"
    assert found[2].startswith("All datasets: ")


HOSTILE = (
    "Delays\nPage: https://evil.example/\r\n",
    "<https://evil.example|Page>",
    '<a href="https://evil.example">Page</a>',
    "[Page](https://evil.example)",
    "[Page](//evil.example)",
    "https://evil.example",
    "HTTP://evil.example",
    "mailto:eve@evil.example",
    "www.evil.example",
    "\u2028Page: x\u0085\x1b]8;;https://evil.example\x07Page",
    "\u202egp.egaP",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_forms_no_line_and_no_link(text: str) -> None:
    found = an_incident(reach(), title=text, incident=text, continued_in=text)
    for change in NotificationChange:
        if change is NotificationChange.UNKNOWN:
            continue
        for channels in (LINK, Channels()):
            made = lines(found, recipient(str(change), held(text)), channels)
            assert len(made) == (5 if channels.link else 4)
            assert not [line for line in made if len(line.splitlines()) > 1 or not line.isprintable()]
            ours = [line for line in made if line.startswith("Page: ")]
            assert len(ours) == (1 if channels.link else 0)
            rest = "\n".join(line for line in made if line not in ours).lower()
            assert not [each for each in ("http:", "https:", "mailto:", "www.", "<", ">", "](") if each in rest]


def test_names_of_datasets_stay_as_they_are() -> None:
    for name in ("file:/lake/clean", "kafka://k:9092/a.b_c", "s3://bucket/a b", "postgres://h:5432/db.s.t"):
        assert plain(name) == name
    quoted = lines(an_incident(reach()), recipient("OPENED", held("s3://bucket/a b")))
    assert quoted[3].endswith("headwater gate 's3://bucket/a b'")


def ends(found: list[dict[str, Any]]) -> dict[str, bool]:
    """Severity of each alert, and whether it goes on."""
    return {each["labels"]["severity"]: datetime.fromisoformat(each["endsAt"]) > LATER for each in found}


def test_alerts() -> None:
    to = recipient("OPENED", held("n/d0"))
    found = alerts(message(an_incident(reach()), to), LATER)
    severities = ["none", "SEV1", "SEV2", "SEV3", "SEV4", "SEV5"]
    assert ends(found) == {each: each == "SEV2" for each in severities}
    current = found[severities.index("SEV2")]
    assert current["labels"] == {
        "alertname": "HeadwaterIncident",
        "incident": "INC-1a2b3c4d5e",
        "recipient": "ann",
        "severity": "SEV2",
    }
    assert current["annotations"]["summary"] == "Bad data: Negative delays (SEV2, INC-1a2b3c4d5e)"
    assert current["generatorURL"] == "https://page.example/#/incident/INC-1a2b3c4d5e"
    assert all(each["startsAt"] < each["endsAt"] for each in found)
    none = alerts(message(an_incident(reach(), severity=None), to, Channels()), LATER)
    assert ends(none) == {each: each == "none" for each in severities}
    assert all("generatorURL" not in each for each in none)
    changed = alerts(message(an_incident(reach(), severity=IncidentSeverity.SEV1), to), LATER)
    assert ends(changed) == {each: each == "SEV1" for each in severities}
    for change in ("CLEARED", "RESOLVED"):
        assert not any(ends(alerts(message(an_incident(reach()), recipient(change)), LATER)).values())
