"""`headwater topic`: creates topics of a pipeline without Kafka's own scripts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from confluent_kafka.admin import AdminClient
from rich.table import Table

from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table
from headwater.errors import ConfigurationError, InputError
from headwater.kafka_errors import asking_kafka
from headwater.settings import connected_settings
from headwater_schemas.errors import TopicsUnusableError
from headwater_schemas.topics import BROKER_DEFAULT, TopicSpec, ensure_topics, is_legal_name

app = typer.Typer(help="Create topics of a pipeline without Kafka's own scripts.", no_args_is_help=True)
app.callback()(lambda: None)

_SECONDS: Final = 15.0


@app.command()
def create(
    names: Annotated[list[str], typer.Argument(help="Names of the topics.")],
    partitions: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Partitions of each topic. Default: the broker's.")
    ] = None,
    replication_factor: Annotated[
        int | None, typer.Option(min=1, max=32_767, help="Replicas of each partition. Default: the broker's.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Create missing topics on the Kafka of the settings. Existing topics stay unchanged.

    Headwater's own topics need no command: the first publisher creates them.
    """
    for name in names:
        if not is_legal_name(name):
            raise InputError(
                f"A topic can't be named {name!r}.",
                fix="Use ASCII letters, digits, '.', '_' and '-', 249 at most.",
            )
    settings = connected_settings(kafka=True)
    client = client_config(settings.kafka)
    created: set[str] = set()
    with asking_kafka(settings.kafka, doing=f"creating {names[0]}"):
        for name in dict.fromkeys(names):
            spec = TopicSpec(
                name, partitions or BROKER_DEFAULT, replication_factor=replication_factor or BROKER_DEFAULT
            )
            try:
                created.update(ensure_topics(client, [spec], timeout_seconds=_SECONDS).created)
            except TopicsUnusableError as error:
                raise _refusal(error, replication_factor) from error
        found = _partitions(client, list(dict.fromkeys(names)))
    console.result(
        [{"topic": name, "created": name in created, "partitions": count} for name, count in found.items()],
        _table(found, created),
    )
    for name, count in found.items():
        if name not in created and partitions not in (None, count):
            console.warning(f"{name} was there already, with {count} partitions instead of {partitions}.")


def _refusal(error: TopicsUnusableError, replication_factor: int | None) -> Exception:
    """Convert an error of the topics: to ConfigurationError if a setting of Kafka is wrong, else to InputError."""
    if error.setting.startswith("HEADWATER_KAFKA_"):
        return ConfigurationError(f"{error.message}.", fix=f"Check {error.setting}.")
    fix = "Try --replication-factor 1." if (replication_factor or 0) > 1 else ""
    return InputError(f"{error.message}.", fix=fix)


def _partitions(client: Mapping[str, Any], names: Sequence[str]) -> dict[str, int | None]:
    """Read the number of partitions of each topic; None if the broker doesn't report it."""
    admin = AdminClient({"log_level": 2, **client})
    deadline = time.monotonic() + _SECONDS
    while True:
        # All topics are listed, because a request for one by name may create it.
        topics = admin.list_topics(timeout=_SECONDS).topics
        found = {name: len(topics[name].partitions) or None if name in topics else None for name in names}
        if None not in found.values() or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def _table(found: Mapping[str, int | None], created: set[str]) -> Table:
    table = plain_table("topic", "partitions", "", numbers=("partitions",))
    for name, count in found.items():
        table.add_row(name, "?" if count is None else f"{count:,}", "created" if name in created else "was there")
    return table
