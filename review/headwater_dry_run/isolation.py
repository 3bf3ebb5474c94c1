"""Isolation of a dry run: no network, no writes outside its scratch folder.

The process has its own network namespace with only a loopback, which the JVM and Python's workers share. If the system
doesn't allow that, Python's connections are refused but the JVM's aren't: `isolate` then returns False, and
the review reports this. An audit hook guards files from Python code; `writing` replaces Spark's writes.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any, Final

_NEW_USER: Final = 0x10000000
_NEW_NETWORK: Final = 0x40000000
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOPBACK: Final = ("127.", "::1", "localhost", "::ffff:127.")
_CHANGES: Final = frozenset(
    {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "shutil.rmtree"}
)
_NOT_FILES: Final = ("/dev/null", "/dev/tty", "/dev/pts/", "/dev/fd/", "/dev/stdout", "/dev/stderr")
_REMOVALS: Final = frozenset({"os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"})


class NotAllowedError(PermissionError):
    """An action of the script that a dry run forbids."""


def isolate(scratch: Path, removals: list[str]) -> bool:
    """Forbid network, and files outside of `scratch`.

    Args:
        scratch: the only folder that may be written.
        removals: list to which each refused removal is added: the script may catch the error and continue.

    Returns:
        True if neither the JVM nor Python has a network; False if only Python has none.
    """
    alone = _without_network()
    # Otherwise Python writes its compiled files.
    sys.dont_write_bytecode = True
    allowed = (str(scratch.resolve()) + os.sep, str(scratch.absolute()) + os.sep, *_NOT_FILES, "/proc/self/")

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, (str, bytes)) and _is_writing(mode, flags):
                _require_within(path, allowed)
        elif event in _CHANGES:
            for path in arguments[: 2 if event == "os.rename" else 1]:
                if isinstance(path, (str, bytes, os.PathLike)):
                    try:
                        _require_within(path, allowed)
                    except NotAllowedError:
                        if event in _REMOVALS:
                            removals.append(f"{event}({os.fsdecode(path)!r})")
                        raise
        elif event == "socket.connect":
            _require_loopback(arguments[1])

    sys.addaudithook(audit)
    return alone


def _is_writing(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITES)


def _require_within(path: Any, allowed: tuple[str, ...]) -> None:
    full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  a hook of every open: no objects
    if not full.startswith(allowed) and full + os.sep not in allowed:
        raise NotAllowedError(f"the script would write {full}, and a dry run may only write to its working folder")


def _require_loopback(address: Any) -> None:
    host = str(address[0]) if isinstance(address, tuple) else ""
    if host and not host.startswith(_LOOPBACK):
        raise NotAllowedError(f"the script would connect to {host}, and a dry run has no network")


def _without_network() -> bool:
    """Enter a network namespace with all child processes; False if the system doesn't allow it.

    A child process tries first: some systems allow a namespace but not its loopback, without which no JVM can be
    reached, and a process can't leave its namespace again.
    """
    if not sys.platform.startswith("linux"):
        return False
    child = os.fork()
    if child == 0:
        done = 1
        with contextlib.suppress(BaseException):
            _leave_network()
            done = 0
        os._exit(done)
    if os.waitpid(child, 0)[1] != 0:
        return False
    _leave_network()
    return True


def _leave_network() -> None:
    """Enter a new namespace and set up its loopback.

    Raises:
        OSError: the system refuses it.
    """
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:
        if libc.unshare(_NEW_USER | _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "no network namespace")
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14s", b"lo", flags | _UP, b""))
