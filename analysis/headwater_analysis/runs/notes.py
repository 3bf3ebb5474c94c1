"""Sentences on the facets that capture adds to a run: missing lineage, and leftovers of the run.

headwater_gaps              micro-batches that were never reported
headwater_uncommitted       writes of a micro-batch that wasn't committed
headwater_unknownOutputs    a write with an unknown target
headwater_nothingWritten    a write that found nothing to write
headwater_state             operators that keep state or dropped late rows
headwater_capture           callbacks that became no events
headwater_uncheckedInputs   writes whose inputs weren't checked for bad data
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from headwater_analysis.amounts import amount

Facet: TypeAlias = Mapping[str, Any]


def notes(facets: Mapping[str, Any], *, named: bool = True) -> tuple[str, ...]:
    """Sentences for a run's facets. For a facet with an unknown form, the sentence only names the facet.

    Args:
        facets: content of each facet, by its name.
        named: whether to name datasets; False for askers who may not see all datasets.
    """
    return tuple(_sentences(facets, _NOTES if named else _UNNAMED))


def _sentences(facets: Mapping[str, Any], described: Mapping[str, Callable[[Facet], Iterator[str]]]) -> Iterator[str]:
    for name, describe in described.items():
        if isinstance(facet := facets.get(name), dict):
            try:
                yield from describe(facet)
            except (KeyError, TypeError, ValueError):
                yield f"facet {name} has an unknown form"


def _gaps(facet: Facet) -> Iterator[str]:
    for gap in facet["gaps"]:
        first, last = int(gap["first"]), int(gap["last"])
        which = f"micro-batch {first} was" if first == last else f"micro-batches {first} to {last} were"
        yield f"{which} not reported: {gap['emitted']}"


def _uncommitted(facet: Facet) -> Iterator[str]:
    for batch in facet["batches"]:
        outputs = ", ".join(_left(each) for each in batch["outputs"]) or "unknown outputs"
        yield f"micro-batch {int(batch['batchId'])} wasn't committed, and had written {outputs}"


def _uncommitted_unnamed(facet: Facet) -> Iterator[str]:
    for batch in facet["batches"]:
        yield f"micro-batch {int(batch['batchId'])} wasn't committed, and had written outputs"


def _left(output: Facet) -> str:
    rows = f" ({int(output['rows']):,} rows)" if output.get("rows") is not None else ""
    version = f" version {output['version']}" if output.get("version") is not None else ""
    return f"{output['name']}{version}{rows}"


def _unknown_outputs(facet: Facet) -> Iterator[str]:
    yield f"target of {facet.get('command') or 'a write'} is unknown: {facet.get('reason') or 'no reason is reported'}"


def _nothing_written(facet: Facet) -> Iterator[str]:
    by = f" (run {facet['runId']})" if facet.get("runId") else ""
    yield f"nothing was written: {facet['reason']}{by}"


def _state(facet: Facet) -> Iterator[str]:
    for operator in facet["operators"]:
        rows, size = operator.get("numRowsTotal"), operator.get("memoryUsedBytes")
        kept = [f"{int(rows):,} rows"] if rows is not None else []
        kept += [f"{int(size):,} bytes"] if size is not None else []
        dropped = int(operator.get("numRowsDroppedByWatermark") or 0)
        late = f"; {dropped:,} late rows were dropped" if dropped else ""
        yield f"operator {operator['operatorName']} keeps {', '.join(kept) or 'state'}{late}"


def _capture(facet: Facet) -> Iterator[str]:
    dropped, failed = int(facet["dropped"]), int(facet["failed"])
    yield f"lineage is missing: {dropped:,} callbacks were dropped, and {failed:,} couldn't be read"


def _unchecked_inputs(facet: Facet) -> Iterator[str]:
    writes, reason = int(facet["writes"]), facet.get("reason") or "not reported"
    went_on = "the write" if writes == 1 else "the writes"
    yield (
        f"the inputs of {amount(writes, 'write')} weren't checked for bad data, and {went_on} went on; latest reason: "
        f"{reason}"
    )


_NOTES: Final[Mapping[str, Callable[[Facet], Iterator[str]]]] = {
    "headwater_capture": _capture,
    "headwater_uncheckedInputs": _unchecked_inputs,
    "headwater_gaps": _gaps,
    "headwater_uncommitted": _uncommitted,
    "headwater_unknownOutputs": _unknown_outputs,
    "headwater_nothingWritten": _nothing_written,
    "headwater_state": _state,
}
_UNNAMED: Final = {**_NOTES, "headwater_uncommitted": _uncommitted_unnamed}
