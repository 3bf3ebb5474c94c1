"""Identity in a client certificate that TLS has verified against the server's client CA."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headwater_server.identity.credentials import CredentialError, CredentialFault
from headwater_server.identity.identity import Identity, IdentitySource, Scope

PEER_CERTIFICATE = "headwater.peer_certificate"
"""Key in a request's `state` of the client's certificate, as `ssl.SSLSocket.getpeercert` decodes it."""


def identity_in(certificate: Mapping[str, Any], scopes: frozenset[Scope]) -> Identity:
    """Return the identity of a certificate's holder.

    The subject is the common name or, without one, the first alternative name of the kinds URI, DNS and email; the
    groups are the subject's organizational units.

    Args:
        certificate: a verified certificate, as `ssl.SSLSocket.getpeercert` decodes it.
        scopes: scopes of every client certificate.

    Raises:
        CredentialError: the certificate has no name, or two common names.
    """
    subject = [pair for name in certificate.get("subject", ()) for pair in name]
    common = [value for kind, value in subject if kind == "commonName"]
    if len(common) > 1:
        raise CredentialError(CredentialFault.CERTIFICATE, "The client certificate has several common names.")
    alternative = certificate.get("subjectAltName", ())
    names = common or [value for kind in ("URI", "DNS", "email") for each, value in alternative if each == kind]
    if not names or not names[0].strip():
        raise CredentialError(CredentialFault.CERTIFICATE, "The client certificate has no name.")
    return Identity(
        IdentitySource.CERTIFICATE,
        names[0],
        groups=frozenset(value for kind, value in subject if kind == "organizationalUnitName"),
        scopes=scopes,
        expires=datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC),
    )
