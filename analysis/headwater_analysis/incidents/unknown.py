"""Unknown parts of an incident's reach, a few words each or as sentences; and the bad data that is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset
from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.trace.traced_parts import PartKind
from headwater_schemas.events import Certainty

_MOST_NAMED: Final = 5


def unknown_parts(reach: IncidentReach) -> tuple[str, ...]:
    """Name the unknown parts of a reach in a few words each; empty: all of the reach is known."""
    parts = sum(each.certainty is Certainty.UNKNOWN for each in reach.scope)
    datasets = len(_of_unknown_extent(reach))
    found = [f"{amount(parts, 'part')} of the scope"] if parts else []
    found += [f"the extent in {amount(datasets, 'dataset')}"] if datasets else []
    found += ["what is beyond a limit that was reached"] if _is_cut(reach) else []
    return tuple(found)


def with_unknown(reach: IncidentReach) -> IncidentReach:
    """Return a reach with sentences on its unknown parts: no link leads to them, or too little is recorded of them."""
    beyond = [_cut_sentence()] if _is_cut(reach) else list(_unread(reach))
    return replace(
        reach,
        not_known_to_be_reached=(*_parts(reach, is_linked=False), *beyond),
        cannot_be_known=(*_parts(reach, is_linked=True), *_extents(reach)),
    )


def unknown_sentences(reach: IncidentReach) -> Iterator[str]:
    """Describe the unknown parts of a reach, one sentence each; names of datasets and parts aren't shortened.

    Jobs that the graph doesn't know aren't among them.
    """
    yield from _parts(reach, is_linked=False)
    yield from _parts(reach, is_linked=True)
    yield from _extents(reach)
    if _is_cut(reach):
        yield _cut_sentence()


def _parts(reach: IncidentReach, *, is_linked: bool) -> Iterator[str]:
    """Sentences on the parts of the scope that aren't fully known.

    Args:
        reach: the reach.
        is_linked: whether the graph links the part to data or steps, of which it records too little.
    """
    unsure = {hop.number for hop in reach.blast.hops if hop.certainty is Certainty.UNKNOWN}
    for each in reach.scope:
        has_unsure = any(part.certainty is Certainty.UNKNOWN for part in each.parts) or not unsure.isdisjoint(each.hops)
        if each.certainty is Certainty.UNKNOWN and has_unsure is is_linked:
            yield f"{each.part.text}: {each.why}"


def _extents(reach: IncidentReach) -> Iterator[str]:
    for asset in _of_unknown_extent(reach):
        yield f"{asset.spelling}: the extent of the bad data there isn't known."


def _cut_sentence() -> str:
    return "A limit was reached, so there may be more: raise --limit."


def _unread(reach: IncidentReach) -> Iterator[str]:
    """Sentence on the datasets whose bad data no known step read."""
    read = {part.dataset.key for hop in reach.blast.hops for part in hop.inputs}
    names = [asset.spelling for asset in reach.bad_datasets if asset.key not in read]
    if names:
        yield (
            f"No known job read the bad data in {first_of(names, _MOST_NAMED)}. Jobs that aren't captured may have "
            "read it."
        )


def left_words(reach: IncidentReach) -> str:
    """Format what is left, as one sentence: bad data, unknown facts, queries that may spread it, and consumers.

    Names aren't shortened. Empty: certainly nothing is left.
    """
    bad = [asset.spelling for asset in reach.bad_datasets]
    spreading = [each.query_name or each.query_id for each in reach.may_spread]
    if not bad and not spreading and not reach.undeclared_consumers and reach.complete:
        return ""
    found = [f"bad data is left in {amount(len(bad), 'dataset')}{_named(bad)}"]
    found += [f"not known: {', '.join(unknown)}"] if (unknown := unknown_parts(reach)) else []
    if spreading:
        found.append(f"{amount(len(spreading), 'query', 'queries')}{_named(spreading)} may still spread")
    found += [undeclared] if (undeclared := undeclared_words(reach)) else []
    return f"{'; '.join(found)}."


def undeclared_words(reach: IncidentReach) -> str:
    """Format the consumers of the scope that aren't declared repaired; empty: there are none."""
    if not (names := reach.undeclared_consumers):
        return ""
    verb = "isn't" if len(names) == 1 else "aren't"
    return f"{amount(len(names), 'consumer')} of the scope{_named(names)} {verb} declared repaired"


def _named(names: Sequence[str]) -> str:
    return f" ({first_of(names, _MOST_NAMED)})" if names else ""


def _of_unknown_extent(reach: IncidentReach) -> list[Asset]:
    held = (each for one in reach.tainted for each in one.parts)
    found = {each.dataset.key: each.dataset for each in held if each.kind is PartKind.UNKNOWN}
    return sorted(found.values(), key=lambda asset: (asset.namespace, asset.name))


def _is_cut(reach: IncidentReach) -> bool:
    """Return whether a limit left something out."""
    known = all(each.certainty is not Certainty.UNKNOWN for each in reach.scope)
    return reach.blast.truncated or (known and not reach.complete)
