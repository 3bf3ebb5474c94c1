"""The `headwater` program: start and end of a command's run.

Adding a command
    1. Write `headwater/commands/<name>.py` with either a function `command` (its parameters are the options, its
       docstring the help) or, for a group such as `graph dump`, a `typer.Typer` named `app`. A module of several
       commands has a function with the name of each.
    2. Add the command to `headwater.command_list.COMMANDS`, with its panel of `--help`. If the command changes
       something, also add it to `CHANGES`, so that the audit records it.

Only the module of the command being run is imported, so `headwater run` in a Spark driver never sees neo4j. Inside a
command: raise the errors of `headwater.errors`, print with `headwater.console.console`, clean up in `finally` or with a
context manager. Ctrl-C and SIGTERM both arrive as exceptions, so the clean-up runs then, too.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import metadata
from types import FrameType, ModuleType
from typing import Annotated, Any, TextIO

import typer
from rich.markup import escape
from typer.core import TyperGroup

from headwater.auditing import AuditedCommand
from headwater.command_list import BROUGHT, CHECKOUT_ONLY, COMMANDS, Command
from headwater.console import console
from headwater.errors import ConfigurationError, ExitCode, HeadwaterError
from headwater.invocation import install_command, program
from headwater.options import words_typed
from headwater.times import TIMES
from headwater_schemas.visible import visible_lines

_COMPLETION = ("--install-completion", "--show-completion")


_UsageError: Any = typer.BadParameter.__mro__[1]
"""Click's `UsageError`, which newer versions of Typer bundle under another name."""


@contextlib.contextmanager
def _usage_errors_visible() -> Iterator[None]:
    """Escape invisible characters in usage errors: Typer prints the unknown words exactly as the user typed them."""
    try:
        yield
    except _UsageError as error:
        error.message = visible_lines(error.message)
        raise


@contextlib.contextmanager
def _broken_pipes_reported() -> Iterator[None]:
    """Report broken connections as errors. Typer takes every broken pipe for a closed `| head`, and ends silently."""
    try:
        yield
    except BrokenPipeError as error:
        if any(map(_has_no_reader, (sys.stdout, sys.stderr))):
            raise
        raise ConnectionAbortedError("a connection is broken") from error


def _has_no_reader(stream: TextIO) -> bool:
    """Return True if a stream is a pipe whose reader has closed it."""
    with contextlib.suppress(OSError, ValueError):
        polling = select.poll()
        polling.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in polling.poll(0))
    return False


class Program(TyperGroup):
    """Group of all commands, which parses the command line."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - of Typer
        """For Typer: the commands in the order of `COMMANDS`; Typer itself would put groups last."""
        return [name for name in COMMANDS if name in self.commands]

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """For Typer: parse the program's own options."""
        with _usage_errors_visible():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """For Typer: parse the command's options, and run the command."""
        with _usage_errors_visible(), _broken_pipes_reported():
            return super().invoke(ctx)


class Terminated(SystemExit):
    """SIGTERM, raised in the main thread so that `finally` blocks run; ends with status 143."""

    def __init__(self) -> None:
        super().__init__(int(ExitCode.TERMINATED))


