"""Audit of commands: records of each run of a command in `command_list.CHANGES`.

An INTENT is durable before the command begins; an OUTCOME with the exit status follows. If the INTENT can't be written,
the command doesn't begin.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from headwater.command_list import CHANGES, OF_THE_STACK
from headwater.errors import ConfigurationError, ExitCode, HeadwaterError, UnreachableError

# Every command imports this module. So imports that only audited commands need are inside the functions.
if TYPE_CHECKING:
    from headwater.settings import Settings
    from headwater_audit.audit import Audit
    from headwater_audit.topic import AuditTopic


class AuditedCommand(TyperCommand):
    """Class of all commands. Commands that change something are recorded."""

    def invoke(self, ctx: Any) -> Any:
        """For Typer: run the command."""
        name = _name(ctx)
        if name not in CHANGES:
            return super().invoke(ctx)
        with _recorded(name, ctx.params):
            return super().invoke(ctx)


def opened_audit(settings: Settings, program: str) -> Audit | None:
    """Begin a chain of the configured audit; None if no audit is configured. The caller closes the audit's writer.

    Args:
        program: name of the command, for the first line of the chain.

    Raises:
        ConfigurationError: the key can't be used, or no client accepts the settings of Kafka.
        NotConfiguredError: the audit goes to a topic, and no Kafka is configured.
    """
    from importlib.metadata import version

    from headwater.invocation import install_command
    from headwater_audit.audit import opened
    from headwater_audit.errors import AuditKeyError

    process = {"program": f"headwater {program}", "version": version("headwater")}
    try:
        return opened(settings.audit, topic=lambda: _topic(settings), process=process)
    except AuditKeyError as error:
        raise ConfigurationError(str(error), fix="Check HEADWATER_AUDIT_KEY_FILE.") from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        raise ConfigurationError(
            "The key of the audit needs the Python package 'cryptography', which is not installed.",
            fix=f"Install it: {install_command('audit')}",
        ) from error


def _topic(settings: Settings) -> AuditTopic:
    from headwater.connection import client_config
    from headwater_audit.topic import AuditTopic

    return AuditTopic(
        client_config(settings.kafka), settings.topic.audit(), delivery_seconds=settings.audit.timeout_seconds
    )


def _name(ctx: Any) -> str:
    """Name of a command, as on the command line: `dlq replay`."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(words)


@contextlib.contextmanager
def _recorded(name: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Record a run of a command, if an audit is configured.

    Raises:
        UnreachableError: the intent can't be written, and the audit is required.
    """
    from headwater.settings import load_settings, running_stack

    settings = load_settings(running=None if name in OF_THE_STACK else running_stack())
    no_topic = name in OF_THE_STACK and settings.audit.topic and settings.kafka.bootstrap_servers is None
    audit = None if no_topic else opened_audit(settings, name)
    if audit is None:
        yield
        return
    from headwater.console import console
    from headwater_audit.errors import AuditUnwritableError
    from headwater_audit.record import Kind

    with contextlib.closing(audit.writer):
        run = _Run(name, options, options.get("tenant") or settings.analysis.tenant)
        try:
            audit.writer.write(run.record(Kind.INTENT))
        except AuditUnwritableError as error:
            if audit.required:
                raise UnreachableError(
                    f"`headwater {name}` must be recorded before it begins, but {error}. Nothing was changed.",
                    fix="Check the section `audit` of the settings; "
                    "with HEADWATER_AUDIT_REQUIRED=false, the command runs without a record.",
                ) from error
            console.warning(f"This run isn't recorded: {error}.")
        status: int = ExitCode.UNEXPECTED
        try:
            yield
            status = ExitCode.DONE
        except BaseException as error:
            status = _status(error)
            raise
        finally:
            try:
                audit.writer.write(run.record(Kind.OUTCOME, exit=int(status)))
            except AuditUnwritableError as error:
                console.warning(f"The outcome of this run isn't recorded: {error}.")


class _Run:
    """A run of a command."""

    def __init__(self, name: str, options: Mapping[str, Any], tenant: str) -> None:
        import os
        import pwd
        import socket
        import time

        from headwater_audit.audit import request_id
        from headwater_audit.record import filters_of

        try:
            user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            user = str(os.getuid())
        filters, left_out = filters_of(_given(options))
        self._clock, self._began = time.monotonic, time.monotonic()
        self._members: dict[str, Any] = {
            "request": request_id(),
            "source": "command",
            "subject": user,
            "tenant": tenant,
            "address": socket.gethostname(),
            "command": name,
            "filters": filters,
            "left_out": left_out,
        }

    def record(self, kind: Any, **members: Any) -> Any:
        """Build a record of the run."""
        from datetime import UTC, datetime

        from headwater_audit.record import AuditRecord, Kind

        took = None if kind is Kind.INTENT else (self._clock() - self._began) * 1000
        return AuditRecord(kind, datetime.now(UTC), **self._members, milliseconds=took, **members)


def _given(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of each option of the command; one pair per value of a list."""
    for name, value in options.items():
        for each in value if isinstance(value, list | tuple) else (value,):
            if each is not None and each is not False and name != "json_output":
                yield name, str(each)


def _status(error: BaseException) -> int:
    """Exit status of a command that ends with this exception."""
    if isinstance(error, HeadwaterError):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    code = getattr(error, "exit_code", getattr(error, "code", None))  # of Typer's exceptions, and of SystemExit
    return code if isinstance(code, int) else ExitCode.UNEXPECTED
