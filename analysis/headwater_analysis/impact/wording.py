"""Sentences of an impact, and its summary as Markdown, to paste into a ticket."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from headwater_analysis.amounts import first_of
from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.durations import duration_text
from headwater_analysis.impact.change import ChangeType, ImpactChange, SchemaChange
from headwater_analysis.impact.impacted_assets import Decision, Impact, ImpactItem, ImpactOwner
from headwater_analysis.impact.policy import Raise, Severity
from headwater_analysis.impact.policy_inputs import Cause, ConsumerInput, JobInput, QualityState, SeverityInputs
from headwater_analysis.impact.spread import JobHit
from headwater_schemas.ranges import range_text
from headwater_schemas.visible import visible

_MOST = 80

_HOW = {
    Cause.VALUE: "{job} derives it from {source}",
    Cause.CHOICE: "{job} chooses its value by {source}",
    Cause.LOOKUP: "{job} looks it up by {source}",
    Cause.ROWS: "{job} decides its rows by {source}",
    Cause.JOB: "{job} reads {source} and writes it",
    Cause.FLOW: "{job} derives it from {source}",
    Cause.UNSEEN: "{job} reads {source} and doesn't report column lineage",
}

_TYPES = {
    ChangeType.DATA_INCORRECT: "Wrong data in {}",
    ChangeType.FRESHNESS_BREACH: "{} is late",
    ChangeType.PRIVACY_RECLASSIFICATION: "{} becomes more sensitive",
    ChangeType.ASSET_DEPRECATED: "{} will be removed",
    ChangeType.BACKFILL_RESTATEMENT: "Past data of {} is rewritten",
}

_HAPPENS = {
    SchemaChange.REMOVED: "is removed",
    SchemaChange.ENUM: "has other values",
    SchemaChange.UNIT: "has another unit",
    SchemaChange.MEANING: "means something else",
    SchemaChange.PARTITIONING: "is partitioned by other columns",
}


def listed(assets: Sequence[Asset], *, of: int | None = None) -> str:
    """First names, and the number of further names: `daily, hourly, weekly and 2 more`.

    Args:
        assets: assets to name, in order.
        of: number of all assets, if `assets` has only the first assets.
    """
    return first_of((short(each.name) for each in assets), total=of)


def short(text: str, most: int = _MOST) -> str:
    """Name for a sentence: a long one is cut in its middle, and control characters are made visible."""
    return visible(text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}")


def called(asset: Asset) -> str:
    """Title of a dataset, or name of a column with its dataset's title, or name of a job."""
    name = short(asset.title or asset.name)
    return name if asset.column is None else f"{short(asset.column)} of {name}"


def headline(change: ImpactChange, type_: ChangeType, start: Asset) -> str:
    """Describe the change in one line, without a full stop."""
    what = called(start)
    if change.schema is None:
        text = _TYPES[type_].format(what)
        return text + (f", {extent_of(change)}" if change.extent is not None else "")
    if change.schema is SchemaChange.ADDED:
        name = f"{short(change.column or '')} of {short(start.title or start.name)}"
        return f"{name} is added" + (f" as {short(change.new_type)}" if change.new_type else "")
    if change.schema is SchemaChange.RENAMED:
        return f"{what} is renamed" + (f" to {short(change.new_name)}" if change.new_name else "")
    if change.schema is SchemaChange.RETYPED:
        before = f" from {short(start.type)}" if start.type else ""
        return f"{what} is retyped{before}" + (f" to {short(change.new_type)}" if change.new_type else "")
    if change.schema is SchemaChange.NULLABILITY:
        wordings = {
            None: "changes its nullability",
            True: "may be null from now on",
            False: "is never null from now on",
        }
        return f"{what} {wordings[change.nullable]}"
    return f"{what} {_HAPPENS[change.schema]}"


def extent_of(change: ImpactChange) -> str:
    """Describe the part of the data that a change affects."""
    extent, words = change.extent, []
    if extent is None:
        return ""
    if extent.partition is not None:
        words.append(f"partition {short(extent.partition)}")
    if extent.first_offset is not None:
        words.append(f"offsets {range_text(extent.first_offset, extent.end_offset)}")
    if extent.since is not None:
        words.append(f"since {extent.since.isoformat()}")
    if extent.until is not None:
        words.append(f"before {extent.until.isoformat()}")
    if extent.since is not None or extent.until is not None:
        words.append("by time of reading" if extent.read_time else "by time of arrival")
    return ", ".join(words)


