"""Whatever is in a document, it is taken or refused with a pointer into it; nothing else happens."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headwater_graph.fold.rejection import reject
from headwater_openlineage.decoding import decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.outgoing import documents_of
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from support.examples import examples
from support.openlineage_documents import documents
from support.openlineage_spec import canonical, official_schemas

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["DIRECT", "DATASET", "JOB", "2013-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "\x00", "a.b", "`"]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values in a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in members for place in ((*at, key), *places(item, (*at, key)))]


@st.composite
def broken(draw: st.DrawFn) -> Any:
    """A document in which a few things are replaced by others, or left out."""
    document = copy.deepcopy(draw(documents()))
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(places(document)))
        holder: Any = document
        for key in above:
            holder = holder[key]
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[last]
        else:
            holder[last] = draw(ODD)
        if not places(document):
            break
    return document


def is_in(pointer: str, document: Any) -> bool:
    """True when a pointer leads to a member, or to the position of a missing one."""
    *above, _ = pointer.split("/") if pointer else [""]
    for step in above[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(document, dict | list):
            return False
        document = document[int(name)] if isinstance(document, list) else document.get(name)
    return document is None or isinstance(document, dict | list)


def taken(document: Any) -> tuple[list[LineageEvent], Refused | None]:
    """The events of a document, or why there are none."""
    try:
        return events_of(document, tenant="acme"), None
    except Refused as refused:
        return [], refused


@given(st.deferred(broken))
@settings(max_examples=examples(150), phases=[Phase.explicit, Phase.generate])
def test_a_document_is_taken_or_refused(document: Any) -> None:
    official_schemas()
    given_ = decode(json.dumps(document).encode())
    events, refused = taken(given_)
    if refused is not None:
        assert is_in(refused.pointer, document), refused.pointer
        assert refused.reason
        return
    assert [reject(event) for event in events] == [None] * len(events)
    for event in events:
        encode(event)
    [out] = [canonical(one) for event in events for one in documents_of(event, lambda _: None)]
    assert out == canonical(document)
