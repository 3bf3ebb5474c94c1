from __future__ import annotations

import pytest

from headwater_schemas.redaction import MASK, redact

SECRET = "hunter2-S3cr3t"


@pytest.mark.parametrize(
    "text",
    [
        f"jdbc:postgresql://bob:{SECRET}@db:5432/flights",
        f"https://{SECRET}@git.example/x.git",
        f"mongodb+srv://bob:p@{SECRET}@host/db",
        f"amqp://bob:{SECRET}/with/slashes@host",
        f"jdbc:oracle:thin:bob/{SECRET}@host:1521:x",
        f"jdbc:mysql://db/x?user=bob&password={SECRET}&useSSL=true",
        f"password={SECRET}",
        f"PASSWORD = {SECRET}, user = bob",
        f'"password" : "{SECRET}"',
        f"'password': '{SECRET} with blanks'",
        f'password="{SECRET} and \\"more\\""',
        f"{{user -> bob, password -> {SECRET}}}",
        f"Map(sasl.password -> {SECRET}, x -> y)",
        f"db_passwd: {SECRET}",
        f"pwd={SECRET};",
        f"keystore.passphrase={SECRET}",
        f"fs.s3a.secret.key={SECRET}",
        f"fs.s3a.access.key={SECRET}",
        f"fs.s3a.session.token={SECRET}",
        f"fs.azure.account.key.acc.blob.core.windows.net={SECRET}",
        f"aws_secret_access_key = {SECRET}",
        f"spark.ssl.keyPassword={SECRET}",
        f"apiKey: {SECRET}",
        f"api-key={SECRET}",
        f"client_secret={SECRET}",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={SECRET};EndpointSuffix=y",
        f"--password {SECRET} --user bob",
        f"--token={SECRET}",
        f'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required password="{SECRET}";',
        f"sasl.jaas.config -> ScramLoginModule required username=a {SECRET};".replace("->", "="),
        f'ScramLoginModule required username="bob" something="{SECRET}";',
        f"Authorization: Bearer {SECRET}",
        f"authorization: Basic {SECRET}",
        f"Proxy-Authorization=Digest {SECRET}",
        f"got 401 for bearer {SECRET}",
        f"https://x.blob.core.windows.net/c?sv=1&sig={SECRET}&se=2",
        f"https://b.s3.amazonaws.com/k?X-Amz-Signature={SECRET}&X-Amz-Date=1",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\ncut off",
    ],
)
def test_a_secret_goes(text: str) -> None:
    redacted = redact(text)
    assert SECRET not in redacted
    assert MASK in redacted


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdefghij",
        "xoxb-1234567890-abcdefghij",
        "dapi0123456789abcdef0123456789abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123",
    ],
)
def test_a_token_goes_by_its_look_alone(token: str) -> None:
    assert token not in redact(f"refused: {token} is not valid")


@pytest.mark.parametrize(
    "text",
    [
        "java.io.FileNotFoundException: /data/in/part-0.parquet does not exist",
        "kafka://broker:9092 is unreachable (user@example.com was told)",
        "Column 'delay' does not exist. Did you mean `dep_delay`?",
        "at org.apache.spark.sql.execution.SQLExecution$.withNewExecutionId(SQLExecution.scala:233)",
        "s3a://bucket/path/to/object@v2",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_what_is_around_a_secret_stays() -> None:
    text = "connect jdbc:postgresql://bob:x@db/flights failed, password=y, retries=3"
    assert redact(text) == f"connect jdbc:postgresql://{MASK}@db/flights failed, password={MASK}, retries=3"


def test_redacting_twice_changes_nothing() -> None:
    once = redact('password=a {"token": "b"} Authorization: Bearer abcdefghij jdbc:x://u:p@h/d sasl.jaas.config=zzz;')
    assert redact(once) == once


def test_a_cut_comes_after_redacting() -> None:
    assert redact("password=" + "x" * 100, max_chars=15) == "password=[reda…"
    assert redact("short", max_chars=5) == "short"


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece", ["a", "-", "password", "a://", "jdbc:oracle:thin:a/", "bearer ", "key=", "eyJaaaaaaaa.", "'"]
)
def test_no_text_takes_long(piece: str) -> None:
    """A pattern that backtracks takes minutes for the worst of these, a linear one less than a second."""
    redact(piece * (200_000 // len(piece)))
