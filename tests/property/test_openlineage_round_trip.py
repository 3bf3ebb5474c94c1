"""OpenLineage → Headwater → OpenLineage: every document comes back, from events that the graph can hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headwater_graph.fold.rejection import reject
from headwater_openlineage.outgoing import documents_of
from headwater_schemas.codec import Decoder, encode
from support.examples import examples
from support.openlineage_documents import documents, standard_facets
from support.openlineage_spec import canonical, check_official, official_schemas, received


@pytest.fixture(scope="module", autouse=True)
def _specifications() -> None:
    official_schemas()


@given(st.deferred(documents))
@settings(max_examples=examples(300), phases=[Phase.explicit, Phase.generate])
def test_a_document_comes_back(document: dict[str, Any]) -> None:
    check_official(document)
    events = received(document)
    assert [reject(event) for event in events] == [None] * len(events)
    assert [Decoder().decode(encode(event)) for event in events] == events
    first, *others = events
    assert [canonical(one) for one in documents_of(first, lambda _: None)] == [canonical(document)]
    assert [documents_of(other, lambda _: None) for other in others] == [[]] * len(others)
    assert received(json.loads(json.dumps(document))) == events


def test_every_standard_facet_is_drawn() -> None:
    names = {name for facets in standard_facets().values() for name, _ in facets}
    assert len(names) >= 35
