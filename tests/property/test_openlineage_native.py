"""Headwater → OpenLineage → Headwater: every event of our own comes back from its documents."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import Phase, given, settings

from headwater_openlineage.decoding import decode
from headwater_openlineage.incoming import events_of
from headwater_openlineage.outgoing import documents_of
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import event_id
from support.event_strategies import events
from support.examples import examples
from support.openlineage_spec import alone, check_official, graph_of

FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)


def in_time(value: Any) -> Any:
    """An event with all times in the years that OpenLineage's documents may have, and numbers that JSON has."""
    if isinstance(value, float) and math.isinf(value):
        return 0.0
    if isinstance(value, datetime):
        return min(max(value, FIRST), LAST)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: in_time(getattr(value, name)) for name in value.__struct_fields__})
    return tuple(map(in_time, value)) if isinstance(value, tuple) else value


def there_and_back(event: LineageEvent, *, coalesced: bool) -> list[LineageEvent]:
    """Events decoded from the event's documents, as bytes."""
    documents = documents_of(event, lambda _: None, coalesced=coalesced)
    for document in documents:
        check_official(document)
    data = [json.dumps(document).encode() for document in documents]
    return [one for each in data for one in events_of(decode(each), tenant=event.tenant)]


@given(events())
@settings(max_examples=examples(100), phases=[Phase.explicit, Phase.generate])
def test_an_event_comes_back_from_its_documents(drawn: LineageEvent) -> None:
    event = in_time(drawn)
    event = msgspec.structs.replace(event, event_id=event_id(event), document=None)
    back = there_and_back(event, coalesced=False)
    if event.kind in {"RETENTION", "DECLARATION", "DECLARATION_SET", "INCIDENT"}:
        # What is kept for how long is no lineage: OpenLineage has no word for it, nor would its readers want it. And
        # a declaration only holds as part of its set, which an OpenLineage event can't be.
        assert back == []
        return
    assert back == alone(event)
    assert graph_of(back) == graph_of([event])
    assert there_and_back(event, coalesced=True) in (back, [event])
