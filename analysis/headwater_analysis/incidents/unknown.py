"""Unknown parts of an incident's reach, a few words each or as sentences; and the bad data that is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def unknown_sentences(reach: IncidentReach) -> Iterator[str]:
    """Describe the unknown parts of a reach, one sentence each; names of datasets and parts aren't shortened."""
    for each in reach.scope:
        if each.certainty is Certainty.UNKNOWN:
            yield f"{each.part.text}: {each.why}"
    for asset in _of_unknown_extent(reach):
        yield f"{asset.spelling}: the extent of the bad data there isn't known."
    if _is_cut(reach):
        yield "A limit was reached, so there may be more: raise --limit."


def left_words(reach: IncidentReach) -> str:
    """Format the bad data that is left, what isn't known, and queries that may spread bad data, as one sentence.

    Names aren't shortened. Empty: certainly nothing is left.
    """
    bad = [asset.spelling for asset in reach.bad_datasets]
    spreading = [each.query_name or each.query_id for each in reach.may_spread]
    if not bad and not spreading and reach.complete:
        return ""
    found = [f"bad data is left in {amount(len(bad), 'dataset')}{_named(bad)}"]
    found += [f"not known: {', '.join(unknown)}"] if (unknown := unknown_parts(reach)) else []
    if spreading:
        found.append(f"{amount(len(spreading), 'query', 'queries')}{_named(spreading)} may still spread")
    return f"{'; '.join(found)}."


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