def reason(cause: Cause, kind: str | None, because: str, *, job: str, source: str, possible: bool = False) -> str:
    """Explain the job's use, or possible use, of the input and its consequence."""
    how = _HOW[cause].format(job=job, source=source)
    maybe = ", possibly: its producer doesn't record which inputs went into which output" if possible else ""
    return f"{how}{f' ({kind})' if kind else ''}{maybe}: {because}."


def raise_text(raised_from: Severity, to: Severity, because: Iterable[str]) -> str:
    """Describe how a severity was raised or lowered, and why."""
    way = "raised" if to.rank < raised_from.rank else "lowered" if to.rank > raised_from.rank else "kept"
    return f"{way} from {raised_from} to {to}: {', '.join(because)}"


def because(raising: Raise, inputs: SeverityInputs) -> tuple[str, ...]:
    """Describe the conditions of a raise that an asset meets; a raise without conditions holds for every asset."""
    of_consumers = raising.consumers_of(inputs)
    about_consumers = raising.consumed is not None or raising.consumer or raising.consumer_criticality
    jobs = tuple(job for job in inputs.jobs if job.criticality.upper() in raising.job_criticality)
    found = [f"type {short('/'.join(raising.type).lower())}"] if raising.type else []
    found += [f"criticality {short(inputs.criticality)}"] if raising.criticality and inputs.criticality else []
    found += [_made_by(jobs)] if jobs else []
    if about_consumers:
        found.append(f"read by {_consumers(of_consumers)}" if of_consumers else "no declared consumer")
    if raising.deadline is not None:
        found += list(_deadlines(raising, inputs, of_consumers)) or ["no deadline"]
    if raising.freshness is not None:
        found.append(_freshest(raising, inputs, of_consumers))
    found += [f"declared {inputs.sensitivity}"] if raising.sensitivity and inputs.sensitivity else []
    found += [f"classified {short(inputs.classification)}"] if raising.classification and inputs.classification else []
    found += [f"latest run {short(inputs.publication)}"] if raising.publication and inputs.publication else []
    found += [quality_text(inputs)] if raising.quality else []
    return tuple(found) or ("every asset",)


def inputs_texts(inputs: SeverityInputs) -> tuple[str, ...]:
    """Description of each known input of a decision."""
    found = [f"criticality {short(inputs.criticality)}"] if inputs.criticality else []
    found += [_made_by(inputs.jobs)] if inputs.jobs else []
    found += [f"read by {_consumers(inputs.consumers)}"] if inputs.consumers else []
    found += [f"deadline {short(inputs.deadline)}"] if inputs.deadline else []
    found += [_no_older(inputs.freshness_seconds)] if inputs.freshness_seconds is not None else []
    found += [f"declared {inputs.sensitivity}"] if inputs.sensitivity else []
    found += [f"classified {short(inputs.classification)}"] if inputs.classification else []
    found += [f"latest run {short(inputs.publication)}"] if inputs.publication else []
    found += [quality_text(inputs)] if inputs.quality else []
    return tuple(found)


def quality_text(inputs: SeverityInputs) -> str:
    """Describe the results of the latest checks of an asset's dataset."""
    if inputs.quality is not QualityState.FAILED:
        return "latest checks passed"
    return f"latest checks failed: {first_of(map(short, inputs.failed))}"


def _made_by(jobs: Sequence[JobInput]) -> str:
    return f"made by {first_of(f'{short(job.name)} ({short(job.criticality)})' for job in jobs)}"


def _consumers(consumers: Sequence[ConsumerInput]) -> str:
    return first_of(map(_consumer, consumers))


def _consumer(consumer: ConsumerInput) -> str:
    about = [short(consumer.criticality)] if consumer.criticality else []
    about += [f"deadline {short(consumer.deadline)}"] if consumer.deadline else []
    about += [_no_older(consumer.freshness_seconds)] if consumer.freshness_seconds is not None else []
    kind = (consumer.type or "consumer").lower().replace("_", " ")
    return f"{kind} '{short(consumer.name)}'" + (f" ({', '.join(about)})" if about else "")


def _deadlines(raising: Raise, inputs: SeverityInputs, consumers: Sequence[ConsumerInput]) -> Iterator[str]:
    """Yield descriptions of the deadlines that a raise requires, unless the text on its consumers names them."""
    if raising.consumer or raising.consumer_criticality or raising.consumed:
        return
    if inputs.deadline:
        yield f"deadline {short(inputs.deadline)}"
    with_deadline = [each for each in consumers if each.deadline]
    if with_deadline:
        yield f"read by {_consumers(with_deadline)}"


