"""PEM bundle ⇒ Java trust store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

from headwater.errors import ConfigurationError
from headwater.stack import trust

BROKEN = b"-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n"


def authority(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    lifetime = (now, now + timedelta(days=1))
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), *lifetime)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_CACHE_DIR", str(tmp_path / "cache"))
    for variable in trust.VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_a_broken_certificate_costs_none_of_the_others(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority("first") + BROKEN + b"# a comment\n" + authority("second"))
    store = load_pkcs12(trust.trust_store(bundle).read_bytes(), trust.STORE_PASSWORD.encode())
    names = {entry.certificate.subject.rfc4514_string() for entry in store.additional_certs}
    assert names == {"CN=first", "CN=second"}


def test_another_content_is_another_store(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority("first"))
    before = trust.trust_store(bundle)
    assert trust.trust_store(bundle) == before
    bundle.write_bytes(authority("second"))
    assert trust.trust_store(bundle) != before


def test_a_named_bundle_holds_for_any_java_the_systems_only_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "system_bundle", lambda: None)
    assert trust.java_options(system=False) == []
    assert trust.java_options(system=True) == []
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority("first"))
    monkeypatch.setattr(trust, "system_bundle", lambda: bundle)
    assert trust.java_options(system=False) == []
    assert trust.java_options(system=True) != []
    monkeypatch.setenv("PIP_CERT", str(bundle))
    assert trust.java_options(system=False) != []


def test_a_bundle_without_certificates_is_named(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(BROKEN)
    with pytest.raises(ConfigurationError, match=r"bundle\.pem"):
        trust.trust_store(bundle)


def test_a_variable_that_names_no_file_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent.pem")
    assert trust.named_bundle() is None
