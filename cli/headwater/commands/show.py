"""`headwater show`: all known facts on one dataset, column, job, consumer or run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.remote import names as remote
from headwater.show import runs as show_runs
from headwater.show.declared import consumers_table, contradiction_text, declared_table, stated
from headwater.show.names import LONGEST_PATH, asset_text, moment_text, span_text, transformation_text
from headwater.show.pages import FittedView, pairs, part
from headwater.show.quality import checks_table
from headwater.show.schemas import schemas_table, types_table
from headwater_analysis.amounts import first_of
from headwater_analysis.assets import Asset
from headwater_analysis.durations import duration_text
from headwater_analysis.errors import AmbiguousError
from headwater_analysis.known import ColumnDetails, ConsumerDetails, DatasetDetails, JobDetails, Known, KnownKind, known
from headwater_analysis.known.consumer import ConsumedDataset
from headwater_analysis.known.dataset import KnownColumn
from headwater_analysis.known.job import KnownPlan
from headwater_analysis.known.tags_and_uses import AssetTag, JobDataset, JobUse
from headwater_analysis.lineage import Lineage
from headwater_analysis.owners import OwnerName
from headwater_analysis.runs import RunDetails


@graph_command()
def command(
    ask: Ask,
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|JOB|RUN|COLUMN|CONSUMER",
            help="A name if it is unique, or namespace/name; dataset#column; a key; a run's id or the beginning of it.",
        ),
    ],
    *,
    kind: Annotated[
        KnownKind | None, typer.Option("--kind", case_sensitive=False, help="Kind of asset, if several have this name.")
    ] = None,
) -> Shown:
    """Show all known facts on a dataset, a column, a job, a run or a consumer.

    If a dataset and a job have the same name, the dataset is shown.

    Dataset: owners, other names, storage, columns and when schemas had them, the jobs that write and read it, its
    last runs and versions, quality.

    Column: its sources and targets in one step.

    Job: inputs and outputs, source code, plan, queries, last runs, quality, retention.

    Run: its end, inputs and outputs.

    Declared consumer (dashboard, report, team …): owners and their contacts, the datasets that it reads, the jobs that
    write these datasets and when they last did, and results of the latest checks.
    """
    note = ""

    def found_by(find: Callable[[str, KnownKind | None], Known]) -> Known:
        nonlocal note
        try:
            return find(name, kind)
        except AmbiguousError as error:
            keys = {of: key for of, _, key in (each.partition(" ") for each in error.candidates)}
            if kind is not None or keys.keys() != {"job", "dataset"}:
                raise
            note = f"A job is called {shortened(name)!r}, too: `headwater show {keys['job']}` shows it."
            return find(keys["dataset"], KnownKind.DATASET)

    found = ask(lambda reader: found_by(partial(known, reader)), lambda server: found_by(partial(remote.known, server)))
    return Shown(found, view(found), note)


_LONGEST = 1_000
_MOST_COLUMNS = 10
Rows = list[tuple[str, str | Text | None]]


def view(found: Known) -> RenderableType:
    """Format known facts: rows of names and values, then lists."""
    match found:
        case DatasetDetails():
            return FittedView(Group(*_dataset(found)))
        case ColumnDetails():
            return FittedView(Group(*_column(found)))
        case JobDetails():
            return FittedView(Group(*_job(found)))
        case ConsumerDetails():
            return FittedView(Group(*_consumer(found)))
        case RunDetails():
            return FittedView(show_runs.details(found))


def _dataset(found: DatasetDetails) -> Iterator[RenderableType]:
    lifecycle = [found.lifecycle, f"dropped {moment_text(found.dropped_at)}" if found.gone else None]
    rows: Rows = [
        ("dataset", asset_text(found.dataset)),
        ("type", _text(found.dataset.type)),
        *_meaning(found.description, found.owners, found.tags, found.classification, found.criticality),
        *_other_names(found.known_as),
        ("renamed from", _text(None if found.renamed_from is None else found.renamed_from.spelling)),
        ("renamed to", _lines(each.spelling for each in found.renamed_to)),
        ("storage", _joined(filter(None, (found.storage_layer, found.storage_format)))),
        ("source", _text(found.source_uri)),
        ("business version", show_runs.business_text(found.business_versions)),
        ("lifecycle", _joined(filter(None, lifecycle))),
        ("facets", _joined(facet.name for facet in found.facets)),
    ]
    yield pairs(rows)
    if found.declared is not None:
        yield part("declared", declared_table(found.declared), 1, 1)
    if found.declared_consumers:
        count = len(found.declared_consumers)
        yield part("whom to notify", consumers_table(found.declared_consumers), count, count)
    yield part("columns", _columns(found.columns), len(found.columns), found.columns_total)
    if found.schemas_total > 1:
        yield part("schemas", schemas_table(found.schemas), len(found.schemas), found.schemas_total)
    yield part("written by", _jobs(found.producers), len(found.producers), found.producers_total)
    yield part("read by", _jobs(found.consumers), len(found.consumers), found.consumers_total)
    yield part("last runs", show_runs.table(found.runs), len(found.runs), len(found.runs))
    shown = len(found.versions)
    yield part("versions", show_runs.versions(found.versions), shown, found.versions_total)
    yield part("quality", show_runs.quality(found.quality), len(found.quality), len(found.quality))
    yield part("checks", checks_table(found.checks), len(found.checks), len(found.checks))


def _column(found: ColumnDetails) -> Iterator[RenderableType]:
    column = found.details
    yield pairs(
        [
            ("column", asset_text(found.column)),
            ("type", _text(_type(column))),
            *_meaning(
                column.description, found.owners, (*column.tags, *found.tags), found.classification, found.criticality
            ),
            ("declared", stated(found.declared) or None),
            *_other_names(found.known_as),
            ("schema", _history(column)),
            ("status", _column_status(found)),
        ]
    )
    if len(found.types) > 1:
        yield part("types", types_table(found.types), len(found.types), len(found.types))
    yield part("made from", _hops(found.origins), len(found.origins.items), found.origins.total)
    yield part("goes into", _hops(found.uses), len(found.uses.items), found.uses.total)
    notes = dict.fromkeys((*found.origins.notes, *found.uses.notes))
    if notes:
        yield from ("", *(shortened(note, _LONGEST) for note in notes))


def _column_status(found: ColumnDetails) -> str | None:
    if found.gone:
        return "its dataset was dropped"
    return "gone: its dataset's latest schema doesn't have it" if found.origins.gone else None


def _job(found: JobDetails) -> Iterator[RenderableType]:
    plan, kept, source = found.plan, found.retention, found.source
    rows: Rows = [
        ("job", asset_text(found.job)),
        ("type", _joined(filter(None, (found.job.type, found.integration, found.job_type)))),
        *_meaning(found.description, found.owners, found.tags, None, found.criticality),
        ("seen", span_text(found.first_seen, found.last_seen) if found.first_seen else None),
        ("facets", _joined(facet.name for facet in found.facets)),
    ]
    if source is not None:
        rows.append(("source", _joined(filter(None, (source.url or source.repo, source.path, source.version)))))
    if plan is not None:
        rows.append(("plan", f"{shortened(plan.digest)}, {_completeness(plan)}"))
    if kept is not None:
        days = (("only summaries before", kept.summarized_before), ("nothing before", kept.dropped_before))
        texts = (f"{word} {day:%Y-%m-%d}" for word, day in days if day is not None)
        rows.append(("micro-batches", ", ".join(texts)))
    yield pairs(rows)
    if found.declared is not None:
        yield part("declared", declared_table(found.declared), 1, 1)
    yield part("reads", _datasets(found.inputs), len(found.inputs), found.inputs_total)
    yield part("writes", _datasets(found.outputs), len(found.outputs), found.outputs_total)
    yield part("streaming queries", _queries(found), len(found.queries), len(found.queries))
    yield part("last runs", show_runs.table(found.runs), len(found.runs), len(found.runs))
    yield part("quality", show_runs.quality(found.quality), len(found.quality), len(found.quality))


def _consumer(found: ConsumerDetails) -> Iterator[RenderableType]:
    stated = found.declared
    rows: Rows = [
        ("consumer", _text(found.consumer.name)),
        ("status", "withdrawn: no declaration set has it any more" if found.withdrawn else None),
        ("type", _text(found.consumer.type)),
        *_meaning(found.description, found.owners, found.tags, None, found.criticality),
        ("on call", _text(found.on_call)),
        ("contact", _text(found.contact)),
        ("notice", None if found.notice_days is None else f"{found.notice_days:,} days"),
        ("freshness", None if found.freshness_seconds is None else duration_text(found.freshness_seconds)),
        ("deadline", _text(found.deadline)),
        ("url", _text(found.url)),
    ]
    if stated is not None:
        rows += [
            ("glossary", _joined(stated.values.get("glossary") or ())),
            ("in sets", _joined(stated.sets)),
            *(("contradiction", shortened(contradiction_text(each), _LONGEST)) for each in stated.contradictions),
        ]
    yield pairs(rows)
    yield part("reads", _consumed(found.reads), len(found.reads), found.reads_total)
    shown, total = sum(len(each.writers) for each in found.reads), sum(each.writers_total for each in found.reads)
    yield part("written by", _writers(found.reads), shown, total)
    for each in found.reads:
        if each.checks:
            yield part(f"checks of {shortened(each.dataset.spelling, LONGEST_PATH)}", checks_table(each.checks), 1, 1)


def _consumed(reads: Sequence[ConsumedDataset]) -> Table:
    out = plain_table("dataset", "columns", "last written", "owners")
    for each in reads:
        columns = first_of(list(map(shortened, each.columns)), _MOST_COLUMNS, total=each.columns_total)
        out.add_row(
            _asset(each.dataset, gone=each.gone),
            columns or "all",
            "" if each.last_written is None else moment_text(each.last_written),
            _joined(owner.name for owner in each.owners) or "",
        )
    return out


def _writers(reads: Sequence[ConsumedDataset]) -> Table:
    out = plain_table("dataset", "job", "seen", "owners")
    for each in reads:
        for use in each.writers:
            owners = _joined(owner.name for owner in use.owners) or ""
            out.add_row(asset_text(each.dataset), asset_text(use.job), _seen(use), owners)
    return out


def _meaning(
    description: str | None,
    owners: Sequence[OwnerName],
    tags: Sequence[AssetTag],
    classification: str | None,
    criticality: str | None,
) -> Rows:
    return [
        ("description", _text(description)),
        ("owners", _joined(f"{owner.name}{f' ({owner.type})' if owner.type else ''}" for owner in owners)),
        ("tags", _tags(tags)),
        ("classification", _text(classification)),
        ("criticality", _text(criticality)),
    ]


def _other_names(names: Sequence[str]) -> Rows:
    return [("known as", _lines(names))]


def _columns(columns: Sequence[KnownColumn]) -> Table:
    out = plain_table("column", "type", "schema", "tags", "description")
    for column in columns:
        cells = (shortened(column.name), _type(column), _history(column), _tags(column.tags) or "")
        out.add_row(*cells, shortened(column.description or ""), style=None if column.current else "dim")
    return out


def _type(column: KnownColumn) -> str:
    words = (column.type, "not null" if column.nullable is False else None)
    return " ".join(shortened(word) for word in words if word)


def _history(column: KnownColumn) -> str:
    """Format the time since which the schema has the column, or the past span in which it had the column."""
    if column.current or column.last_seen is not None:
        return span_text(column.first_seen, column.last_seen)
    return "in none"


def _jobs(uses: Sequence[JobUse]) -> Table:
    out = plain_table("job", "seen", "owners")
    for use in uses:
        seen = _seen(use)
        out.add_row(asset_text(use.job), seen, _joined(owner.name for owner in use.owners) or "")
    return out


def _datasets(uses: Sequence[JobDataset]) -> Table:
    out = plain_table("dataset", "seen")
    for use in uses:
        name = asset_text(use.dataset)
        out.add_row(name.append(" (gone)") if use.gone else name, _seen(use), style="dim" if use.gone else None)
    return out


def _seen(use: JobUse | JobDataset) -> str:
    words = [span_text(use.first_seen, use.last_seen)] if use.observed else []
    return ", ".join([*words, *(["declared"] if use.declared else [])])


def _queries(found: JobDetails) -> Table:
    out = plain_table("query", "name", "batches", "seen", "checkpoint")
    for query in found.queries:
        batches = "" if query.last_batch is None else f"{query.first_batch}..{query.last_batch + 1}"
        seen, checkpoint = span_text(query.first_seen, query.last_seen), query.checkpoint_location or ""
        out.add_row(
            shortened(query.query_id), shortened(query.name or ""), batches, seen, shortened(checkpoint, LONGEST_PATH)
        )
    return out


def _hops(found: Lineage) -> Table:
    out = plain_table("", "asset", "by", "what it does")
    for item in found.items:
        for via in item.via or (None,):
            word = "" if item.influence is None else item.influence.value
            texts = [] if via is None else [transformation_text(each) for each in via.transformations[:3]]
            job = "" if via is None else shortened(via.job.name)
            out.add_row(word, _asset(item.asset, gone=item.gone), job, "; ".join(texts))
    return out


def _asset(asset: Asset, *, gone: bool) -> Text:
    text = asset_text(asset)
    return text.append(" (gone)") if gone else text


def _completeness(plan: KnownPlan) -> str:
    if plan.complete is None:
        return "maybe incomplete"
    return "complete" if plan.complete else f"incomplete ({shortened(plan.incomplete_reason or 'no reason is known')})"


def _tags(tags: Iterable[AssetTag]) -> str | None:
    return _joined(f"{tag.key}{f'={tag.value}' if tag.value else ''}" for tag in tags)


def _joined(texts: Iterable[str]) -> str | None:
    return shortened(", ".join(texts), _LONGEST) or None


def _lines(texts: Iterable[str]) -> str | None:
    return "\n".join(shortened(text, LONGEST_PATH) for text in texts) or None


def _text(text: str | None) -> str | None:
    return None if text is None else shortened(text, _LONGEST)