def _freshest(raising: Raise, inputs: SeverityInputs, consumers: Sequence[ConsumerInput]) -> str:
    own = inputs.freshness_seconds
    if own is not None and raising.freshness is not None and own <= raising.freshness:
        return _no_older(own)
    with_freshness = [each for each in consumers if each.freshness_seconds is not None]
    return f"read by {_consumers(with_freshness)}"


def _no_older(seconds: int) -> str:
    return f"no older than {duration_text(seconds)}"


def job_reason(job: JobHit, schema: SchemaChange | None, *, fails: bool, late: bool) -> str:
    """Explain the effect of the change on a job."""
    kinds = f" ({', '.join(sorted(job.kinds))})" if job.kinds else ""
    if job.causes == {Cause.UNSEEN}:
        return "It reads the data, and doesn't report column lineage."
    if schema in (SchemaChange.REMOVED, SchemaChange.RENAMED) and job.causes != {Cause.FLOW}:
        if fails:
            return f"It names the column{kinds}, and can't be analyzed without it."
        if late and job.hops == 1:
            return f"It names the field{kinds}, and gets nulls for it."
        return f"It uses data derived from the column{kinds}."
    what = {
        Cause.VALUE: "takes values from it",
        Cause.CHOICE: "chooses values by it",
        Cause.LOOKUP: "looks values up by it",
        Cause.ROWS: "decides rows by it",
        Cause.JOB: "names the column",
        Cause.FLOW: "reads an affected dataset",
        Cause.UNSEEN: "may use it in unknown ways",
    }
    wordings = [what[cause] for cause in Cause if cause in job.causes]
    return f"It {', '.join(wordings)}{kinds}."


_MOST_ITEMS = 50
_MOST_OWNERS = 20
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def summary_of(impact: Impact) -> str:
    """Summarize an impact: the change, its severity, whom to notify and what to do, in this order."""
    return "\n".join(_lines(impact)) + "\n"


def _lines(impact: Impact) -> Iterator[str]:
    name = impact.change.column if impact.start.column is None else None
    start = impact.start.spelling + (f"#{name}" if name else "")
    title = as_text(headline(impact.change, impact.type, impact.start))
    yield f"## {title}: {impact.severity}{as_text(left_open(impact))}"
    yield ""
    yield f"{impact.type} of {as_code(start)}: {counted(impact)}."
    for note in impact.notes:
        yield f"{as_text(note)}"
    if impact.jobs:
        yield from _heading("### Jobs")
        for job in impact.jobs[:_MOST_ITEMS]:
            yield f"- **{job.severity}** {as_code(job.job.name)}: {as_text(job.reason)}{_owned(job.owners)}"
        yield from _more(impact.jobs_total - min(len(impact.jobs), _MOST_ITEMS), "jobs")
    yield from _of_consumers(impact)
    if impact.items:
        shown = impact.items[:_MOST_ITEMS]
        yield from _heading("### Impact")
        yield "| severity | asset | | hops | why | to do |"
        yield "|---|---|---|---|---|---|"
        for item in shown:
            yield _row(item)
        yield from _more(impact.total - len(shown), "assets")
        yield from decisions(shown)
    every = (*(job.owners for job in impact.jobs), *(item.owners for item in impact.items))
    of_consumers = (owner.name for consumer in impact.consumers for owner in consumer.owners)
    owners = list(dict.fromkeys((*(owner.name for owned in every for owner in owned), *of_consumers)))
    if owners:
        yield ""
        names = ", ".join(as_text(owner) for owner in owners[:_MOST_OWNERS])
        yield f"To notify: {names}{f' and {len(owners) - _MOST_OWNERS} more' if len(owners) > _MOST_OWNERS else ''}."


def _of_consumers(impact: Impact) -> Iterator[str]:
    if impact.hit_consumers:
        yield from _heading("### Declared consumers of the changed asset")
        for each in impact.hit_consumers[:_MOST_ITEMS]:
            yield f"- **{each.severity}** {as_code(each.name)}: {as_text(each.reason)}"
        yield from _more(len(impact.hit_consumers) - _MOST_ITEMS, "consumers")
    if impact.consumers:
        yield from _heading("### Whom to notify")
        for consumer in impact.consumers[:_MOST_ITEMS]:
            yield f"- {as_code(consumer.name)}: {as_text(consumer_text(consumer))}"
        yield from _more(len(impact.consumers) - _MOST_ITEMS, "consumers")


