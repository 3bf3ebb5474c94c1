"""A Neo4j that serves Bolt over TLS only, with a certificate of the test's."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from headwater.stack import ports
from headwater.stack.jars import ensure_jars
from headwater.stack.neo4j import USER, Neo4jServer
from support.certificates import Certificate

_HEAP_MB, _PAGE_CACHE_MB = 512, 64


@contextlib.contextmanager
def secured_neo4j(folder: Path, server: Certificate) -> Iterator[Callable[[], dict[str, str]]]:
    """Start one, and give a function that waits for it and returns the variables of Headwater's settings of it.

    Args:
        folder: folder of its data.
        server: its certificate. Clients find the authority by SSL_CERT_FILE.
    """
    certificates = folder / "bolt"
    certificates.mkdir(parents=True)
    shutil.copy(server.file, certificates / "public.crt")
    shutil.copy(server.key, certificates / "private.key")
    neo4j = Neo4jServer(
        folder,
        ports.choose(ports.ANY),
        ensure_jars("neo4j"),
        java_options=(f"-Xmx{_HEAP_MB}m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        page_cache_mb=_PAGE_CACHE_MB,
        delete=False,
        settings={
            "server.bolt.tls_level": "REQUIRED",
            "dbms.ssl.policy.bolt.enabled": "true",
            "dbms.ssl.policy.bolt.base_directory": str(certificates),
            "dbms.ssl.policy.bolt.client_auth": "NONE",
        },
    )
    neo4j.start()
    try:
        yield lambda: _variables(neo4j)
    finally:
        neo4j.process.stop()


def _variables(neo4j: Neo4jServer) -> dict[str, str]:
    neo4j.wait(lambda: False)
    return {
        "HEADWATER_NEO4J_URI": neo4j.uri.replace("bolt://", "bolt+s://"),
        "HEADWATER_NEO4J_USER": USER,
        "HEADWATER_NEO4J_PASSWORD": neo4j.password_file.read_text(encoding="utf-8").strip(),
    }
