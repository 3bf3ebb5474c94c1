"""Events of runs that are like an earlier one but for numbers and ids: made of that one instead of being decoded.

START and end of a job's runs name the same datasets, versions and plan with each run. Of such a record only what may
change is read; the rest is the earlier event's, the very same objects. Where a number or an id goes follows from its
path in the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from headwater_consumers.materializer.fold.templates import Decodes, marks
from headwater_schemas.avro_numbers import NumbersPattern, Path, places
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_HEADER_BYTES
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import from_micros
from headwater_schemas.rules import first_violation

_FREE = frozenset({"event_id", "run_id", "snapshot_id", "parent_id", "manifest_digest"})
"""Fields whose text is another with each run, and as long."""
_Made: TypeAlias = Callable[[Sequence[Any]], Any]
"""Makes a value of all texts and numbers of a record."""


class RunReader:
    """Reads the records that are like one.

    Args:
        value: the record.
        event: that it holds.
        decoder: of any record.
        most: about how many bytes this may take.

    Raises:
        ValueError, DecodeError: it can't be made of texts and numbers, or would take more.

    Attributes:
        size: about how many bytes it takes.
    """

    def __init__(self, value: bytes, event: LineageEvent, decoder: Decodes, most: int) -> None:
        found = places(current_schema().parsed, value, SINGLE_OBJECT_HEADER_BYTES, _FREE)
        self.size = 8_000 + 40 * len(value) + 600 * len(found)
        if self.size > most:
            raise ValueError("takes too much memory")
        self._pattern = NumbersPattern(value, found)
        # All texts, then all numbers, as the pattern gives them.
        found.sort(key=lambda place: not place.is_text)
        self._made = _maker(event, {place.path: number for number, place in enumerate(found)})
        sizes = [place.end - place.begin for place in found if place.is_text]
        texts = [f"{number}".ljust(size)[:size].encode() for number, size in enumerate(sizes)]
        marked = self._pattern.fill(texts, marks(self._pattern.count))
        if self.read(value) != event or self.read(marked) != decoder.decode(marked):
            raise ValueError("something else is made of it than decoding it makes")

    def read(self, value: bytes) -> LineageEvent | None:
        """The event, as the decoder makes it; None where the record is another, or breaks the contract."""
        found = self._pattern.read(value)
        if found is None:
            return None
        texts, numbers = found
        try:
            event: LineageEvent = self._made((*[text.decode() for text in texts], *numbers))
        except UnicodeDecodeError:
            return None
        return event if first_violation(event) is None else None


def _maker(whole: Any, paths: Mapping[Path, int]) -> _Made:
    """What makes a value like `whole`.

    Args:
        whole: an event, or a part of one.
        paths: where in it the texts and numbers are that change.

    Raises:
        ValueError: one is where no path leads, in a map.
    """
    if () in paths:
        place = paths[()]
        if isinstance(whole, datetime):
            return lambda values: from_micros(values[place])
        return lambda values: values[place]
    below: dict[str | int, dict[Path, int]] = {}
    for (name, *rest), place in paths.items():
        below.setdefault(name, {})[tuple(rest)] = place
    if isinstance(whole, tuple):
        items = [_maker(item, below[at]) if at in below else _same(item) for at, item in enumerate(whole)]
        return lambda values: tuple([make(values) for make in items])
    if not isinstance(whole, msgspec.Struct):
        raise ValueError("a number or id in a map")  # noqa: TRY004 - of an event that is good
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(whole)}
    parts = [(fields[str(name)], _maker(getattr(whole, fields[str(name)]), of)) for name, of in below.items()]
    return lambda values: msgspec.structs.replace(whole, **{name: make(values) for name, make in parts})


def _same(item: Any) -> _Made:
    return lambda _: item