def decisions(items: Sequence[ImpactItem]) -> Iterator[str]:
    """Render the inputs of each severity as a section of Markdown; empty if no input is known."""
    known = [(item, _decision(item.decision)) for item in items]
    if not any(texts for _, texts in known):
        return
    yield from _heading("### Inputs of the severities")
    yield "| asset | severity | inputs |"
    yield "|---|---|---|"
    for item, text in known:
        if text:
            yield f"| {as_text(called(item.asset))} | {item.severity} | {text} |"
    if not all(text for _, text in known):
        yield ""
        yield "For the other assets, nothing is declared, and no publication or check is known."


def _decision(decision: Decision) -> str:
    raised = [f"**{as_text(decision.text)}**"] if decision.text else []
    known = "; ".join(inputs_texts(decision.inputs))
    return "; ".join([*raised, *([as_text(known)] if known else [])])


def consumer_text(consumer: ReadingConsumer) -> str:
    """Describe a consumer: its type, criticality, inputs, notice period and contacts."""
    parts = [consumer.type.lower().replace("_", " ")] if consumer.type else []
    parts += [consumer.criticality] if consumer.criticality else []
    parts.append(f"reads {first_of(map(called, consumer.reads), total=consumer.reads_total)}")
    parts += [f"needs {consumer.notice_days} days of notice"] if consumer.notice_days else []
    parts += [owner.name for owner in consumer.owners]
    parts += [text for text in (consumer.on_call, consumer.contact) if text]
    return ", ".join(short(part) for part in parts)


def left_open(impact: Impact) -> str:
    """Describe what is unknown, for the line of the verdict; empty if everything is known."""
    if not impact.unknown:
        return ""
    more = "; ".join(impact.unknown)
    return f". Not known is {more}." if impact.severity is Severity.UNKNOWN else f"; not known is {more}."


def counted(impact: Impact) -> str:
    """Describe the totals."""
    found = "; ".join(text for text in (_of_items(impact), _itself(impact)) if text)
    return found or ("no known use" if impact.severity is Severity.UNKNOWN else "nothing known uses it")


def _itself(impact: Impact) -> str:
    if not impact.hit_consumers:
        return ""
    counts = Counter(each.severity for each in impact.hit_consumers)
    by = ", ".join(f"{counts[each]:,} {each}" for each in sorted(counts, key=lambda each: each.rank))
    total = len(impact.hit_consumers)
    return f"{total:,} declared consumer{' reads' if total == 1 else 's read'} the changed asset ({by})"


def _of_items(impact: Impact) -> str:
    if not impact.total:
        return ""
    by = ", ".join(f"{total.total:,} {total.severity}" for total in impact.totals)
    whole = impact.total - impact.columns
    parts = [
        f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in ((impact.columns, "column"), (whole, "dataset")) if n
    ]
    jobs = f"{impact.jobs_total:,} job{'' if impact.jobs_total == 1 else 's'}"
    far = f"up to {impact.max_hops} hops away" if impact.max_hops > 1 else "1 hop away"
    return f"{' and '.join(parts)}, {far}, by {jobs} ({by}; {impact.direct:,} DIRECT, {impact.indirect:,} INDIRECT)"


def _row(item: ImpactItem) -> str:
    cells = (
        f"**{item.severity}**",
        as_text(called(item.asset)),
        str(item.influence),
        str(item.hops),
        as_text(item.reason),
        as_text(item.action),
    )
    return f"| {' | '.join(cells)} |"


def _heading(text: str) -> tuple[str, ...]:
    return "", text, ""


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield ""
        yield f"… and {count:,} more {what}."


def _owned(owners: tuple[ImpactOwner, ...]) -> str:
    return f" ({', '.join(as_text(owner.name) for owner in owners)})" if owners else ""


def as_code(text: str) -> str:
    """Format as inline code of Markdown, with a fence longer than any run of backticks in it."""
    shown = short(text, 200)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    return f"{fence} {shown} {fence}" if "`" in shown else f"`{shown}`"


def as_text(text: str) -> str:
    """Escape as plain text of Markdown: nothing in it is markup."""
    return _SPECIAL.sub(r"\\\1", short(text, 600))
