"""Views of micro-batches, and of the parts of datasets that micro-batches and runs use."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.show.names import LONGEST_PATH, asset_text, moment_text
from headwater_analysis.amounts import first_of
from headwater_analysis.runs import IntervalItem, Joint, Quality, Use
from headwater_schemas.events import Certainty, Provenance
from headwater_schemas.ranges import partition_text
from headwater_schemas.visible import visible

_MOST_SPANS = 4
_SHORT_DIGEST = 12


def table(batches: Sequence[IntervalItem]) -> Table:
    """Table with a row for each micro-batch; faults are red."""
    out = plain_table("batch", "at", "took", "rows in", "rows out", "read", "faults", "quality", numbers=_NUMBERS)
    for batch in batches:
        out.add_row(
            f"{batch.batch_id}{'' if batch.provenance is Provenance.OBSERVED else ' (reconciled)'}",
            moment_text(batch.processing_time),
            "" if batch.duration_ms is None else f"{batch.duration_ms / 1000:.1f} s",
            "" if batch.rows_in is None else f"{batch.rows_in:,}",
            "" if batch.rows_out is None else f"{batch.rows_out:,}",
            _read(batch),
            Text(faults_text(batch), "red"),
            _quality(batch),
        )
    return out


def uses(found: Sequence[Use]) -> Table:
    """Table with a row for each dataset."""
    partitions = [partitions_text(use) for use in found]
    facets = [shortened(", ".join(facet.name for facet in use.facets if facet.json)) for use in found]
    schemas = [schema_text(use) for use in found]
    optional_columns = [
        (name, texts)
        for name, texts in (("schema", schemas), ("partitions", partitions), ("facets", facets))
        if any(texts)
    ]
    headings = ("dataset", "part", "certainty", "rows", "files", *(name for name, _ in optional_columns))
    out = plain_table(*headings, numbers=("rows", "files"))
    for index, use in enumerate(found):
        out.add_row(
            asset_text(use.dataset),
            part_text(use),
            "" if use.certainty is None else use.certainty.value,
            "" if use.rows is None else f"{use.rows:,}",
            "" if use.files is None else f"{use.files:,}",
            *(texts[index] for _, texts in optional_columns),
        )
    return out


def schema_text(use: Use) -> str:
    """Format the schema of a read or write: time of its first report, else its digest."""
    if use.schema_digest is None:
        return ""
    if use.schema_since is None:
        return visible(use.schema_digest[:_SHORT_DIGEST])
    return f"of {moment_text(use.schema_since)}"


def partitions_text(use: Use) -> str:
    """Format branch and partitions of an output, and a missing commit: `not committed; branch audit; by day; day=1`."""
    texts = ["not committed"] if use.uncommitted else []
    if use.branch is not None:
        texts.append(f"branch {shortened(use.branch)}")
    if use.partition_columns:
        texts.append(f"by {shortened(', '.join(use.partition_columns))}")
    if use.partitions:
        left = len(use.partitions) - _MOST_SPANS
        texts.append(shortened(", ".join(use.partitions[:_MOST_SPANS])) + (f" and {left} more" if left > 0 else ""))
    elif use.partition_count is not None:
        texts.append(f"{use.partition_count:,} partitions")
    return "; ".join(texts)


def part_text(use: Use) -> str:
    """Format a used part: for a topic `0:10..20, 1:7..9`, by partition; or a version, files, or a description."""
    if use.offsets:
        spans = [partition_text(span.partition, span.start, span.end) for span in use.offsets if span.end > span.start]
        return first_of(spans, _MOST_SPANS) or "nothing new"
    if use.position == "files":
        names = [shortened(_within(use.dataset.name, path), LONGEST_PATH) for path in use.paths[:1]]
        return "".join(names) + (" …" if len(use.paths) > 1 else "") or (
            f"files {visible(use.version[:_SHORT_DIGEST])}" if use.version else "files"
        )
    if use.version is not None and use.text is None:
        upto = f"after {shortened(use.from_version)} up to " if use.from_version is not None else ""
        if use.position == "table_range" and not upto:
            upto = "up to "
        return f"{shortened(use.format or '')} {upto}{shortened(use.version)}".strip()
    return shortened(use.text) if use.text else "–"


def _within(dataset: str, path: str) -> str:
    """Path of a file below its dataset; if the dataset is this file, the name of the file."""
    name = f"/{dataset.strip('/')}"
    if path.endswith(name):
        return path.rpartition("/")[2]
    return path.partition(f"{name}/")[2] or path


def faults_text(batch: IntervalItem) -> str:
    """Describe the faults between a micro-batch and the previous one."""
    texts = []
    if batch.missing:
        texts.append(f"{batch.missing:,} missing before")
    texts += [f"gap {_joint(joint)}" for joint in batch.gaps]
    texts += [f"overlap {_joint(joint)}" for joint in batch.overlaps]
    if batch.conflicts:
        texts.append(f"{batch.conflicts} conflicting")
    if batch.anew:
        texts.append("another incarnation of the topic")
    elif batch.rewinds:
        texts.append("goes back")
    return ", ".join(texts)


def quality_text(results: Sequence[Quality]) -> str:
    """Format the failed assertions; if none failed, the number of passed ones."""
    failed = [one for one in results if not one.passed]
    if not failed:
        return f"{len(results)} passed" if results else ""
    texts = (f"{one.assertion}{f' of {one.column}' if one.column else ''}" for one in failed)
    return f"failed: {shortened(', '.join(texts))}"


_NUMBERS = ("batch", "took", "rows in", "rows out")


def _quality(batch: IntervalItem) -> Text:
    is_bad = any(not one.passed for one in batch.quality)
    return Text(quality_text(batch.quality), "red" if is_bad else "green")


def _read(batch: IntervalItem) -> str:
    texts = []
    for use in batch.inputs:
        is_certain = use.certainty in (None, Certainty.EXACT)
        texts.append(
            f"{shortened(use.dataset.title or use.dataset.name, 40)} {part_text(use)}" + ("" if is_certain else " ?")
        )
    return "; ".join(texts)


def _joint(joint: Joint) -> str:
    return partition_text(joint.partition, joint.start, joint.end)
