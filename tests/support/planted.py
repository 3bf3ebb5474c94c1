"""Planted secrets: a table of the shapes in which a credential comes, each with what must be found nowhere."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

MARKER = "Zq7pLanted9Xw"
"""Part of every secret that may be any text."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A text with a secret in it.

    Attributes:
        name: of the shape, for a test's report.
        text: what is planted.
        secret: what must be found nowhere.
    """

    name: str
    text: str
    secret: str = MARKER


# `{}` is the secret.
_NAMED = [
    *("password={}", "PASSWORD = {}", "db_pass={}", "dbPass: {}", "pwd={};", "passphrase={}", "passcode={}", "pw={}"),
    *("token={}", "api_key={}", "apiKey: {}", "client_secret={}", "creds={}", "private_key={}", "accountKey={}"),
    *("fs.s3a.secret.key={}", "fs.s3a.access.key={}", "fs.s3a.session.token={}", "spark.ssl.keyPassword={}"),
    *("fs.azure.account.key.a.dfs.core.windows.net={}", "fs.azure.sas.c.a.blob.core.windows.net={}"),
    *("spark.hadoop.fs.azure.account.oauth2.client.secret={}", "aws_secret_access_key = {}", "--password {}"),
    *("--token={}", "Authorization: Bearer {}", "Proxy-Authorization: Basic {}", "Cookie: session={}", "otp={}"),
    *("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=y", "SharedAccessSignature={}"),
    *("sqlplus bob/{}@db", "mysql -u root -p{} -h db", "curl -u bob:{} http://db", "redis-cli -a {} ping"),
    *("PlainLoginModule required password={};", "sasl.jaas.config=x required {};", "IDENTIFIED BY {} ACCOUNT LOCK"),
    *(
        "passwort={}",
        "spark.my.password {}",
        "Map(sasl.password -> {}, a -> b)",
        "{{user=bob, password={}}}",
        "<password>{}</password>",
    ),
]
_ADDRESSES = [
    *("jdbc:postgresql://h/db?user=a&password={}", "jdbc:postgresql://bob:{}@h/db", "jdbc:oracle:thin:bob/{}@h:1521:x"),
    *("jdbc:mysql://h/db?user=a&password={}&ssl=true", "jdbc:sqlserver://h;user=a;password={};encrypt=true"),
    *(
        "mongodb+srv://bob:{}@h/db",
        "https://{}@git.example/x.git",
        "redis://:{}@h",
        "amqp://bob:{}@h/v",
        "bob:{}@h:9092",
    ),
    *("file://bob:{}@h/data", "s3a://KEY:{}@bucket/x", "https://a.blob.core.windows.net/c?sv=1&sig={}"),
    *("/data/out?sig={}", "/data/*.csv?sig={}&se=1", "s3://b/k?X-Amz-Signature={}", "https://m.example/x?key={}&a=b"),
    *("wasbs://c@a.blob.core.windows.net/x?sig={}", "dt=1/token={}/part-0", "gs://b/x?X-Goog-Signature={}"),
]
_QUOTED = [
    *("password='{} x'", "token='{} x'", "PASSWORD('{} x')", "('password','{} x')", "{{'password': '{} x'}}"),
    *("['--password', '{} x']", "conf['password'] = '{} x'", "IDENTIFIED BY '{} x'", "WITH PASSWORD '{} x'"),
    *("OPTIONS ('my.password' '{} x')", "OPTIONS (url 'a', token '{} x')", "OPTIONS ('fs.s3a.secret.key' = '{} x')"),
    *("aes_encrypt(name, '{} x')", "aes_decrypt(unbase64(a), '{} x', 'GCM')", "map('a', 'b', 'password', '{} x')"),
    *("<user password='{} x'/>", "<property name='password' value='{} x'/>", "<entry key='password'>{} x</entry>"),
    *("concat('password=', '{} x')", "'password=' || '{} x'", "'{} x' AS password", "token IN ('{} x')"),
    *("coalesce(token, '{} x')", "format_string('password=%s', '{} x')"),
    *("sv=1&sig='{}0123456789'", "sig='{}0123456789abc'", "pgp_sym_encrypt(d, '{} x')", "password=SecretStr('{} x')"),
]
_TOKENS = {
    "aws key id": "AKIAIOSFODNN7EXAMPLE",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "github": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github fine": "github_pat_11ABCDEFG0123456789_abcdefghij",
    "gitlab": "glpat-ABCDEFGHIJ0123456789",
    "slack": "xoxb-1234567890-abcdefghij",
    "databricks": "dapi0123456789abcdef0123456789abcdef",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123",
    "google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "stripe": "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "hugging face": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "npm": "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi": "pypi-AgEIcHlwaS5vcmcCJDU3NTY",
    "sendgrid": "SG." + "abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz",
    "vault": "hvs.CAESIabcdefghijklmnopqrstu",
    "azure client": "abc8Q~abcdefghijklmnopqrstuvwxyzABCDEF01",
    "azure storage": "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    "service bus": "Rk9vQmFyQmF6UXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo=",
    "twilio": "SK0123456789abcdef0123456789abcdef",
    "dynatrace": "dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX." + "A1B2C3D4" * 8,
    "pem": "-----BEGIN PRIVATE KEY-----\nMIIZq7pLanted\n-----END PRIVATE KEY-----",
}


def shapes() -> list[Shape]:
    """All of them: named, in addresses, quoted, by look; and each in a literal of SQL, in JSON, or percent-encoded."""
    found = [Shape(template, template.format(MARKER)) for template in (*_NAMED, *_ADDRESSES, *_QUOTED)]
    for template in _QUOTED:
        text = template.format(MARKER)
        found.append(Shape(f"'{template}' doubled", "SELECT '" + text.replace("'", "''") + " z' AS a"))
        found.append(Shape(f"'{template}' escaped", "SELECT '" + text.replace("'", "\\'") + " z' AS a"))
        found.append(Shape(f"{template} in JSON", json.dumps({"sql": text})))
        found.append(Shape(f"{template} with entities", html.escape(text)))
    for template in _ADDRESSES:
        text = template.format(MARKER)
        found.append(Shape(f"{template} percent-encoded", f"/t/note={quote(text, safe='')}"))
        found.append(Shape(f"{template} in SQL", f"SELECT '{text}' AS a, `b`"))
    for template in (*_ADDRESSES[:6], "password={}"):
        encoded = base64.b64encode(template.format(MARKER).encode()).decode()
        found.append(Shape(f"{template} in Base64", f"conf {encoded}", encoded))
    for name, token in _TOKENS.items():
        found.append(Shape(name, token, token))
        found.append(Shape(f"{name} in SQL", f"SELECT '{token}' AS a", token))
        found.append(Shape(f"{name} as an alias", f"SELECT 1 AS `{token}`", token))
    return found


def leaks(planted: Iterable[Shape], *, places: dict[str, str | bytes]) -> list[str]:
    """Occurrences of secrets in any of their spellings, each secret once: place, shape and the text around it."""
    texts = {
        name: each.decode("utf-8", "replace") if isinstance(each, bytes) else each for name, each in places.items()
    }
    secrets = {form: shape.name for shape in planted for form in _forms(shape.secret)}
    return [
        f"{place}: {name}: …{text[max(0, found - 80) : found + len(secret) + 40]}…"
        for secret, name in secrets.items()
        for place, text in texts.items()
        if (found := text.find(secret)) >= 0
    ]


def _forms(secret: str) -> set[str]:
    return {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}


def with_text(value: Any, text: str, but: frozenset[str]) -> Any:
    """An event, or a part of one, with a text in the place of each of its texts but those of some fields."""
    if type(value) is str:
        return text
    if isinstance(value, tuple):
        return tuple(with_text(each, text, but) for each in value)
    if isinstance(value, dict):
        return {name: json.dumps({"planted": text}) for name in value}
    if isinstance(value, msgspec.Struct):
        changes = {
            name: with_text(getattr(value, name), text, but) for name in value.__struct_fields__ if name not in but
        }
        return msgspec.structs.replace(value, **changes)
    return value


def document(shape: Shape, number: int, event: dict[str, Any]) -> dict[str, Any]:
    """An OpenLineage event with a shape in every place where a client may put a text."""
    text = shape.text
    facet = {"_producer": "https://h/p", "_schemaURL": "https://h/s"}
    named = dict(_members(text, facet))
    for side in ("inputs", "outputs"):
        event[side][0]["facets"] = {
            "dataSource": {**facet, "name": text, "uri": text},
            "schema": {**facet, "fields": [{"name": text, "type": "string", "description": text}]},
            "symlinks": {**facet, "identifiers": [{"namespace": text, "name": text, "type": "TABLE"}]},
            "documentation": {**facet, "description": text},
            "tags": {**facet, "tags": [{"key": text, "value": text}, {"key": "password", "value": shape.secret}]},
        }
        event[side].append({"namespace": text, "name": f"{text} {number}", "facets": {}})
    event["run"]["facets"] = {**named, "errorMessage": {**facet, "message": text, "programmingLanguage": "JAVA"}}
    event["job"]["facets"] = {"sql": {**facet, "query": text}, "documentation": {**facet, "description": text}}
    event["job"]["name"] = f"{text} {number}"
    return event


def _members(text: str, facet: dict[str, str]) -> Iterator[tuple[str, Any]]:
    yield "spark_properties", {**facet, "properties": {"spark.app.name": text, "spark.my.password": MARKER, text: "x"}}
    variables = [{"name": "DB_PASSWORD", "value": MARKER}, {"name": "X", "value": text}]
    yield "environmentVariables", {**facet, "environmentVariables": variables}
