"""Sending of one message to one address by apprise; directly to an Alertmanager, which apprise doesn't support.

Addresses contain credentials. Libraries write addresses into logs and errors, so this module suppresses both.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from headwater.errors import ConfigurationError
from headwater.invocation import install_command
from headwater.lean_imports import without
from headwater_schemas.events import IncidentSeverity, NotificationChange

with without("numpy", "pandas"):
    from headwater_analysis.reader import within

SECONDS: Final = 30.0
"""Time limit of one message to one address."""
_ALERTMANAGER: Final = {"alertmanager": "http", "alertmanagers": "https"}
_PORT: Final = 9093
_FOREVER: Final = timedelta(days=3_650)
"""Duration sent for an open alert: without an end, Alertmanager would end the alert after minutes."""
_TALKATIVE: Final = ("apprise", "httpcore2", "httpx2", "requests", "requests_oauthlib", "urllib3")
"""Loggers whose records contain addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """A message: plain text, in which no name from outside forms a line or a link.

    Attributes:
        incident: id of the incident.
        severity: severity of the incident; None: not stated.
        recipient: name of the recipient.
        change: reason for the message.
        title: first line.
        lines: further lines.
        link: URL of the incident's page; None: none is declared.
    """

    incident: str
    severity: IncidentSeverity | None
    recipient: str
    change: NotificationChange
    title: str
    lines: tuple[str, ...]
    link: str | None


def is_address(address: str) -> bool:
    """Return whether messages can be sent to an address.

    Raises:
        ConfigurationError: apprise isn't installed.
    """
    if _is_alertmanager(address):
        try:
            url = urlsplit(address)
            return bool(url.hostname) and url.port != 0
        except ValueError:
            return False
    return _apprise().Apprise.instantiate(address) is not None


def send(address: str, message: ChannelMessage) -> str:
    """Send a message to an address that `is_address` accepts; return the reason of a failure, empty if accepted."""
    sender: Callable[[str, ChannelMessage], str] = _send_alert if _is_alertmanager(address) else _send_by_apprise
    try:
        return within(SECONDS, lambda: sender(address, message))
    except TimeoutError:
        return f"no answer within {SECONDS:g} s"
    except Exception as error:  # noqa: BLE001  services raise any error; its text may contain the address
        return type(error).__name__


def _is_alertmanager(address: str) -> bool:
    return address.partition("://")[0].lower() in _ALERTMANAGER


def _apprise() -> ModuleType:
    _silence()
    try:
        import apprise
    except ModuleNotFoundError:
        raise ConfigurationError(
            "Messages are sent by apprise, which isn't installed.", fix=f"Install it: {install_command('notify')}"
        ) from None
    return apprise


def _silence() -> None:
    """Drop all records of these loggers, including records of a message that continues after its time limit."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _send_by_apprise(address: str, message: ChannelMessage) -> str:
    apprise = _apprise()
    # An asset without storage keeps nothing on disk; without async_mode, messages are sent in this thread.
    asset = apprise.AppriseAsset(app_id="Headwater", app_desc="Headwater", async_mode=False)
    service = apprise.Apprise.instantiate(address, asset=asset)
    if service is None:
        return "no address of a service any more"
    services = apprise.Apprise(asset=asset)
    services.add(service)
    accepted = services.notify(
        title=message.title,
        body="\n".join(message.lines),
        body_format=apprise.NotifyFormat.TEXT,
        notify_type=_type(message),
    )
    return "" if accepted else "the service didn't accept it"


def _type(message: ChannelMessage) -> str:
    ended = message.change in (NotificationChange.CLEARED, NotificationChange.RESOLVED)
    return "success" if ended else "warning"


def _send_alert(address: str, message: ChannelMessage) -> str:
    _silence()
    url = urlsplit(address)
    scheme = _ALERTMANAGER[url.scheme.lower()]
    host = url.netloc if url.port is not None or scheme == "https" else f"{url.netloc}:{_PORT}"
    response = httpx2.post(
        f"{scheme}://{host}{url.path.rstrip('/')}/api/v2/alerts",
        json=alerts(message, datetime.now(UTC)),
        timeout=SECONDS,
        follow_redirects=False,
    )
    return "" if response.is_success else f"HTTP status {response.status_code}"


def alerts(message: ChannelMessage, now: datetime) -> list[dict[str, Any]]:
    """Build the alerts of a message, as `POST /api/v2/alerts` takes them.

    The labels identify an alert, and the severity is a label. So there is an alert for each severity, and the alerts of
    all other severities end.
    """
    is_over = message.change in (NotificationChange.CLEARED, NotificationChange.RESOLVED)
    severities = ["none", *(str(each) for each in IncidentSeverity if each is not IncidentSeverity.UNKNOWN)]
    current = "none" if message.severity is None else str(message.severity)
    common: dict[str, Any] = {
        "annotations": {"summary": message.title, "description": "\n".join(message.lines)},
        **({} if message.link is None else {"generatorURL": message.link}),
    }
    return [
        {
            **common,
            "labels": {
                "alertname": "HeadwaterIncident",
                "incident": message.incident,
                "recipient": message.recipient,
                "severity": severity,
            },
            # Alertmanager refuses an alert that doesn't start before its end.
            "startsAt": (now - timedelta(seconds=1)).isoformat(),
            "endsAt": (now if is_over or severity != current else now + _FOREVER).isoformat(),
        }
        for severity in severities
    ]
