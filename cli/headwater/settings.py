"""All settings of Headwater, each with its source.

A setting `section.field` can be set in three ways; a later one wins:

    a file         [kafka]                               the file that HEADWATER_CONFIG names, else ./headwater.toml
                   bootstrap_servers = "broker:9092"
    environment    HEADWATER_KAFKA_BOOTSTRAP_SERVERS=broker:9092
    a flag         --group materializer-2                if the command has such a flag

A table, `kafka.client_properties`, is JSON in the environment:
`HEADWATER_KAFKA_CLIENT_PROPERTIES={"client.rack": "a"}`.

The file wins over a running embedded stack, and the stack wins over the defaults. The stack's addresses and password
are used together or not at all: a setting for another broker, or another database, hides the stack's entry. Addresses
have no other defaults: `localhost:9092` may be somebody else's.

To add a section: a frozen pydantic model next to the code it configures (names carry their unit, secrets are
`SecretStr`, the section's name has no underscore), one line in `Settings`, and the variables' names in
`headwater_schemas.variables`. The other packages get these models, or plain values, as arguments; they don't read the
environment.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, PrivateAttr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from headwater.connection import Neo4jSettings, TopicSettings, require_servers
from headwater.console import console
from headwater.errors import InputError
from headwater.logs import LogSettings
from headwater_analysis.settings import AnalysisSettings
from headwater_audit.settings import AuditSettings
from headwater_consumers.forward.settings import ForwardSettings
from headwater_consumers.materializer.settings import MaterializerSettings
from headwater_openlineage.intake.settings import IntakeSettings
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.registry import RegistrySettings
from headwater_server.settings import ServeSettings

ENV_PREFIX = "HEADWATER_"
DEFAULT_FILE = "headwater.toml"

# Variables that other code reads, before or outside of Settings, with their meaning.
OTHER_VARIABLES: dict[str, str] = {
    "HEADWATER_CONFIG": "the settings file; default: headwater.toml in the working directory",
    "HEADWATER_COMMAND": "how the program was called, for the commands it prints; set by bin/headwater",
    "HEADWATER_URL": "address of the `headwater serve` that is asked in place of a database",
    "HEADWATER_TOKEN": "credential for HEADWATER_URL; default: that of `headwater login`",
    "HEADWATER_CACHE_DIR": "downloaded jars; default: the user's cache folder",
    "HEADWATER_DATA_DIR": "the embedded stack's data; default: the user's data folder",
    "HEADWATER_TEST_STACK": "tests only: embedded (default) or containers",
}

Layer: TypeAlias = dict[str, dict[str, Any]]


class Settings(BaseSettings):
    """All sections. Get one from `load_settings`; the constructor reads neither environment nor file."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kafka: KafkaSettings = KafkaSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    topic: TopicSettings = TopicSettings()
    registry: RegistrySettings = RegistrySettings()
    materializer: MaterializerSettings = MaterializerSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    serve: ServeSettings = ServeSettings()
    forward: ForwardSettings = ForwardSettings()
    openlineage: IntakeSettings = IntakeSettings()
    audit: AuditSettings = AuditSettings()
    log: LogSettings = LogSettings()

    _origin: dict[str, str] = PrivateAttr(default_factory=dict)

    def origin(self, setting: str) -> str:
        """Source of a setting's value: "the running stack", a file, "the environment" … or "the defaults"."""
        return self._origin.get(setting, "the defaults")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  pydantic-settings calls by keyword
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003  pydantic-settings calls by keyword
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  pydantic-settings calls by keyword
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  pydantic-settings calls by keyword
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use only the values passed to the constructor: `load_settings` layers the sources itself."""
        return (init_settings,)


def load_settings(flags: Mapping[str, Any] | None = None, *, running: Layer | None = None) -> Settings:
    """Layer defaults, running stack, file, environment and flags.

    Args:
        flags: Values by dotted name (`kafka.bootstrap_servers`); `None` for flags that were not given.
        running: Sections of the running embedded stack (`running_stack()`); None: no stack is used.

    Raises:
        InputError: An unknown or ill-formed setting, or a settings file that can't be read.
    """
    reject_unknown_variables(os.environ)
    chosen = [
        ("the environment", _environment_layer()),
        ("the command line", _flag_layer(flags or {})),
    ]
    if (path := _settings_file()) is not None:
        chosen.insert(0, (str(path), _file_layer(path)))
    layers = [("the running stack", _unless_replaced(running or {}, [layer for _, layer in chosen])), *chosen]

    merged: Layer = {}
    origin: dict[str, str] = {}
    for name, layer in layers:
        for section, values in layer.items():
            merged.setdefault(section, {}).update(values)
            origin.update(dict.fromkeys((f"{section}.{field}" for field in values), name))
    try:
        settings = Settings(**merged)  # type: ignore[arg-type]  # sections as dicts; pydantic makes them models
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        setting = ".".join(str(part) for part in first["loc"][:2])
        source = origin.get(setting, "the defaults")
        raise InputError(f"Setting {setting} ({environment_name(setting)}), from {source}: {first['msg']}.") from None
    settings._origin.update(origin)  # noqa: SLF001  our own
    return settings


def connected_settings(
    flags: Mapping[str, Any] | None = None, *, kafka: bool = False, neo4j: bool = False, silently: bool = False
) -> Settings:
    """Settings of a command that connects; reports the servers on stderr.

    Raises:
        NotConfiguredError: A needed server isn't configured.
        InputError: See `load_settings`.
    """
    settings = load_settings(flags, running=running_stack())
    parts: dict[str, str] = {}
    if kafka:
        parts["Kafka"] = f"{require_servers(settings.kafka)} ({settings.origin('kafka.bootstrap_servers')})"
    if neo4j:
        uri, database = settings.neo4j.require_uri(), settings.neo4j.database
        parts["Neo4j"] = f"{uri} ({settings.origin('neo4j.uri')}), database {database}"
    if not silently:
        console.using(parts)
    return settings


def running_stack() -> Layer | None:
    """Settings of the running stack of this data folder; None if no stack runs. Needs no installed extra."""
    from headwater.stack.state import find_running_stack

    running = find_running_stack()
    return running.settings() if running else None


def setting_names() -> list[str]:
    """Every setting as `section.field`, in the order of declaration."""
    return [
        f"{section}.{field}"
        for section, info in Settings.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
        for field in info.annotation.model_fields
    ]


def environment_name(setting: str) -> str:
    """`kafka.bootstrap_servers` ⇒ `HEADWATER_KAFKA_BOOTSTRAP_SERVERS`."""
    return ENV_PREFIX + setting.replace(".", "_").upper()


def _settings_file() -> Path | None:
    named = os.environ.get("HEADWATER_CONFIG")
    if named:
        return Path(named)
    default = Path(DEFAULT_FILE)
    return default if default.is_file() else None


def _file_layer(path: Path) -> Layer:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Settings file {path} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"Settings file {path} is not TOML: {error}.") from error
    known = setting_names()
    for section, values in content.items():
        if not isinstance(values, dict):
            raise _unknown(f"{section} in {path}", section, known, "settings stand in a section, such as [kafka]")
        for field in values:
            if f"{section}.{field}" not in known:
                raise _unknown(f"{section}.{field} in {path}", f"{section}.{field}", known)
    return content


def _environment_layer() -> Layer:
    source = EnvSettingsSource(
        Settings, env_prefix=ENV_PREFIX, env_nested_delimiter="_", env_nested_max_split=1, env_ignore_empty=True
    )
    try:
        return source()
    except SettingsError as error:
        # A table, which a variable holds as JSON. The value is never shown, since it may be a secret.
        wrong = getattr(error.__cause__, "doc", None)
        known = map(environment_name, setting_names())
        variable = next((name for name in known if os.environ.get(name) == wrong), "One of HEADWATER_…")
        raise InputError(
            f"Setting {variable}, from the environment: not JSON.", fix='Write it like {"client.rack": "a"}.'
        ) from None


def _flag_layer(flags: Mapping[str, Any]) -> Layer:
    layer: Layer = {}
    for setting, value in flags.items():
        if value is not None:
            section, field = setting.split(".", 1)
            layer.setdefault(section, {})[field] = value
    return layer


def _unless_replaced(running: Layer, chosen: Iterable[Layer]) -> Layer:
    # The stack's password must never be sent to another database.
    address = {"kafka": "bootstrap_servers", "neo4j": "uri"}
    replaced = {section for layer in chosen for section in layer if address.get(section) in layer[section]}
    return {section: values for section, values in running.items() if section not in replaced}


def reject_unknown_variables(environment: Mapping[str, str]) -> None:
    """Refuse environment variables `HEADWATER_…` with unknown names, which are probably misspelt.

    Raises:
        InputError: A name is unknown. The error has the nearest known name.
    """
    known = [*map(environment_name, setting_names()), *OTHER_VARIABLES]
    strange = sorted(name for name in environment if name.startswith(ENV_PREFIX) and name not in known)
    if strange:
        known += sorted(_capture_variables())
    for variable in strange:
        if variable not in known:
            raise _unknown(f"{variable} in the environment", variable, known)


def _capture_variables() -> frozenset[str]:
    # Imported only for an unknown variable: otherwise it would cost every command half a second.
    from headwater_producers.spark.common.settings import environment_names

    return environment_names()


def _unknown(what: str, name: str, known: list[str], hint: str = "") -> InputError:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    fix = f"The nearest known one is {nearest[0]}." if nearest else ""
    return InputError(f"Unknown setting {what}{': ' + hint if hint else ''}.", fix=fix)
