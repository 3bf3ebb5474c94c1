"""Each privacy operation has an edge that is one, and one that nearly is."""

from __future__ import annotations

import pytest

from headwater_consumers.analysis.privacy.operations import Effect, Exposure, Operation, effect_of, functions_around

READABLE, LINKABLE, MASKED, ENCRYPTED = Exposure


@pytest.mark.parametrize(
    ("kind", "masking", "text", "operation", "exposure"),
    [
        ("COPY", False, None, Operation.COPY, READABLE),
        ("RENAME", False, None, Operation.COPY, READABLE),
        ("CAST", False, "cast(ssn as string)", Operation.COPY, READABLE),
        # Marked as masking, a copy isn't one: whoever declared it knows that nobody can read it back.
        ("COPY", True, None, Operation.COPY, MASKED),
        ("DERIVE", False, "substring(ssn, 1, 3)", Operation.DERIVE, READABLE),
        ("EXTERNAL", False, "clean(ssn)", Operation.DERIVE, READABLE),
        ("AGGREGATE", False, "max(ssn)", Operation.AGGREGATE, READABLE),
        ("AGGREGATE", True, "count(ssn)", Operation.AGGREGATE, MASKED),
        ("AGGREGATE", True, "collect_list(sha2(ssn, 256))", Operation.AGGREGATE, LINKABLE),
        ("MASK", True, "mask(ssn, 'X', 'x', 'n', null)", Operation.MASK, MASKED),
        # Another column of the same formula is encrypted; this one is masked.
        ("MASK", True, "concat(mask(ssn), aes_encrypt(name, ?))", Operation.MASK, MASKED),
        ("HASH", True, "sha2(ssn, 256)", Operation.HASH, LINKABLE),
        ("HASH", False, None, Operation.HASH, LINKABLE),
        # The other column is hashed; this one stays readable beside it.
        ("DERIVE", False, "concat(sha2(name, 256), ssn)", Operation.DERIVE, READABLE),
        ("MASK", True, "tokenize(ssn)", Operation.TOKENIZE, LINKABLE),
        ("MASK", True, "main.privacy.Tokenize(ssn)", Operation.TOKENIZE, LINKABLE),
        # A UDF of that name may split words.
        ("EXTERNAL", False, "tokenize(ssn)", Operation.DERIVE, READABLE),
        ("MASK", True, "base64(aes_encrypt(cast(ssn as binary), ?))", Operation.ENCRYPT, ENCRYPTED),
        ("MASK", True, "mask(ssn, 'aes_encrypt(ssn)')", Operation.MASK, MASKED),
    ],
)
def test_an_operation(kind: str, masking: bool, text: str | None, operation: Operation, exposure: Exposure) -> None:
    found = effect_of(kind, masking=masking, expression=text, field="ssn")
    assert (found.operation, found.after(READABLE)) == (operation, exposure)


def test_what_is_encrypted_is_read_by_who_decrypts_it_and_what_is_hashed_is_not() -> None:
    found = effect_of("DERIVE", masking=False, expression="aes_decrypt(unbase64(secret), ?)", field="secret")
    assert found.after(ENCRYPTED) is READABLE
    assert found.after(LINKABLE) is LINKABLE
    other = effect_of("DERIVE", masking=False, expression="concat(secret, aes_decrypt(key, ?))", field="secret")
    assert other.after(ENCRYPTED) is ENCRYPTED


@pytest.mark.parametrize(
    ("text", "statistic"),
    [
        ("sum(ssn)", True),
        ("round(avg(cast(ssn as double)), 1)", True),
        ("mean", True),
        ("max(ssn)", False),
        ("max(sum(ssn))", False),
        ("(sum(ssn) + max(ssn))", False),
        ("(sum(ssn) + max(other))", True),
        ("my_aggregate(ssn)", False),
        ("collect_list(ssn)", False),
        (None, False),
    ],
)
def test_a_statistic_hands_out_no_row_s_value(text: str | None, statistic: bool) -> None:
    assert effect_of("AGGREGATE", masking=False, expression=text, field="ssn").statistic is statistic
    # Nothing else is one, whatever it is called.
    assert not effect_of("DERIVE", masking=False, expression=text, field="ssn").statistic


def test_a_black_box_is_only_possible() -> None:
    assert effect_of("UNKNOWN", masking=False, expression=None, field="ssn") == Effect(Operation.DERIVE, possible=True)
    assert not effect_of("DERIVE", masking=False, expression=None, field="ssn").possible


@pytest.mark.parametrize(
    ("text", "field", "functions"),
    [
        ("f(g(a), b)", "a", {"f", "g"}),
        ("f(g(a), b)", "b", {"f"}),
        ("f(g(a), `b c`)", "b c", {"f"}),
        ("f(value.a.b)", "value.a.b", {"f"}),
        ("f(value.a.b)", "value.a", {"f"}),
        ("a(b)", "a", {"a"}),
        ("(a + b)", "a", set()),
        ("f('it''s (a')", "z", {"f"}),
        (")))((", "a", set()),
        ("", "a", set()),
    ],
)
def test_functions_around_a_field(text: str, field: str, functions: set[str]) -> None:
    assert functions_around(text, field) == functions
