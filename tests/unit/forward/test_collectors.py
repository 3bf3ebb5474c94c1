"""Collectors: what each answer means, and what is where when `flush` returned."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

from headwater_consumers.forward.collectors import (
    CollectorUnavailableError,
    CollectorUnusableError,
    DocumentRefusedError,
    FileCollector,
    KafkaCollector,
    OutgoingDocument,
    RefusedFile,
    RefusedTopic,
)
from headwater_consumers.forward.http import HttpCollector
from headwater_consumers.forward.settings import Compression, ForwardSettings
from headwater_schemas.kafka.producer import AcknowledgedProducer
from support.collector import collecting
from support.fake_producer import FakeCluster
from support.waiting import patience

DOCUMENT = OutgoingDocument(b'{"a":1}', "run:shop/totals")


Posting = Callable[..., HttpCollector]


@pytest.fixture
def posting() -> Iterator[Posting]:
    """Makes collectors, whose connections are closed at the end."""
    made: list[HttpCollector] = []

    def one(url: str, settings: ForwardSettings | None = None) -> HttpCollector:
        made.append(HttpCollector(url, settings or ForwardSettings()))
        return made[-1]

    yield one
    for collector in made:
        collector.close()


def refusals_of(collector: HttpCollector) -> list[DocumentRefusedError]:
    found: list[DocumentRefusedError] = []
    collector.deliver(DOCUMENT, found.append)
    collector.flush()
    return found


def test_documents_are_posted_to_openlineages_endpoint_on_one_connection(posting: Posting) -> None:
    with collecting() as server:
        collector = posting(server.url, ForwardSettings(token=SecretStr("secret")))
        for _ in range(3):
            assert refusals_of(collector) == []
        collector.close()
        path, headers = server.requests[0]
    assert path == "/api/v1/lineage"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    assert server.bodies == [DOCUMENT.data] * 3


def test_a_path_of_the_url_is_kept_and_the_tokens_file_wins(posting: Posting, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-the-file\n")
    settings = ForwardSettings(token=SecretStr("secret"), token_file=tmp_path / "token")
    with collecting() as server:
        refusals_of(posting(f"{server.url}/other/path?x=1", settings))
        assert server.requests[0][0] == "/other/path?x=1"
        assert server.requests[0][1]["Authorization"] == "Bearer from-the-file"


def test_documents_are_compressed_if_asked_to(posting: Posting) -> None:
    with collecting() as server:
        assert refusals_of(posting(server.url, ForwardSettings(compression=Compression.GZIP))) == []
        assert server.requests[0][1]["Content-Encoding"] == "gzip"
        assert gzip.decompress(server.bodies[0]) == DOCUMENT.data
        refusals_of(posting(server.url))
        assert "Content-Encoding" not in server.requests[1][1]
        assert server.bodies[1] == DOCUMENT.data


def test_a_collector_that_takes_no_gzip_is_a_matter_of_settings(posting: Posting) -> None:
    with collecting() as server:
        server.answers.append((415, {}))
        with pytest.raises(CollectorUnusableError) as caught:
            refusals_of(posting(server.url, ForwardSettings(compression=Compression.GZIP)))
    assert caught.value.setting == "HEADWATER_FORWARD_COMPRESSION"


def test_an_answer_that_passes_is_tried_again(subtests: pytest.Subtests, posting: Posting) -> None:
    for status in (408, 425, 429, 500, 502, 503, 504):
        with subtests.test(status=status), collecting() as server:
            server.answers.append((status, {"Retry-After": "7"}))
            collector = posting(server.url, ForwardSettings())
            with pytest.raises(CollectorUnavailableError, match=str(status)) as caught:
                refusals_of(collector)
            assert caught.value.after_seconds == 7
            assert refusals_of(collector) == []


def test_other_4xx_refuse_the_document(subtests: pytest.Subtests, posting: Posting) -> None:
    for status in (400, 409, 413, 415, 422):
        with subtests.test(status=status):
            with collecting() as server:
                server.answers.append((status, {}))
                (refusal,) = refusals_of(posting(server.url, ForwardSettings()))
            assert (refusal.status, refusal.answer) == (str(status), "the answer")


SETTINGS_BY_STATUS: list[tuple[int, str]] = [
    (401, "HEADWATER_FORWARD_TOKEN"),
    (403, "HEADWATER_FORWARD_TOKEN"),
    (404, "--to"),
    (302, "--to"),
]


def test_what_says_nothing_of_the_document_is_a_matter_of_settings(subtests: pytest.Subtests, posting: Posting) -> None:
    for status, setting in SETTINGS_BY_STATUS:
        with subtests.test(status=status):
            with collecting() as server:
                server.answers.append((status, {"Location": "http://elsewhere.invalid/"}))
                with pytest.raises(CollectorUnusableError) as caught:
                    refusals_of(posting(server.url, ForwardSettings()))
            assert caught.value.setting == setting


def test_a_kept_connection_that_was_closed_is_made_anew_and_one_that_isnt_answered_is_trouble(posting: Posting) -> None:
    with collecting() as server:
        collector = posting(server.url, ForwardSettings())
        refusals_of(collector)
        server.answers.append((0, {}))
        assert refusals_of(collector) == []
        server.answers.extend([(0, {}), (0, {})])
        with pytest.raises(CollectorUnavailableError, match="doesn't answer"):
            refusals_of(collector)
    with pytest.raises(CollectorUnavailableError, match="doesn't answer"):
        refusals_of(posting("http://127.0.0.1:9", ForwardSettings()))


def test_retry_after_may_be_a_date(posting: Posting) -> None:
    at = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=60)
    with collecting() as server:
        server.answers.append((503, {"Retry-After": at.strftime("%a, %d %b %Y %H:%M:%S GMT")}))
        with pytest.raises(CollectorUnavailableError) as caught:
            refusals_of(posting(server.url, ForwardSettings()))
    assert caught.value.after_seconds == pytest.approx(60, abs=5)


def test_what_is_no_url_is_refused_without_its_password(subtests: pytest.Subtests, posting: Posting) -> None:
    for url in ("ftp://host", "http://", "http://user:pw@host", "http://host:99999"):
        with subtests.test(url):
            with pytest.raises(CollectorUnusableError) as caught:
                posting(url, ForwardSettings())
            assert "pw" not in str(caught.value)


def test_a_token_with_a_line_break_is_refused(posting: Posting) -> None:
    with pytest.raises(CollectorUnusableError) as caught:
        refusals_of(posting("http://127.0.0.1:9", ForwardSettings(token=SecretStr("a\r\nX: b"))))
    assert "X: b" not in str(caught.value)


def certificate(folder: Path, name: str, issuer: tuple[Any, Any] | None = None) -> tuple[Path, Any, Any]:
    """A file with certificate and key; a certificate authority where no issuer is given."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer, authority = issuer or (key, subject)
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(signer, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"pass")
    )
    (folder / f"{name}.pem").write_bytes(pem)
    return folder / f"{name}.pem", key, subject


