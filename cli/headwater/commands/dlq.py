"""`headwater dlq`: dead letters."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from headwater.confirming import YesOption, confirm, require_stopped
from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table, shortened
from headwater.decoding import event_decoder
from headwater.errors import CheckFailedError, InputError, SubjectNotFoundError
from headwater.kafka_errors import asking_kafka
from headwater.lean_imports import without
from headwater.settings import Settings, connected_settings
from headwater.times import time_if_given
from headwater_consumers.materializer.dead_letters.acknowledging import acknowledge, acknowledged
from headwater_consumers.materializer.dead_letters.inspection import (
    Census,
    Content,
    LatestLetters,
    LetterFilter,
    content,
    document_content,
)
from headwater_consumers.materializer.dead_letters.letter import BRIDGE, StoredDeadLetter
from headwater_consumers.materializer.dead_letters.replay import replay as send_back
from headwater_consumers.materializer.dead_letters.skipping import NotNextError
from headwater_consumers.materializer.dead_letters.skipping import skip as set_aside
from headwater_consumers.materializer.dead_letters.topic import letters
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.visible import json_escaped, visible

with without("numpy", "pandas"):
    from headwater_analysis.runs.run_names import MOST_CANDIDATES, id_prefixes


app = typer.Typer(help="Dead letters: records that can't be applied.", no_args_is_help=True)
app.callback()(lambda: None)

_PLACE = re.compile(r"(?:(\d{1,9})@)?(\d{1,18})")

ReasonOption = Annotated[
    list[DeadLetterReason] | None,
    typer.Option("--reason", help="Only letters with this reason; may be repeated.", case_sensitive=False),
]
JobOption = Annotated[str | None, typer.Option("--job", help="Only letters whose key names this job or dataset.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only letters of this time or later: 1h (ago), yesterday.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only letters published before this time.")
]


@dataclass(frozen=True, slots=True)
class _Topics:
    client: dict[str, Any]
    events: str
    dead_letters: str


@app.command("list")
def list_(
    reason: ReasonOption = None,
    job: JobOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    json_output: JsonOption = False,
) -> None:
    """Count dead letters by reason and job, with the oldest and the newest of each."""
    choice = _choice(reason, job, since, until)
    with _kafka() as (topics, settings):
        found = _selected(topics, settings, choice)
    console.result(census_document(found.census), census_view(found.census))


@app.command()
def show(
    place: Annotated[
        str,
        typer.Argument(
            help="The letter's PARTITION@OFFSET on the dead-letter topic; or the event's id, or its beginning."
        ),
    ],
    json_output: JsonOption = False,
) -> None:
    """Show one dead letter, decoded as far as possible; text that looks like a secret is left out."""
    with _kafka() as (topics, settings):
        letter = _find(topics, place)
        with event_decoder(settings) as decoder:
            value, longest = letter.record.value, settings.openlineage.document_max_bytes
            read = document_content(value, max_bytes=longest) if letter.by == BRIDGE else content(value, decoder)
            document = letter_document(letter, read)
    console.result(document, letter_view(document))


@app.command()
def replay(
    reason: ReasonOption = None,
    job: JobOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    all_: Annotated[bool, typer.Option("--all", help="All letters, whatever their reason, job and time.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be sent, and send nothing.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Send dead letters back to their topic, once a new release or schema can process them.

    Choose letters by --reason, --job, --since or --until, or give --all. They go to the events topic, or to the topic
    from which `consume --openlineage-topic` read them. If a record has several letters, the last one is sent, with key,
    value and headers of the original record. Replaying twice is harmless: the graph is the same. A sent letter counts
    as acknowledged once all letters before it on the topic are, too. Exit status 5: some letters weren't sent, because
    the topic refuses them as too large, or because they don't have the bytes of the record.
    """
    choice = _choice(reason, job, since, until)
    if all_ == (choice != LetterFilter()) and not (dry_run and not all_):
        raise InputError(
            "--all and a choice of letters exclude each other." if all_ else "No letters are chosen.",
            fix="Choose by --reason, --job, --since or --until, or give --all.",
        )
    with _kafka() as (topics, settings), console.progress() as progress:
        found = _selected(topics, settings, choice)
        task = progress.add_task("Replaying", total=found.census.letters)
        if dry_run:
            sent, refused = 0, {}
        else:
            # The topic is read again: all letters together may be too large for the memory.
            chosen = (letter for letter in letters(topics.client, topics.dead_letters) if found.includes(letter))
            report = send_back(topics.client, topics.events, chosen, sent=lambda: progress.advance(task))
            sent, refused = report.sent, report.refused
            _acknowledge_sent(topics, settings, found, refused)
    document = census_document(found.census) | {"dry_run": dry_run, "sent": sent, "refused": refused}
    console.result(document, census_view(found.census))
    if not console.json_mode:
        console.message("Nothing was sent (--dry-run)." if dry_run else f"{sent:,} sent back.")
    if refused:
        place, error = next(iter(refused.items()))
        raise CheckFailedError(
            f"{len(refused)} letters weren't sent, the one at {place} because of: {error}.",
            fix=f"Raise max.message.bytes of {topics.events}, or of the topic that the letter came from. The event "
            "of a letter without bytes has to be emitted again.",
        )


