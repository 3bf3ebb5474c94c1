"""Channels of owners and consumers with the addresses of their messages, read from a TOML file.

    link = "https://headwater.example/#/incident/{incident}"
    [channels]
    "#flights-on-call" = "slack://${SLACK_TOKEN}/#flights"
    "team:flights"     = ["mailto://…", "json://…"]
    [defaults]
    everybody = "msteams://…"                       # recipients without a channel of their own
    operators = ["alertmanager://127.0.0.1:9093"]   # messages about every incident

An address is a secret: it never appears in a message, output, log or event. `${NAME}` is a variable of the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationInfo

from headwater.console import shortened
from headwater.errors import InputError
from headwater.incident.sending import is_address
from headwater.lean_imports import without
from headwater_schemas.incident_rules import MOST_CHARACTERS

with without("numpy", "pandas"):
    from headwater_analysis.errors import QuestionError
    from headwater_analysis.incidents.recipients import OPERATORS, Recipient
    from headwater_analysis.toml_files import TomlFile

EVERYBODY: Final = "defaults.everybody"
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class NamedChannel:
    """A channel.

    Attributes:
        name: name of the channel in the file.
        addresses: addresses of the channel; each gets every message.
    """

    name: str
    addresses: tuple[SecretStr, ...]


def _address(value: Any, info: ValidationInfo) -> SecretStr:
    if not isinstance(value, str):
        raise ValueError("not a text")  # noqa: TRY004  pydantic reports it with its place
    environment: Mapping[str, str] = info.context or {}
    for variable in _VARIABLE.findall(value):
        if not environment.get(variable):
            raise ValueError(f"the environment has no {variable}")
    address = _VARIABLE.sub(lambda found: environment[found[1]], value)
    if not is_address(address):
        raise ValueError(
            "no address of a service: SERVICE://… as apprise has them, alertmanager:// or alertmanagers://"
        )
    return SecretStr(address)


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _link(text: str) -> str:
    if not text.startswith(("https://", "http://")) or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("no address of a page: https://…")
    if "{incident}" not in text:
        raise ValueError("{incident} is missing in it: the id of the incident goes there")
    return text


Addresses = Annotated[
    tuple[Annotated[SecretStr, BeforeValidator(_address)], ...], BeforeValidator(_listed), Field(min_length=1)
]
Name = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DefaultChannels(_Table):
    """`[defaults]` of the file.

    Attributes:
        everybody: addresses for recipients without a channel of their own.
        operators: addresses that get messages about every incident.
    """

    everybody: Addresses = ()
    operators: Addresses = ()


class Channels(_Table):
    """Content of the file.

    Attributes:
        link: URL of an incident's page, with `{incident}` for the id; None: messages have no link.
        channels: addresses by name of a channel, an owner or a consumer.
        defaults: addresses for other recipients, and for operators.
    """

    link: Annotated[str, AfterValidator(_link)] | None = None
    channels: dict[Name, Addresses] = Field(default_factory=dict)
    defaults: DefaultChannels = DefaultChannels()

    def channel_of(self, recipient: Recipient) -> NamedChannel | None:
        """Channel of a recipient; None: the file has no channel for the recipient.

        If a recipient's addresses are no longer known, the channel of the latest message to the recipient is used.
        """
        latest = () if recipient.latest is None else (recipient.latest.channel,)
        for name in recipient.addresses or latest:
            if name in self.channels:
                return NamedChannel(name, self.channels[name])
        return NamedChannel(EVERYBODY, self.defaults.everybody) if self.defaults.everybody else None

    @property
    def operators(self) -> NamedChannel | None:
        """Channel of the operators; None: the file has none."""
        return NamedChannel(OPERATORS, self.defaults.operators) if self.defaults.operators else None

    def page_of(self, incident: str) -> str | None:
        """URL of the page of an incident; None: the file declares none."""
        return None if self.link is None else self.link.replace("{incident}", quote(incident, safe=""))


_FILE: Final = TomlFile(Channels, "channels file", {"defaults": DefaultChannels})


def load_channels(path: Path, environment: Mapping[str, str] | None = None) -> Channels:
    """Read a channels file.

    Args:
        path: the file.
        environment: values of the variables in addresses; None: the environment of the process.

    Raises:
        InputError: the file can't be read, or its content isn't valid; with line and field, never with an address.
        ConfigurationError: apprise isn't installed.
    """
    try:
        return _FILE.load(path, os.environ if environment is None else environment)
    except QuestionError as error:
        raise InputError("\n".join(shortened(line, 600) for line in str(error).splitlines())) from None
