"""`headwater audit`: verification and search of the records of who asked and who changed what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import CheckFailedError, InputError
from headwater.settings import Settings, load_settings, running_stack
from headwater.times import time_if_given
from headwater_analysis.amounts import amount
from headwater_audit.errors import AuditKeyError
from headwater_audit.file import PlacedLine, lines_of
from headwater_audit.searching import AuditQuery, Outcome, outcome_of, parameters_of
from headwater_audit.signing import load_signer, make_key, public_key
from headwater_audit.verifying import ChainHead, Verification, Verifier
from headwater_schemas.visible import visible

app = typer.Typer(help="Audit: verify and search the records of who asked and who changed what.", no_args_is_help=True)

FileOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        help="A file of records; its rotated files are read, too. Repeatable, the oldest first. "
        "Default: HEADWATER_AUDIT_FILE.",
    ),
]
TopicOption = Annotated[bool, typer.Option("--topic", help="Read the topic of the audit.")]


@app.command()
def key(
    file: Annotated[Path, typer.Argument(help="New file for the private key.")],
    json_output: JsonOption = False,
) -> None:
    """Make a key that signs heads, in a file that only its owner may read, and print its public key.

    Name the file in HEADWATER_AUDIT_KEY_FILE, and keep the public key where the audit is verified.
    """
    try:
        public = make_key(file)
    except AuditKeyError as error:
        raise InputError(str(error), fix="Name a new file in an existing folder.") from error
    console.result({"file": file, "public_key": public}, public)


@app.command()
def verify(
    file: FileOption = None,
    *,
    topic: TopicOption = False,
    public_keys: Annotated[
        list[str] | None,
        typer.Option(
            "--public-key",
            help="Public key that must have signed each head, or a file that has it. Repeatable. "
            "Default: the one of HEADWATER_AUDIT_KEY_FILE.",
        ),
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(
            help="Output of an earlier `audit verify --json`, kept elsewhere, to detect a chain whose end was cut off."
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Check that no record is missing, changed, moved or inserted. Exit status 5: at least one is.

    A chain without its last line isn't a fault: the chain's process still runs, or was killed.
    """
    settings = load_settings(running=running_stack())
    keys = _keys(settings, public_keys or [])
    verifier = Verifier(keys, _heads(heads))
    with console.status("Reading the audit"):
        for line in _lines(settings, file, topic=topic, truncated=verifier.truncated):
            verifier.see(line)
    found = verifier.result()
    document = asdict(found) | {"keys": sorted(keys), "sound": not found.found}
    console.result(document, _view(found, has_keys=bool(keys)))
    if found.found:
        raise CheckFailedError(
            f"The audit isn't as it was written: {amount(found.found, 'finding')}.",
            fix="Compare with a copy of the records, and with the log of the machine.",
        )


