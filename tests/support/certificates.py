"""Certificates that a test makes up: authorities, and what they sign."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_NAMES = {"CN": NameOID.COMMON_NAME, "OU": NameOID.ORGANIZATIONAL_UNIT_NAME}


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as files.

    Attributes:
        file: the certificate, PEM.
        key: its key, PEM.
        x509: the certificate.
        private: its key.
    """

    file: Path
    key: Path
    x509: x509.Certificate
    private: ec.EllipticCurvePrivateKey


def certificate(
    folder: Path,
    name: str,
    issuer: Certificate | None = None,
    *,
    subject: Sequence[tuple[str, str]] | None = None,
    also: Sequence[x509.GeneralName] = (),
    authority: bool = False,
    server: bool = False,
    lasts: timedelta = timedelta(days=1),
) -> Certificate:
    """Make a certificate of a server, a client or an authority.

    Args:
        folder: folder of the files.
        name: name of the files; by default also the common name.
        issuer: authority that signs it; None: itself.
        subject: parts of the subject's name, `("CN", "robot")`.
        also: alternative names.
        authority: True for an authority.
        server: True for a certificate of a server on 127.0.0.1; else it is a client's.
        lasts: end of its validity, from now; it began two days ago.
    """
    private = ec.generate_private_key(ec.SECP256R1())
    whole = x509.Name([x509.NameAttribute(_NAMES[kind], value) for kind, value in subject or [("CN", name)]])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(whole)
        .issuer_name(whole if issuer is None else issuer.x509.subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + lasts)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    names = [*also, x509.IPAddress(ipaddress.ip_address("127.0.0.1"))] if server else list(also)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signed = builder.sign(private if issuer is None else issuer.private, hashes.SHA256())
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key", signed, private)
    made.file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    made.key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made
