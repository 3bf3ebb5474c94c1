"""Table of `headwater events`."""

from __future__ import annotations

from rich.console import Console

from headwater.commands.events import table
from headwater_consumers.kafka.records import FetchedRecord, Partition
from support.events import FULL_EVENTS

EXPECTED = {
    "run": "FAIL: disk full  flights.departed, flights.departed",
    "interval": "batches 7..9, OBSERVED  flights.departed → flights.enriched",
    "plan": "2 edges, incomplete: too large",
    "dataset": "RENAME flights.enriched, 2 fields",
    "job": "STREAMING, SPARK, QUERY",
    "retention": "SUMMARIZE before 2013-01-01, of enrich",
    "declaration": "flights.enriched, of set flights",
    "declaration_of_a_job": "enrich, of set flights",
    "declaration_of_a_consumer": "delay board, of set flights",
    "declaration_set": "revision 3 of set flights, 3 declarations",
    "incident": "SCOPE_CHANGED delays-2013-01-01: Delays of one carrier are wrong",
    "incident_of_an_opening": "OPENED delays-2013-01-01: Delays are wrong",
    "incident_of_an_assignment": "ASSIGNED delays-2013-01-01: to team:flights",
    "incident_of_a_merge": "MERGED delays-2013-01-01: into delays-2012-12-31",
    "incident_of_a_resolution": "RESOLVED delays-2013-01-01: REPAIRED, Both jobs ran again",
    "incident_of_a_reach": "REACHED delays-2013-01-01: 1 dataset, Asked again after the repair",
    "incident_of_a_notification": "NOTIFIED delays-2013-01-01: 5 recipients",
}


def test_each_kind_of_event_is_described() -> None:
    record = FetchedRecord(Partition("events", 0), 7, b"")
    console = Console(width=400)
    assert FULL_EVENTS.keys() == EXPECTED.keys()
    for name, event in FULL_EVENTS.items():
        with console.capture() as capture:
            console.print(table([(record, event())]))
        assert EXPECTED[name] in capture.get()
