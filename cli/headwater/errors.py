"""Errors that end a command, and their exit codes.

    HeadwaterError            1  unexpected error, such as a bug
    ├── InputError            2  bad usage or bad input: an unknown setting, a malformed line
    ├── SubjectNotFoundError  3  the named dataset, run … does not exist
    ├── UnreachableError      4  Kafka or Neo4j does not answer
    ├── CheckFailedError      5  the command ran; its check failed
    └── ConfigurationError    6  fatal: wrong credentials, no Java, a corrupt installation
        └── NotConfiguredError   6  no Kafka or no Neo4j is configured, and no stack of ours is running

Commands raise these; only `headwater.cli.main` turns them into a message and an exit status. Errors of the packages
below (`headwater_producers`, `headwater_consumers`) are translated by the command that calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit status of every `headwater` command."""

    DONE = 0
    UNEXPECTED = 1
    BAD_INPUT = 2
    NOT_FOUND = 3
    UNREACHABLE = 4
    CHECK_FAILED = 5
    CONFIGURATION = 6
    INTERRUPTED = 130
    TERMINATED = 143


class HeadwaterError(Exception):
    """An error with a message for the person at the terminal.

    Args:
        message: Fault and its location, in one or two sentences. Never contains a secret; likely credentials are
            removed here.
        fix: Advice, as an imperative sentence; may be empty.
        nearest: Names that the user may have meant, the most likely first.
    """

    exit_code: ExitCode = ExitCode.UNEXPECTED

    def __init__(self, message: str, *, fix: str = "", nearest: Sequence[str] = ()) -> None:
        # Imported here, because the import takes a tenth of the time of --help.
        from headwater_schemas.redaction import redact, without_user_info

        super().__init__(message := redact(message))
        self.message = message
        self.fix = without_user_info(fix)
        self.nearest = tuple(nearest)


class InputError(HeadwaterError):
    """Bad usage or bad input; the message names the line and field, or the setting."""

    exit_code = ExitCode.BAD_INPUT


class SubjectNotFoundError(HeadwaterError):
    """The subject of the command does not exist."""

    exit_code = ExitCode.NOT_FOUND


class UnreachableError(HeadwaterError):
    """Kafka or Neo4j does not answer; the message names its address."""

    exit_code = ExitCode.UNREACHABLE


class CheckFailedError(HeadwaterError):
    """A check failed; the command has already printed the details."""

    exit_code = ExitCode.CHECK_FAILED


class ConfigurationError(HeadwaterError):
    """Fatal configuration: credentials refused, no usable Java, a download that doesn't match its checksum."""

    exit_code = ExitCode.CONFIGURATION


class NotConfiguredError(ConfigurationError):
    """No setting names the Kafka or Neo4j to use; Headwater never guesses one."""