@app.command()
def search(
    file: FileOption = None,
    *,
    topic: TopicOption = False,
    subject: Annotated[str | None, typer.Option(help="Only records of this subject: `ci`, or `token:ci`.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only records of this time or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only records before this time.")] = None,
    operation: Annotated[
        str | None,
        typer.Option(help="Only records of this operation of the API, `asset_upstream`, or command, `dlq replay`."),
    ] = None,
    outcome: Annotated[
        Outcome | None, typer.Option(case_sensitive=False, help="Only records with this outcome.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Only records with this text in a parameter.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Print matching records, the oldest first. They aren't verified: `headwater audit verify` does that."""
    settings = load_settings(running=running_stack())
    query = AuditQuery(subject, time_if_given(since), time_if_given(until), operation, outcome, dataset)
    matching = query.matching(_lines(settings, file, topic=topic))
    if console.json_mode:
        # Printed record by record, because there may be millions.
        console.raw('{"records": [')
        for number, (_, record) in enumerate(matching):
            console.raw(f"{',' if number else ''}\n{json.dumps(record, sort_keys=True)}")
        console.raw("\n]}\n")
        return
    count = 0
    for _, record in matching:
        count += 1
        console.raw(f"{_row(record)}\n")
    console.message(f"{amount(count, 'record')}.")


def _row(record: dict[str, Any]) -> str:
    """A record on one line."""
    what = record.get("operation") or record.get("command") or record.get("route") or record.get("method")
    ended = outcome_of(record)
    number = record.get("status", record.get("exit", "without an answer"))
    parameters = [f"{name}={value}" for name, value in parameters_of(record)]
    results = record.get("results")
    parts = [
        record["time"],
        f"{record.get('source')}:{record.get('subject') or ''}".removesuffix(":"),
        record.get("address") or "—",
        what or "—",
        "begun" if ended is None else f"{ended} {number}",
        "" if not isinstance(results, int) else amount(results, "result"),
        shortened(" ".join(parameters), 400),
    ]
    return "  ".join(visible(str(part)) for part in parts if part != "")


def _lines(
    settings: Settings, files: list[Path] | None, *, topic: bool, truncated: Callable[[str], None] = lambda _: None
) -> Iterator[PlacedLine]:
    """Read the lines of the files or topic that the options name; without these options, of the configured audit.

    Raises:
        InputError: neither files nor a topic is named, both are, or a file can't be read.
        UnreachableError: Kafka doesn't answer.
    """
    if files and topic:
        raise InputError("Records are read from files or from the topic, not from both.", fix="Leave one out.")
    if topic or (not files and settings.audit.topic):
        yield from _of_topic(settings, truncated)
        return
    if files is None and settings.audit.file is not None:
        files = [settings.audit.file]
    if not files:
        raise InputError(
            "No audit is named.", fix="Name it with --file, --topic, HEADWATER_AUDIT_FILE or HEADWATER_AUDIT_TOPIC."
        )
    try:
        yield from lines_of(files)
    except OSError as error:
        raise InputError(f"{error.filename} can't be read: {error.strerror}.") from error


def _of_topic(settings: Settings, truncated: Callable[[str], None]) -> Iterator[PlacedLine]:
    from headwater.connection import client_config
    from headwater.kafka_errors import asking_kafka
    from headwater_consumers.kafka.offsets import OffsetReader
    from headwater_consumers.kafka.topic_reader import records_to_end
    from headwater_schemas.kafka.client import quiet

    name, client = settings.topic.names().audit, quiet(client_config(settings.kafka))
    with asking_kafka(settings.kafka, doing=f"reading {name}"):
        for bounds in OffsetReader(client, group="").bounds(name, timeout_seconds=10.0):
            if bounds.begin:
                truncated(f"{name}[{bounds.partition.number}]@{bounds.begin}")
        for record in records_to_end(client, name):
            place = f"{name}[{record.partition.number}]@{record.offset}"
            yield PlacedLine(f"topic {record.partition.number}", place, record.value or b"")


def _keys(settings: Settings, named: list[str]) -> list[str]:
    """Read the public keys that the options name; without these options, the configured key.

    Raises:
        InputError: a key can't be read, or isn't a public key.
    """
    try:
        if not named:
            return [] if settings.audit.key_file is None else [load_signer(settings.audit.key_file).public]
        return [public_key(Path(each).read_text(encoding="ascii") if Path(each).is_file() else each) for each in named]
    except (AuditKeyError, OSError, UnicodeDecodeError) as error:
        raise InputError(str(error), fix="`headwater audit key` makes a key and prints its public key.") from error


def _heads(path: Path | None) -> list[ChainHead]:
    if path is None:
        return []
    try:
        return msgspec.convert(json.loads(path.read_bytes())["heads"], list[ChainHead])
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, msgspec.ValidationError) as error:
        raise InputError(f"{path} isn't the output of `audit verify --json`.") from error


def _view(found: Verification, *, has_keys: bool) -> RenderableType:
    parts: list[RenderableType] = []
    if found.findings:
        rows = plain_table("place", "chain", "line", "fault", "")
        for each in found.findings:
            line = "" if each.sequence is None else f"{each.sequence}"
            rows.add_row(each.place, (each.chain or "")[:8], line, each.fault.value, each.detail)
        parts.append(rows)
        if found.found > len(found.findings):
            parts.append(Text(f"… and {found.found - len(found.findings):,} more."))
    if found.unclosed:
        rows = plain_table(
            "not closed, last line at", "chain", "line", "behind the last head", "changes without outcome"
        )
        for open_ in found.unclosed:
            rows.add_row(
                open_.place, open_.chain[:8], f"{open_.sequence}", f"{open_.uncovered:,}", f"{open_.intents:,}"
            )
        parts.append(rows)
        parts.append(Text("Their processes still run, or were killed."))
    parts += [Text(f"Unfinished line of a killed process at {place}.") for place in found.unfinished]
    if found.lost:
        parts.append(Text(f"Not written, as LOST lines state: {amount(found.lost, 'record')}."))
    signatures = (
        f"Checked with the given keys: {amount(found.heads_checked, 'head')}."
        if has_keys
        else "Heads weren't checked with a key: give one with --public-key."
    )
    verdict = amount(found.found, "finding") if found.found else "No findings"
    read = (amount(number, noun) for number, noun in ((found.lines, "line"), (found.chains, "chain")))
    parts.append(Text(f"{verdict} in {' of '.join(read)}, {amount(found.records, 'record')}. {signatures}"))
    return Group(*parts)
