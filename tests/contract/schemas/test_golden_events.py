"""Golden events: the same event gives the same id, key and bytes in every version, on every machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater_schemas import identity
from headwater_schemas.codec import Decoder, encode
from support.events import FULL_EVENTS
from support.goldens import FOLDER, document, event_of, value_of

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(FOLDER.glob("*.json"))


def test_there_is_one_for_every_kind() -> None:
    assert {file.stem for file in FILES} == set(FULL_EVENTS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_bytes_read_as_the_event_and_the_event_writes_as_the_bytes(file: Path) -> None:
    content = json.loads(file.read_text("utf-8"))
    event, value = event_of(content), value_of(content)
    assert Decoder().decode(value) == event
    assert encode(event) == value
    assert identity.event_id(event) == event.event_id
    assert identity.record_key(event).decode() == content["record_key"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_file_is_what_the_refresh_would_write(file: Path) -> None:
    content = json.loads(file.read_text("utf-8"))
    assert document(FULL_EVENTS[file.stem]()) == content, (
        "if that is meant: PYTHONPATH=tests uv run python -m support.goldens --refresh"
    )
