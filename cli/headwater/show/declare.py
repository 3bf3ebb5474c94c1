"""Changes of `headwater declare`, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.console import shortened
from headwater.show.declared import BESIDE, contradiction_text, value_text
from headwater_analysis.declaring.difference import ChangedDeclaration, ChangedValue, SetResult

_MOST: Final = 50
_MOST_NAMED: Final = 5
_LONGEST: Final = 300
_SIGNS: Final = {"added": "+", "withdrawn": "-", "changed": "~"}


def view(results: Sequence[SetResult]) -> str:
    """The changes of each set, a line each."""
    return "\n".join(line for result in results for line in _lines(result))


def warnings(results: Sequence[SetResult]) -> str:
    """Format warnings, a line each: unknown datasets, cycles, contradictions; empty if there are none."""
    return "\n".join(line for result in results for line in _warnings(result))


def not_looked_up(names: Sequence[str]) -> str:
    """Format a note on names without a namespace, for which the graph wasn't asked."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return (
        f"{len(names):,} name{'s' * (len(names) != 1)} without a namespace {'were' if len(names) != 1 else 'was'} not "
        f"checked, since --check doesn't ask the graph: {', '.join(map(shortened, names[:_MOST_NAMED]))}{more}. "
        "--diff looks them up."
    )


def _lines(result: SetResult) -> Iterator[str]:
    counts = ", ".join(
        f"{number:,} {change}" for change in _SIGNS if (number := sum(one.change == change for one in result.changes))
    )
    yield (
        f"{shortened(result.set)}: revision {result.revision}, {result.declarations:,} "
        f"declaration{'s' * (result.declarations != 1)}, {counts or 'nothing changes'}"
    )
    for one in result.changes[:_MOST]:
        yield f"  {_SIGNS.get(one.change, '~')} {shortened(one.subject_type)} {_name(one)}"
        for value in [each for each in one.values if _is_shown(each)][:_MOST]:
            column = "" if value.column is None else f"{shortened(value.column)}: "
            yield from (f"      {column}{line}" for line in _change(value))
    if len(result.changes) > _MOST:
        yield f"  … and {len(result.changes) - _MOST:,} more; --json lists all"


def _is_shown(value: ChangedValue) -> bool:
    """Not where what stands beside owners or tags is empty before and after: no owner has a type, no tag a value."""
    return value.property not in BESIDE.values() or any(map(any, (value.before or (), value.after or ())))


def _change(value: ChangedValue) -> Iterator[str]:
    if value.property == "plan":
        yield "column lineage: changed"
    elif value.property == "column_lineage":
        edges = [*(f"- {edge}" for edge in value.before), *(f"+ {edge}" for edge in value.after)]
        yield from (f"column lineage {shortened(edge, _LONGEST)}" for edge in edges[:_MOST])
        if len(edges) > _MOST:
            yield f"column lineage: … and {len(edges) - _MOST:,} more edges; --json lists all"
    else:
        yield f"{shortened(value.property)}: {value_text(value.before)} → {value_text(value.after)}"


def _name(one: ChangedDeclaration) -> str:
    return shortened(one.name) if one.namespace is None else f"{shortened(one.namespace)} {shortened(one.name)}"


def _warnings(result: SetResult) -> Iterator[str]:
    name = shortened(result.set)
    unknown = result.unknown_datasets
    if unknown:
        more = f" and {len(unknown) - _MOST_NAMED:,} more" if len(unknown) > _MOST_NAMED else ""
        yield (
            f"{name} names {len(unknown):,} dataset{'s' * (len(unknown) != 1)} that no event has named: "
            f"{', '.join(map(shortened, unknown[:_MOST_NAMED]))}{more}. Check their namespaces and names."
        )
    for cycle in result.cycles:
        yield f"{name} declares datasets that are made from each other: {' → '.join(map(shortened, cycle))}."
    for one in result.contradictions[:_MOST]:
        about = f"{shortened(one.subject_type)} {shortened(one.name)}"
        yield f"Sets contradict each other about {about}, {contradiction_text(one)}"
