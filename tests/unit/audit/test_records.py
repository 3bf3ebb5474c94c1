"""Records hold no secrets, and no text in one can end a line or act on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_audit.errors import AuditKeyError
from headwater_audit.file import lines_of
from headwater_audit.record import LONGEST_VALUE, MOST_CHARACTERS, MOST_VALUES, Kind, filters_of
from headwater_audit.searching import AuditQuery, Outcome
from headwater_audit.signing import is_signed, load_signer, make_key, public_key
from headwater_audit.writer import AuditWriter
from support.audit import START, Memory, file_writer, placed, record, verified
from support.examples import examples
from support.waiting import patience

HOSTILE = [
    "a\nb",
    "a\r\n{}",
    "\x1b]0;owned\x07",
    "\u202eexe.invoice",
    "\u2028",
    "\ud800",
    '","chain":"forged',
    "\x00",
    "",
    "é" * 5_000,
]


def test_hostile_texts_are_on_one_line_of_ascii(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = file_writer(path)
    for number, text in enumerate(HOSTILE):
        filters, _ = filters_of([(text, text)])
        hostile = record(number, filters=filters, tenant=text, address=text, method=text, rules=(text,))
        writer.write(hostile)
    writer.close()
    assert path.read_bytes().translate(None, b"\n").isascii()
    assert all(32 <= byte < 127 or byte == 10 for byte in path.read_bytes())
    found = verified(lines_of([path]))
    assert (found.findings, found.records) == ((), len(HOSTILE))
    kept = [json.loads(line.data) for line in lines_of([path]) if b'"OUTCOME"' in line.data]
    assert [each["tenant"] for each in kept[:9]] == HOSTILE[:9]


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.text(), st.text()), max_size=100))
def test_whatever_the_parameters_are_a_record_is_bounded(parameters: list[tuple[str, str]]) -> None:
    filters, left_out = filters_of(parameters)
    values = [value for values in filters.values() for value in values]
    assert len(values) + left_out == len(parameters)
    assert len(values) <= MOST_VALUES
    assert all(len(value) <= LONGEST_VALUE for value in values)
    assert len(json.dumps(record(filters=filters).members())) < 400_000


def test_what_is_too_long_to_be_redacted_is_left_out() -> None:
    longest = "x" * (MOST_CHARACTERS - 7)
    assert filters_of([("dataset", longest)])[1] == 0
    assert filters_of([("dataset", longest + "x"), ("column", "a")]) == ({"column": ["a"]}, 1)
    assert filters_of([("dataset", longest), ("column", "a")])[1] == 1


def test_secrets_in_parameters_are_redacted(subtests: pytest.Subtests) -> None:
    secret = "hunter2-is-secret"
    for name, value in [
        ("password", secret),
        ("access_token", secret),
        ("id", f"jdbc:postgresql://bob:{secret}@db/x"),
        ("statement", f"CREATE USER bob IDENTIFIED BY '{secret}'"),
        ("where", f"url=https://db.example/?api_key={secret}"),
        (f"jdbc:postgresql://bob:{secret}@db/x", "x"),
        ("id", f"{'x' * (LONGEST_VALUE - 30)} password={secret}"),
    ]:
        with subtests.test(name=name, value=value[:80]):
            filters, _ = filters_of([(name, value)])
            assert secret[:6] not in json.dumps(filters)
            assert filters


def test_a_key_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    public = make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    signer = load_signer(path)
    assert signer.public == public == public_key(f" {public}=\n")
    assert is_signed(public, signer.sign(b"data"), b"data")
    assert not is_signed(public, signer.sign(b"data"), b"date")
    assert not is_signed(public, "AAAA", b"data")
    assert "PRIVATE" not in repr(vars(signer))
    with pytest.raises(AuditKeyError, match="exists"):
        make_key(path)
    path.chmod(0o640)
    with pytest.raises(AuditKeyError, match="Others may read"):
        load_signer(path)


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.touch(0o600)
    path.write_text("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n")
    with pytest.raises(AuditKeyError) as raised:
        load_signer(path)
    assert "hunter2" not in str(raised.value)
    with pytest.raises(AuditKeyError, match="can't be read"):
        load_signer(tmp_path / "missing")
    for text in ("", "abc", "x" * 43, "ä" * 43):
        with pytest.raises(AuditKeyError, match="43 characters"):
            public_key(text)


def test_a_search_finds_what_matches(subtests: pytest.Subtests) -> None:
    memory = Memory()
    writer = AuditWriter(memory, timeout_seconds=patience(30))
    made = [
        record(0),
        record(1, status=404),
        record(2, status=403),
        record(3, decision="deny", status=404),
        record(4, operation=None, command="dlq replay", status=None, exit=0),
        record(5, operation=None, command="dlq replay", status=None, exit=4),
        record(6, status=None),
        record(7, Kind.INTENT, status=None),
    ]
    for each in made:
        writer.write(each)
    writer.close()
    lines = [*placed(memory.lines), *placed([b"garbage", b"[]", b'{"kind":"OUTCOME"}'])]
    cases = {
        AuditQuery(): [0, 1, 2, 3, 4, 5, 6, 7],
        AuditQuery(subject="ci"): [0, 1, 2, 3, 4, 5, 6, 7],
        AuditQuery(subject="token:ci"): [0, 1, 2, 3, 4, 5, 6, 7],
        AuditQuery(subject="oidc:ci"): [],
        AuditQuery(since=made[2].time, until=made[4].time): [2, 3],
        AuditQuery(operation="asset"): [0, 1, 2, 3, 6, 7],
        AuditQuery(operation="dlq replay"): [4, 5],
        AuditQuery(outcome=Outcome.DONE): [0, 4],
        AuditQuery(outcome=Outcome.REFUSED): [2, 3],
        AuditQuery(outcome=Outcome.FAILED): [1, 5, 6],
        AuditQuery(dataset="orders-5"): [5],
        AuditQuery(dataset="orders"): [0, 1, 2, 3, 4, 5, 6, 7],
        AuditQuery(since=START, dataset="nothing"): [],
    }
    for query, expected in cases.items():
        with subtests.test(query=query):
            found = [int(each["request"].rpartition("-")[2]) for _, each in query.matching(lines)]
            assert found == expected
