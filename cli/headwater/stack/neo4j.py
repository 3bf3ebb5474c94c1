"""One Neo4j Community server with Browser: its configuration, first password and start."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.stack.java import java_runtime
from headwater.stack.paths import private_folder, write_private
from headwater.stack.ports import LOOPBACK, Ports
from headwater.stack.process import GuardedProcess

# A long limit: a server that ends is noticed at once, and a start on 2 busy cores has taken 150 s.
START_SECONDS = 300.0
USER = "neo4j"

# Neo4j's own format of a new password (version "1" of its hasher configurations).
_HASH_ITERATIONS = 1024

# The two shutdown settings avoid two waits of 5 s for idle clients: Headwater's clients stop first.
_CONF = """\
server.default_listen_address={host}
server.bolt.listen_address={host}:{bolt}
server.bolt.advertised_address={host}:{bolt}
server.http.listen_address={host}:{http}
server.http.advertised_address={host}:{http}
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size={page_cache_mb}m
db.tx_log.preallocate=false
db.tx_log.rotation.retention_policy=2 files
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
internal.dbms.bolt.netty_server_shutdown_timeout=2s
"""

ADD_OPENS = tuple(
    f"--add-opens={package}=ALL-UNNAMED"
    for package in ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")
)
"""Options without which Neo4j's classes don't run."""


class Neo4jServer:
    """Server whose data is in one folder. The first `start()` sets the password; the data stays there.

    Attributes:
        settings: additional or replaced lines of neo4j.conf, by name; read by `start()`.
    """

    def __init__(
        self,
        folder: Path,
        ports: Ports,
        jars: Sequence[Path],
        *,
        java_options: Sequence[str],
        page_cache_mb: int,
        delete: bool,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._ports = ports
        self._jars = jars
        self._java_options = java_options
        self._page_cache_mb = page_cache_mb
        self._delete = delete
        self.settings = dict(settings or {})
        self._process: GuardedProcess | None = None

    @property
    def uri(self) -> str:
        """The Bolt address."""
        return f"bolt://{LOOPBACK}:{self._ports.bolt}"

    @property
    def password_file(self) -> Path:
        """File with the password, in the data folder; readable only by its owner."""
        return self._folder / "password"

    @property
    def browser_url(self) -> str:
        """URL of Neo4j Browser."""
        return f"http://{LOOPBACK}:{self._ports.http}/browser/"

    @property
    def started(self) -> bool:
        """True if `start()` has started a process."""
        return self._process is not None

    @property
    def process(self) -> GuardedProcess:
        """The running JVM."""
        if self._process is None:
            raise HeadwaterError("Neo4j has not been started.")
        return self._process

    def start(self) -> None:
        """Start the JVM; `wait()` returns when it accepts requests."""
        private_folder(self._folder)
        # A killed server leaves temporary files of its web server behind.
        shutil.rmtree(self._temporary_folder, ignore_errors=True)
        self._temporary_folder.mkdir()
        for name in ("conf", "data/dbms", "logs", "plugins", "import", "run", "licenses", "lib"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        conf = _CONF.format(
            host=LOOPBACK, bolt=self._ports.bolt, http=self._ports.http, page_cache_mb=self._page_cache_mb
        )
        # Neo4j doesn't accept a name twice.
        lines = [line for line in conf.splitlines() if line.partition("=")[0] not in self.settings]
        lines += [f"{name}={value}" for name, value in self.settings.items()]
        write_private(self._folder / "conf" / "neo4j.conf", "\n".join(lines) + "\n")
        if not self.password_file.exists():
            write_private(self.password_file, new_password() + "\n")
        if not (self._folder / "data" / "databases" / "system").exists():
            # Neo4j reads this file once, when it creates the system database. The documented command that writes the
            # file takes the password as an argument, which every user of the machine could read.
            write_private(self._folder / "data" / "dbms" / "auth.ini", initial_user(self._password()))
        self._process = GuardedProcess(
            "Neo4j",
            self._command(),
            output=self._folder / "logs" / "console.log",
            log=self._folder / "logs" / "neo4j.log",
            private=True,
            delete=self._folder if self._delete else None,
        )

    def wait(self, cancelled: Callable[[], bool]) -> None:
        """Wait until the server answers a query with the stack's password.

        Raises:
            ConfigurationError: The server answers, but refuses the password.
        """
        password = self._password()
        self.process.wait_until(
            lambda: answers(self._ports.http, password), timeout_seconds=START_SECONDS, cancelled=cancelled
        )

    @property
    def _temporary_folder(self) -> Path:
        return self._folder / "tmp"

    def _password(self) -> str:
        return self.password_file.read_text(encoding="utf-8").strip()

    def _command(self) -> list[str]:
        return [
            str(java_runtime().executable),
            *self._java_options,
            "-XX:+ExitOnOutOfMemoryError",
            "-Dlog4j2.disable.jmx=true",
            f"-Djava.io.tmpdir={self._temporary_folder}",
            *ADD_OPENS,
            "-cp",
            os.pathsep.join(map(str, self._jars)),
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self._folder}",
            f"--config-dir={self._folder / 'conf'}",
        ]


def new_password() -> str:
    """A password of 128 random bits."""
    return secrets.token_urlsafe(16)


def initial_user(password: str, *, salt: bytes | None = None) -> str:
    """Line of `auth.ini` with which Neo4j 5 creates its first user: salted SHA-256, iterated like Neo4j's."""
    salt = salt or secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(_HASH_ITERATIONS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"{USER}:SHA-256,{digest.hex()},{salt.hex()},{_HASH_ITERATIONS}:\n"


def answers(http_port: int, password: str, *, timeout_seconds: float = 5.0) -> bool:
    """Return True if the server runs a query for the stack's user.

    Raises:
        ConfigurationError: The server answers, but refuses the password.
    """
    credentials = base64.b64encode(f"{USER}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    body = json.dumps({"statements": [{"statement": "RETURN 1"}]})
    connection = http.client.HTTPConnection(LOOPBACK, http_port, timeout=timeout_seconds)
    try:
        connection.request("POST", "/db/neo4j/tx/commit", body, headers)
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    if response.status == http.HTTPStatus.UNAUTHORIZED:
        from headwater.errors import ConfigurationError

        raise ConfigurationError("Neo4j refuses the embedded stack's own password.", fix="headwater down --purge")
    return response.status == http.HTTPStatus.OK and not json.loads(content)["errors"]