@app.command("acknowledge")
def acknowledge_all(
    yes: YesOption = False,
    json_output: JsonOption = False,
) -> None:
    """Mark all current dead letters as acknowledged: the alert on them ends.

    They stay on their topic, where `dlq list`, `show` and `replay` find them; `graph verify` needs them. Later letters
    cause the alert again.
    """
    with _kafka() as (topics, settings):
        found = _selected(topics, settings, LetterFilter())
        waiting = found.census.waiting
        if waiting:
            console.message(", ".join(f"{name} {count:,}" for name, count in found.census.by_reason.items()))
            confirm(f"Acknowledge {waiting:,} dead letters of {topics.dead_letters}?", yes=yes)
        acknowledge(topics.client, group=settings.materializer.group, letters=found.acknowledged.everything())
    console.result({"topic": topics.dead_letters, "acknowledged": waiting}, f"{waiting:,} acknowledged.")


def _acknowledge_sent(topics: _Topics, settings: Settings, found: _Selected, refused: Iterable[str]) -> None:
    settled = found.settled - frozenset(refused)
    all_letters = letters(topics.client, topics.dead_letters)
    acknowledge(
        topics.client,
        group=settings.materializer.group,
        letters=found.acknowledged.through(all_letters, settled),
    )


@app.command()
def skip(
    topic: Annotated[str, typer.Argument(help="Topic on which the consumer is stuck.")],
    partition: Annotated[int, typer.Argument(help="Number of the partition.", min=0)],
    offset: Annotated[int, typer.Argument(help="Offset of the record; it must be the group's next one.", min=0)],
    json_output: JsonOption = False,
) -> None:
    """Skip one record at which the consumer is stuck, so that its partition goes on after the record.

    Stop the consumers first. The record becomes a dead letter with the reason SKIPPED, byte for byte; then the offset
    after the record is committed for the group. Exit status 2: the group has consumers, or its next record is another.
    """
    with _kafka() as (topics, settings):
        group = settings.materializer.group
        require_stopped(topics.client, group)
        where = f"{topic}[{partition}]@{offset}"
        try:
            record = set_aside(
                topics.client,
                group=group,
                dead_letters=topics.dead_letters,
                topic=topic,
                number=partition,
                offset=offset,
            )
        except NotNextError as error:
            place = "has no such partition" if error.next_offset is None else f"goes on at {error.next_offset}"
            raise InputError(
                f"{where} isn't the next record of group {group}: it {place}.",
                fix="The log of `headwater consume` names the record at which the consumer is stuck.",
            ) from error
    size = None if record.value is None else len(record.value)
    console.result({"topic": topic, "partition": partition, "offset": offset, "bytes": size, "group": group})
    console.message(f"{where} is a dead letter of {topics.dead_letters} now, and group {group} goes on after it.")


class _Selected:
    """Letters that match a filter and are the latest of their record: their locations and census."""

    def __init__(self, topics: _Topics, settings: Settings, choice: LetterFilter) -> None:
        # Acknowledged offsets are read before the letters: a letter that arrives in between isn't acknowledged unread.
        self.acknowledged = acknowledged(
            topics.client, group=settings.materializer.group, dead_letters=topics.dead_letters
        )
        latest = LatestLetters(letters(topics.client, topics.dead_letters))
        self.census = Census()
        self._selected: set[str] = set()
        self._overtaken: set[str] = set()
        for letter in letters(topics.client, topics.dead_letters):
            is_chosen = choice.takes(letter)
            if not latest.stands(letter):
                self._overtaken.add(letter.where)
                self.census.overtaken += is_chosen
            elif is_chosen:
                self.census.add(letter)
                self.census.acknowledged += self.acknowledged.covers(letter)
                self._selected.add(letter.where)

    def includes(self, letter: StoredDeadLetter) -> bool:
        """Return True if the letter was selected; False for letters that arrived after the selection."""
        return letter.where in self._selected

    @property
    def settled(self) -> frozenset[str]:
        """Locations of letters that need no attention once the selected ones are sent."""
        return frozenset(self._selected | self._overtaken)


def _selected(topics: _Topics, settings: Settings, choice: LetterFilter) -> _Selected:
    with console.status(f"Reading {topics.dead_letters}"):
        return _Selected(topics, settings, choice)


def _find(topics: _Topics, place: str) -> StoredDeadLetter:
    """Return the letter at a location or with an event id, as `letter_named` finds it.

    Raises:
        SubjectNotFoundError: there is no such letter.
        InputError: several events have ids with this beginning.
    """
    letter = letter_named(place, letters(topics.client, topics.dead_letters))
    if letter is None:
        raise SubjectNotFoundError(
            f"{topics.dead_letters} has no letter {place!r}.", fix="`headwater dlq list` shows where there are any."
        )
    return letter