def _terminate(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            # Python drops exceptions raised in a finalizer, so the signal is repeated after the finalizer has run.
            signal.signal(signal.SIGALRM, _terminate)
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            return
        frame = frame.f_back
    raise Terminated


def build(arguments: Sequence[str]) -> typer.Typer:
    """Typer app for this command line: with only the named command, or with all commands if none is named."""
    app = typer.Typer(
        name="headwater",
        cls=Program,
        help="Lineage for Spark jobs: captured in PySpark, carried over Kafka, materialized into Neo4j.",
        epilog=f"TIME is {TIMES}.",
        no_args_is_help=True,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
    )
    # With a callback, Typer expects a command's name even if only one command is registered.
    app.callback()(_program)
    typed = words_typed(os.environ)
    named = next((word for word in (arguments if typed is None else typed) if not word.startswith("-")), "")
    if typed is not None:
        _register_for_completion(app, named)
    elif named in COMMANDS:
        module = _load(named)
        if not COMMANDS[named].own_answer:
            # Imported here, because the import takes half of the time of --help.
            from headwater.settings import reject_unknown_variables

            reject_unknown_variables(os.environ)
        _register(app, named, module)
    else:
        for name in COMMANDS:
            _list(app, name)
    return app


def _program(
    *,
    version: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version.")] = False,
) -> None:
    if version:
        console.raw(f"headwater {metadata.version('headwater')}\n")
        raise typer.Exit


def _load(name: str) -> ModuleType:
    command = COMMANDS[name]
    try:
        return importlib.import_module(command.module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == CHECKOUT_ONLY:
            raise ConfigurationError(
                f"`headwater {name}` measures a checkout and is no part of the installed package.",
                fix=f"In a checkout of Headwater: ./bin/headwater {name}",
            ) from error
        if not command.extra or (error.name or "").startswith("headwater"):
            raise
        raise _missing_extra(name, error) from error


def _register(app: typer.Typer, name: str, module: ModuleType) -> None:
    if hasattr(module, "app"):
        for info in module.app.registered_commands:
            info.cls = AuditedCommand
            info.help = info.help or _paragraphs(info.callback)
        app.add_typer(module.app, name=name, rich_help_panel=COMMANDS[name].panel)
    else:
        command = module.command if hasattr(module, "command") else getattr(module, name)
        app.command(
            name=name,
            cls=AuditedCommand,
            help=_paragraphs(command),
            context_settings=getattr(module, "CONTEXT", None),
            rich_help_panel=COMMANDS[name].panel,
        )(command)


def _paragraphs(command: object) -> str:
    """Convert a docstring to help: each paragraph as one line, which Typer wraps to the terminal."""
    text = inspect.getdoc(command) or ""
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in text.split("\n\n"))


def _register_for_completion(app: typer.Typer, named: str) -> None:
    """Complete a command's options, or the names of commands, without importing the commands."""
    with contextlib.suppress(ConfigurationError):
        if named in COMMANDS:
            _register(app, named, _load(named))
        else:
            for name in COMMANDS:
                app.command(name=name)(lambda: None)


def _list(app: typer.Typer, name: str) -> None:
    """Add the line of a command to `--help`, without importing the command."""
    command = COMMANDS[name]
    if _is_installed(command):
        about = command.about
    elif command.module.startswith(CHECKOUT_ONLY):
        about = f"Not installed. In a checkout of Headwater: ./bin/headwater {name}"
    else:
        about = f"Not installed. Install it: {install_command(command.extra)}"
    app.command(name=name, help=escape(about), rich_help_panel=command.panel)(lambda: None)


def _is_installed(command: Command) -> bool:
    """Return True if the modules that a command imports are installed, without importing them."""
    needed = [BROUGHT[extra] for extra in command.extra.split(",") if extra]
    needed += [CHECKOUT_ONLY] if command.module.startswith(CHECKOUT_ONLY) else []
    return all(importlib.util.find_spec(module) is not None for module in needed)


def _missing_extra(name: str, error: ModuleNotFoundError) -> ConfigurationError:
    return ConfigurationError(
        f"`headwater {name}` needs the Python package {error.name!r}, which is not installed.",
        fix=f"Install it: {install_command(COMMANDS[name].extra)}",
    )


def _unexpected() -> int:
    """Print the traceback of an unexpected error with control characters escaped; services write it to their log."""
    if console.log is not None:
        console.log.exception("Ended by an error that nobody foresaw. Please report it.")
        return ExitCode.UNEXPECTED
    from headwater_schemas.redaction import redact

    sys.stderr.write(visible_lines(redact(traceback.format_exc())))
    return ExitCode.UNEXPECTED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (`headwater.errors.ExitCode`)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # Before the options are read, so that mistakes in the settings are reported first.
    console.reset(json_mode="--json" in arguments)
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        # Shell completion is for the name `headwater`, even if this call was `python -m headwater`.
        completion = words_typed(os.environ) is not None or not {*arguments}.isdisjoint(_COMPLETION)
        build(arguments)(arguments, prog_name="headwater" if completion else program())
    except HeadwaterError as error:
        console.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ModuleNotFoundError as error:
        command = COMMANDS.get(arguments[0] if arguments else "")
        if command is None or not command.extra or (error.name or "").startswith("headwater"):
            return _unexpected()
        missing = _missing_extra(arguments[0], error)
        console.error(missing)
        return missing.exit_code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # noqa: BLE001 - Python itself would print control characters in names
        return _unexpected()
    finally:
        console.reset()
        signal.signal(signal.SIGTERM, previous)
    return ExitCode.DONE
