"""Whatever is done to one line of an audit shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_audit.chain import canonical, digest
from headwater_audit.signing import Signer
from headwater_audit.verifying import AuditFault, Verification
from headwater_audit.writer import AuditWriter
from support.audit import Memory, chain_of, placed, record, signer, verified, write
from support.examples import examples
from support.waiting import patience

if TYPE_CHECKING:
    import pytest

KEY = signer()


def two_processes() -> list[bytes]:
    """Two chains whose lines alternate in one file, and a third behind them."""
    memory = Memory()
    one = AuditWriter(memory, signer=KEY, head_records=4, timeout_seconds=patience(30))
    one.write(record(0))
    other = AuditWriter(memory, signer=KEY, head_records=4, timeout_seconds=patience(30))
    for number in range(1, 12):
        (other if number % 2 else one).write(record(number))
    one.close()
    other.close()
    write(AuditWriter(memory, signer=KEY, head_records=4, timeout_seconds=patience(30)), 1, first=12)
    return memory.lines


LINES = two_processes()
CLEAN = verified(placed(LINES), [KEY.public])


def shows(found: Verification) -> bool:
    """An end that is missing can't be told from a process that was killed: it shows as a chain that isn't closed."""
    return found.found > 0 or len(found.unclosed) > 0


def test_untouched_lines_have_no_findings() -> None:
    assert (CLEAN.findings, CLEAN.unclosed, CLEAN.unfinished) == ((), (), ())
    assert (CLEAN.records, CLEAN.chains, CLEAN.lines) == (13, 3, len(LINES))
    assert CLEAN.heads_checked > 6


@settings(max_examples=examples(200))
@given(st.data())
def test_a_changed_byte_is_found(data: st.DataObject) -> None:
    lines = list(LINES)
    number = data.draw(st.integers(0, len(lines) - 1))
    line = bytearray(lines[number])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte not in (line[at], 10)))
    lines[number] = bytes(line)
    found = verified(placed(lines), [KEY.public])
    assert found.found
    assert any(finding.place == f"a:{number + 1}" for finding in found.findings), found.findings


@settings(max_examples=examples(200))
@given(st.data())
def test_a_changed_member_with_a_new_hash_is_found(data: st.DataObject) -> None:
    """By somebody who knows how lines are made, and has no key."""
    lines = list(LINES)
    number = data.draw(st.integers(0, len(lines) - 1))
    members = json.loads(lines[number])
    name = data.draw(st.sampled_from(sorted(members.keys() - {"hash"})))
    members[name] = another(members[name])
    lines[number] = rehashed(members)
    found = verified(placed(lines), [KEY.public])
    assert shows(found)
    assert found.found or number == len(lines) - 1


def another(value: Any) -> Any:
    match value:
        case str():
            return f"{value}x"
        case int() | float():
            return value + 1
        case _:
            return "x"


def rehashed(members: dict[str, Any]) -> bytes:
    members.pop("hash", None)
    return canonical({**members, "hash": digest(canonical(members))})


@settings(max_examples=examples(100))
@given(st.integers(0, len(LINES) - 1))
def test_a_removed_line_is_found(number: int) -> None:
    found = verified(placed(LINES[:number] + LINES[number + 1 :]), [KEY.public])
    assert shows(found)
    assert found.found or number == len(LINES) - 1


@settings(max_examples=examples(100))
@given(st.integers(0, len(LINES) - 1), st.integers(0, len(LINES)))
def test_a_line_that_is_there_twice_is_found(number: int, to: int) -> None:
    assert verified(placed([*LINES[:to], LINES[number], *LINES[to:]]), [KEY.public]).found


@settings(max_examples=examples(100))
@given(st.integers(0, len(LINES) - 1), st.integers(0, len(LINES) - 1))
def test_two_swapped_lines_are_found(one: int, other: int) -> None:
    lines = list(LINES)
    lines[one], lines[other] = lines[other], lines[one]
    assert bool(verified(placed(lines), [KEY.public]).found) == (one != other)


@settings(max_examples=examples(50))
@given(st.integers(0, len(LINES)), st.sampled_from([b"", b"{}", b"null", b"[" * 5_000, b"\xff\xfe", b'{"hash":1}']))
def test_an_inserted_line_that_is_none_is_found(at: int, garbage: bytes) -> None:
    assert verified(placed([*LINES[:at], garbage, *LINES[at:]]), [KEY.public]).found


@settings(max_examples=examples(50))
@given(st.integers(0, len(LINES)), st.integers(0, 3))
def test_an_inserted_chain_of_somebody_without_the_key_is_found(at: int, count: int) -> None:
    found = verified(placed([*LINES[:at], *chain_of(count), *LINES[at:]]), [KEY.public])
    assert found.found
    assert AuditFault.SIGNATURE in {finding.fault for finding in found.findings}


def test_a_whole_chain_that_is_removed_is_found() -> None:
    chains = {json.loads(line)["chain"]: None for line in LINES}
    for chain in list(chains)[:-1]:
        assert verified(placed([line for line in LINES if chain.encode() not in line]), [KEY.public]).found


def test_a_line_says_where_and_what(subtests: pytest.Subtests) -> None:
    lines = chain_of(3, head_records=100)  # OPENED, three records, CLOSED
    changed = lines[2].replace(b"ci", b"me")
    cases = {
        AuditFault.CHANGED: ([*lines[:2], changed, *lines[3:]], ["a:3"]),
        AuditFault.REWRITTEN: ([*lines[:2], rehashed(json.loads(changed)), *lines[3:]], ["a:4"]),
        AuditFault.GAP: ([*lines[:2], *lines[3:]], ["a:3"]),
        AuditFault.REPEATED: ([*lines[:3], lines[1], *lines[3:]], ["a:4"]),
        AuditFault.BEGINNING: (lines[1:], ["a:1"]),
        AuditFault.AFTER_END: ([*lines, lines[3]], ["a:6"]),
        AuditFault.NOT_A_LINE: ([*lines[:2], b"{", *lines[2:]], ["a:3"]),
    }
    for fault, (tampered, places) in cases.items():
        with subtests.test(fault=fault):
            found = verified(placed(tampered))
            assert [each.place for each in found.findings if each.fault is fault] == places


def test_the_end_that_is_cut_off_shows_by_an_earlier_head() -> None:
    before = verified(placed(LINES), [KEY.public])
    for count in range(len(LINES)):
        cut = verified(placed(LINES[:count]), [KEY.public], before.heads)
        assert AuditFault.END in {finding.fault for finding in cut.findings}
    for count in range(len(LINES)):
        # Of a file that grew since, nothing is missing.
        earlier = verified(placed(LINES[:count]), [KEY.public])
        assert not verified(placed(LINES), [KEY.public], earlier.heads).found
        # Nor of one whose beginning is in an archive, verified by then.
        rest = verified(placed(LINES[count:]), [KEY.public], earlier.heads)
        assert not rest.found or not count, rest.findings


def test_a_process_that_was_killed_is_told_apart() -> None:
    lines = chain_of(6, by=KEY)[:-2]
    found = verified(placed(lines), [KEY.public])
    assert not found.found
    (open_,) = found.unclosed
    assert (open_.sequence, open_.place) == (len(lines) - 1, f"a:{len(lines)}")
    assert open_.uncovered == sum(b'"OUTCOME"' in line for line in lines) - 4


def test_lines_of_a_topic_need_no_common_order() -> None:
    memory = Memory(ordered=False)
    for first in (0, 3):
        write(AuditWriter(memory, signer=KEY, timeout_seconds=patience(30)), 3, first)
    one, other = memory.lines[:5], memory.lines[5:]
    mixed = [line for pair in zip(one, other, strict=True) for line in pair]
    assert not verified(placed(mixed, "topic"), [KEY.public]).found
    assert verified(placed(mixed[:4] + mixed[6:], "topic"), [KEY.public]).found


def test_another_key_is_not_this_one() -> None:
    other = Signer(Ed25519PrivateKey.generate())
    forged = chain_of(3, by=other)
    assert not verified(placed(forged), [other.public]).found
    found = verified(placed(forged), [KEY.public])
    assert {finding.fault for finding in found.findings} == {AuditFault.SIGNATURE}
    assert found.found == found.heads_checked == 2