def letter_named(place: str, among: Iterable[StoredDeadLetter]) -> StoredDeadLetter | None:
    """Find the letter at a location; else the last letter of an event, by its id or a unique beginning of the id.

    Raises:
        InputError: several events have ids with this beginning.
    """
    named = _PLACE.fullmatch(place)
    where = None if named is None else f"{named[1] or 0}@{named[2]}"
    prefixes = tuple(id_prefixes(place))
    at_place: StoredDeadLetter | None = None
    of_event: StoredDeadLetter | None = None
    begun: dict[str, StoredDeadLetter] = {}
    for letter in among:
        if letter.where == where:
            at_place = letter
        if letter.event_id == place:
            of_event = letter
        elif letter.event_id.startswith(prefixes) and (letter.event_id in begun or len(begun) < MOST_CANDIDATES):
            begun[letter.event_id] = letter
    exact = at_place or of_event
    if exact is None and len(begun) > 1:
        raise InputError(
            f"Several events have ids that begin with {shortened(place)!r}.",
            fix="Give more of one of these:",
            nearest=sorted(begun),
        )
    return exact or next(iter(begun.values()), None)


def _choice(
    reasons: list[DeadLetterReason] | None, job: str | None, since: str | None, until: str | None
) -> LetterFilter:
    return LetterFilter(
        frozenset(reason.value for reason in reasons or ()),
        job,
        time_if_given(since),
        time_if_given(until),
    )


@contextlib.contextmanager
def _kafka() -> Iterator[tuple[_Topics, Settings]]:
    """Topics and settings; errors of Kafka within the block end the command."""
    settings = connected_settings(kafka=True)
    names = settings.topic.names()
    with asking_kafka(settings.kafka, doing=f"reading {names.dead_letters}"):
        yield _Topics(client_config(settings.kafka), names.events, names.dead_letters), settings


def census_document(found: Census) -> dict[str, Any]:
    """Document of `dlq list --json`."""
    return {
        "letters": found.letters,
        "waiting": found.waiting,
        "acknowledged": found.acknowledged,
        "overtaken": found.overtaken,
        "by_reason": found.by_reason,
        "groups": [
            {
                "reason": group.reason,
                "job": group.job,
                "letters": group.letters,
                "bytes": group.bytes,
                "oldest": _iso(group.oldest),
                "newest": _iso(group.newest),
                "sample": group.sample,
            }
            for group in found.groups
        ],
    }


def census_view(found: Census) -> RenderableType:
    """Table with a row for each reason and job."""
    if not found.groups:
        return "No dead letters."
    table = plain_table("reason", "job", "letters", "oldest", "newest", "look at one", numbers=("letters",))
    for group in found.groups:
        table.add_row(
            visible(group.reason),
            visible(group.job or "—"),
            f"{group.letters:,}",
            _time(group.oldest),
            _time(group.newest),
            f"dlq show {group.sample}",
        )
    notes = [f"{found.waiting:,} of {found.letters:,} wait; {found.acknowledged:,} are acknowledged or replayed."]
    if found.overtaken:
        notes.append(f"{found.overtaken:,} more are earlier letters of records that were sent again or replayed.")
    return Group(table, "", *notes)


def letter_document(letter: StoredDeadLetter, content: Content) -> dict[str, Any]:
    """Document of `dlq show --json`."""
    return {
        "at": letter.where,
        "source": None if letter.source is None else str(letter.source),
        "published": _iso(letter.time),
        "job": letter.job,
        "reason": letter.reason,
        "stage": letter.stage,
        "error": letter.error,
        "message": letter.message,
        "event_id": letter.event_id or None,
        "attempt": letter.attempt,
        "replayed_from": letter.replayed_from,
        "left_out_bytes": letter.left_out,
        "headers": {name: None if value is None else _text(value) for name, value in letter.original_headers},
        "value": {
            "bytes": content.bytes,
            "starts": content.starts,
            "problem_now": content.problem,
            "fields": content.fields,
        },
    }


def letter_view(document: dict[str, Any]) -> RenderableType:
    """View of a letter's document: the letter, then its content."""
    value = document["value"]
    table = plain_table()
    for name in ("at", "source", "published", "job", "reason", "stage", "error", "message", "event_id", "attempt"):
        table.add_row(name.replace("_", " "), visible(str(document[name] if document[name] is not None else "—")))
    for name, text in document["headers"].items():
        table.add_row(f"header {visible(name)}", visible(str(text)))
    if document["left_out_bytes"] is not None:
        table.add_row("left out", f"{document['left_out_bytes']} bytes")
    table.add_row("value", f"{value['bytes']:,} bytes, begins with {value['starts'] or 'nothing'}")
    table.add_row("problem now", visible(value["problem_now"] or "none: this release can apply it, so replay it"))
    if value["fields"] is None:
        return table
    return Group(table, "", json_escaped(json.dumps(value["fields"], indent=2, default=str, ensure_ascii=False)))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(time: datetime | None) -> str:
    return "—" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"