def test_mutual_tls(posting: Posting, tmp_path: Path) -> None:
    authority, key, subject = certificate(tmp_path, "authority")
    server_file, _, _ = certificate(tmp_path, "server", (key, subject))
    client_file, _, _ = certificate(tmp_path, "client", (key, subject))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server_file, password="pass")
    context.load_verify_locations(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    with collecting(context) as server:
        url = f"https://localhost:{server.server_port}"
        ours = ForwardSettings(
            ca_location=authority,
            certificate_location=client_file,
            key_password=SecretStr("pass"),
            timeout_seconds=patience(5),
        )
        assert refusals_of(posting(url, ours)) == []
        with pytest.raises(CollectorUnavailableError):
            refusals_of(posting(url, ForwardSettings(ca_location=authority, timeout_seconds=patience(5))))
        with pytest.raises(CollectorUnusableError, match="isn't trusted"):
            refusals_of(posting(url, ForwardSettings(timeout_seconds=patience(5))))
    wrong = ForwardSettings(ca_location=authority, certificate_location=client_file, key_password=SecretStr("wrong"))
    with pytest.raises(CollectorUnusableError, match="certificate or key"):
        posting("https://localhost", wrong)


def test_a_file_has_what_was_flushed_and_no_more(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    collector = FileCollector(file)
    collector.deliver(DOCUMENT, lambda _: None)
    assert file.read_bytes() == b""
    collector.flush()
    collector.flush()
    assert file.read_bytes() == DOCUMENT.data + b"\n"


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater_consumers.forward import collectors

    file = tmp_path / "out.jsonl"
    collector = FileCollector(file)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(collectors.os, "fsync", full)  # type: ignore[attr-defined]
        collector.deliver(DOCUMENT, lambda _: None)
        with pytest.raises(CollectorUnavailableError, match="No space left"):
            collector.flush()
        assert file.read_bytes() == b""
    with pytest.raises(CollectorUnusableError):
        FileCollector(tmp_path)


def test_refused_documents_are_kept_with_the_reason(tmp_path: Path) -> None:
    refused = RefusedFile(tmp_path / "refused.jsonl")
    assert not (tmp_path / "refused.jsonl").exists()
    refused.add(DOCUMENT, DocumentRefusedError("422", "no"), source="lineage.events[0]@7", event_id="e")
    (line,) = (tmp_path / "refused.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "source": "lineage.events[0]@7",
        "event_id": "e",
        "status": "422",
        "answer": "no",
        "document": {"a": 1},
    }


def kafka(cluster: FakeCluster) -> KafkaCollector:
    return KafkaCollector(
        {"bootstrap.servers": "broker:9092"},
        "other",
        lambda config: AcknowledgedProducer(config, make_producer=cluster.producer),
    )


def test_a_topic_has_everything_once_flushed() -> None:
    cluster = FakeCluster()
    collector = kafka(cluster)
    for _ in range(3):
        collector.deliver(DOCUMENT, lambda _: None)
    collector.flush()
    assert cluster.delivered["other"] == [DOCUMENT.data] * 3


def test_what_a_topic_finds_too_large_is_refused_and_other_trouble_fails_the_flush() -> None:
    cluster, refused = FakeCluster(), list[DocumentRefusedError]()
    collector = kafka(cluster)
    cluster.answer = lambda _topic, _values: KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
    collector.deliver(DOCUMENT, refused.append)
    collector.flush()
    assert [each.status for each in refused] == ["MSG_SIZE_TOO_LARGE"]
    cluster.answer = lambda _topic, _values: KafkaError(KafkaError._MSG_TIMED_OUT)
    collector.deliver(DOCUMENT, refused.append)
    with pytest.raises(CollectorUnavailableError):
        collector.flush()
    cluster.answer = lambda _topic, _values: None
    collector.deliver(DOCUMENT, refused.append)
    collector.flush()
    assert cluster.delivered["other"] == [DOCUMENT.data]
    assert len(refused) == 1


def test_a_topic_of_refused_documents_has_them_word_for_word_with_the_reason() -> None:
    cluster = FakeCluster()
    aside = RefusedTopic(kafka(cluster))
    aside.add(DOCUMENT, DocumentRefusedError("422", "no"), source="lineage.events[0]@7", event_id="e-1")
    assert cluster.delivered["other"] == [DOCUMENT.data]
    assert [dict(each) for each in cluster.headers] == [
        {
            "headwater.source": b"lineage.events[0]@7",
            "headwater.event.id": b"e-1",
            "headwater.status": b"422",
            "headwater.answer": b"no",
        }
    ]
    cluster.answer = lambda _topic, _values: KafkaError(KafkaError._MSG_TIMED_OUT)
    with pytest.raises(CollectorUnavailableError):
        aside.add(DOCUMENT, DocumentRefusedError("422", "no"), source="lineage.events[0]@8", event_id="e-2")
    cluster.answer = lambda _topic, _values: KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
    with pytest.raises(CollectorUnusableError, match=r"lineage\.events\[0\]@9.*max\.message\.bytes"):
        aside.add(DOCUMENT, DocumentRefusedError("422", "no"), source="lineage.events[0]@9", event_id="e-3")
    assert cluster.delivered["other"] == [DOCUMENT.data]
    aside.close()
