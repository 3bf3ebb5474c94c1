"""A certified OIDC provider (npm's `oidc-provider`) as a child process on loopback; `provider.mjs` has what it does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from support.node import installed_packages
from support.waiting import patience

FOLDER = Path(__file__).parent
PAGE = ("page", "the-secret-of-the-page")
PROGRAM = ("program", "the-secret-of-the-program")
AUDIENCE = "headwater"


@dataclass
class RealProvider:
    """A provider that runs.

    Attributes:
        issuer: its issuer.
        process: its process.
    """

    issuer: str
    process: subprocess.Popen[str]

    def token(self, resource: str = "urn:headwater", scope: str = "") -> str:
        """An access token of a program, whose subject is `program`."""
        form = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
        answer = httpx.post(f"{self.issuer}/token", data=form, auth=PROGRAM, trust_env=False, timeout=patience(30))
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["access_token"]
        return token

    def control(self, **changes: Any) -> dict[str, int]:
        """Change what it does, and return how often each path was asked for."""
        answer = httpx.post(f"{self.issuer}/test", json=changes, trust_env=False, timeout=patience(30))
        assert answer.status_code == 200, answer.text
        asked: dict[str, int] = answer.json()
        return asked

    def stop(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait(patience(30))


@contextmanager
def running_provider() -> Iterator[RealProvider]:
    """A provider of its own for a test; skips without Node or the packages."""
    packages = installed_packages(FOLDER)
    node = shutil.which("node")
    assert node is not None
    with subprocess.Popen(
        [node, FOLDER / "provider.mjs", packages],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            assert issuer.startswith("http://127.0.0.1:"), process.wait(patience(30))
            yield RealProvider(issuer, process)
        finally:
            process.kill()
