"""Conversion of a PEM bundle of certificate authorities for Java, which reads only its own kind of store."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import ssl
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import ConfigurationError
from headwater.stack.paths import cache_dir

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

# Variables with which Python's tools and curl name a bundle, the most common first.
VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

# Certificate bundles of distributions, for a Python whose OpenSSL was built elsewhere and has another default path.
SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

# A trust store has only public certificates, but Java requires a password.
STORE_PASSWORD = "changeit"  # noqa: S105


def java_options(*, system: bool) -> list[str]:
    """JVM options that make Java trust the bundle in use; empty if there is no bundle.

    Args:
        system: Whether to use the system's bundle if no variable names one, for a runtime that doesn't know it.
    """
    bundle = named_bundle() or (system_bundle() if system else None)
    if bundle is None:
        return []
    return [
        f"-Djavax.net.ssl.trustStore={trust_store(bundle)}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={STORE_PASSWORD}",
    ]


def named_bundle() -> Path | None:
    """Return the first existing bundle that a variable of the environment names; None if there is none."""
    return next((path for name in VARIABLES if (path := Path(os.environ.get(name) or "/nowhere")).is_file()), None)


def system_bundle() -> Path | None:
    """The system's bundle, at the location of Python or of distributions."""
    candidates = (ssl.get_default_verify_paths().openssl_cafile, *SYSTEM_BUNDLES)
    return next((path for name in candidates if (path := Path(name)).is_file()), None)


def trust_store(bundle: Path) -> Path:
    """Write the bundle's certificates as a PKCS#12 store that Java reads; cached by the bundle's content.

    Raises:
        ConfigurationError: The bundle has no certificate.
    """
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore

    content = bundle.read_bytes()
    store = cache_dir() / "java" / f"trust-{hashlib.sha256(content).hexdigest()[:16]}.p12"
    if store.exists():
        return store
    certificates = [
        PKCS12Certificate(certificate, f"ca-{number}".encode())
        for number, certificate in enumerate(_certificates(content))
    ]
    if not certificates:
        raise ConfigurationError(
            f"The certificate bundle {bundle} has no certificate in it.",
            fix=f"Check {', '.join(VARIABLES)}; if none is set, the bundle is the system's.",
        )
    encoded = serialize_java_truststore(certificates, BestAvailableEncryption(STORE_PASSWORD.encode()))
    store.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=store.parent, delete=False) as draft:
        draft.write(encoded)
    Path(draft.name).replace(store)
    return store


def _certificates(pem: bytes) -> Iterator[Certificate]:
    # Loaded one by one: system bundles contain old roots that break today's rules (for example a serial number of
    # zero), and these must not make the whole bundle fail.
    from cryptography.x509 import load_pem_x509_certificate

    for block in re.findall(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem, re.DOTALL):
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore")
            yield load_pem_x509_certificate(block)
