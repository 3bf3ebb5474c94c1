"""Each privacy operation has an edge that is one, and one that nearly is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_analysis.privacy import operations
from headwater_analysis.privacy.operations import Effect, Exposure, Operation, effect_of, functions_around

if TYPE_CHECKING:
    import pytest

READABLE, LINKABLE, MASKED, ENCRYPTED = Exposure


def test_an_operation(subtests: pytest.Subtests) -> None:
    cases = [
        ("COPY", False, None, Operation.COPY, READABLE),
        ("RENAME", False, None, Operation.COPY, READABLE),
        ("CAST", False, "cast(ssn as string)", Operation.COPY, READABLE),
        # Marked as masking, a copy isn't one: whoever declared it knows that nobody can read it back.
        ("COPY", True, None, Operation.COPY, MASKED),
        # Of each operation an edge that is one, and one that differs in its kind, its text or its marking alone.
        ("DERIVE", False, "cast(ssn as string)", Operation.DERIVE, READABLE),
        ("DERIVE", False, "substring(ssn, 1, 3)", Operation.DERIVE, READABLE),
        ("DERIVE", False, "sha2(ssn, 256)", Operation.DERIVE, READABLE),
        ("DERIVE", True, "sha2(ssn, 256)", Operation.MASK, MASKED),
        ("DERIVE", False, "clean(ssn)", Operation.DERIVE, READABLE),
        ("DERIVE", True, "clean(ssn)", Operation.MASK, MASKED),
        ("DERIVE", False, "max(ssn)", Operation.DERIVE, READABLE),
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
        ("EXTERNAL", True, "tokenize(ssn)", Operation.TOKENIZE, LINKABLE),
        ("MASK", True, "main.privacy.Tokenize(ssn)", Operation.TOKENIZE, LINKABLE),
        # A UDF of that name may split words.
        ("EXTERNAL", False, "tokenize(ssn)", Operation.DERIVE, READABLE),
        ("MASK", True, "base64(aes_encrypt(cast(ssn as binary), ?))", Operation.ENCRYPT, ENCRYPTED),
        ("MASK", True, "mask(ssn, 'aes_encrypt(ssn)')", Operation.MASK, MASKED),
        ("MASK", True, "concat(ssn, aes_encrypt(key, ?))", Operation.MASK, MASKED),
    ]
    # DROP has no edge: see `test_what_is_left_out_goes_nowhere` of the spread.
    assert {operation for *_, operation, _ in cases} == {*Operation} - {Operation.DROP}
    for kind, masking, text, operation, exposure in cases:
        with subtests.test(kind=kind, masking=masking, text=text):
            found = effect_of(kind, masking=masking, expression=text, field="ssn")
            assert (found.operation, found.after(READABLE)) == (operation, exposure)


# Functions that make an edge of that kind, masking, more than it says; with another letter in the name they don't.
ENCRYPTING = ("aes_encrypt", "try_aes_encrypt", "encrypt", "pgp_sym_encrypt", "pgp_pub_encrypt")
DECRYPTING = ("aes_decrypt", "try_aes_decrypt", "decrypt", "pgp_sym_decrypt", "pgp_pub_decrypt")
TOKENIZING = ("tokenize", "tokenise", "detokenizable", "fpe_encrypt", "pseudonymize", "pseudonymise")
HASHING = ("sha2", "sha", "sha1", "md5", "xxhash64", "hash", "crc32", "sha256", "sha512", "hmac")
FUNCTIONS = [
    *(("MASK", name, Operation.ENCRYPT, ENCRYPTED, Operation.MASK, MASKED) for name in ENCRYPTING),
    *(("MASK", name, Operation.TOKENIZE, LINKABLE, Operation.MASK, MASKED) for name in TOKENIZING),
    # A formula that is declared to be masking, of which capture knew no more than that it computes something.
    *(("DERIVE", name, Operation.ENCRYPT, ENCRYPTED, Operation.MASK, MASKED) for name in ENCRYPTING),
    *(("AGGREGATE", name, Operation.AGGREGATE, LINKABLE, Operation.AGGREGATE, MASKED) for name in HASHING),
]


def test_the_name_of_a_function(subtests: pytest.Subtests) -> None:
    for kind, name, operation, exposure, otherwise, less in FUNCTIONS:
        with subtests.test(
            kind=kind, name=name, operation=operation, exposure=exposure, otherwise=otherwise, less=less
        ):
            for text, expected in (
                (f"max({name}(ssn, ?))", (operation, exposure)),
                (f"max(main.privacy.{name.upper()}(ssn))", (operation, exposure)),
                (f"max({name}x(ssn, ?))", (otherwise, less)),
                (f"concat({name}(other), max(ssn))", (otherwise, less)),
            ):
                found = effect_of(kind, masking=True, expression=text, field="ssn")
                assert (found.operation, found.after(READABLE)) == expected, text


def test_the_name_of_a_function_that_decrypts(subtests: pytest.Subtests) -> None:
    for name in DECRYPTING:
        with subtests.test(name=name):
            found = {
                text: effect_of("DERIVE", masking=False, expression=f"{text}(ssn, ?)", field="ssn").after(ENCRYPTED)
                for text in (name, f"{name}x")
            }
            assert found == {name: READABLE, f"{name}x": ENCRYPTED}
            # What is masked again isn't readable.
            assert not effect_of("HASH", masking=True, expression=f"sha2({name}(ssn, ?))", field="ssn").decrypts


STATISTICS = (
    "sum", "try_sum", "avg", "try_avg", "mean", "count", "count_if", "approx_count_distinct", "regr_count", "stddev",
    "stddev_pop", "stddev_samp", "std", "variance", "var_pop", "var_samp", "corr", "covar_pop", "covar_samp",
    "skewness", "kurtosis", "regr_slope", "regr_intercept", "regr_r2", "regr_avgx", "regr_avgy",
)  # fmt: skip
SELECTING = (
    "max", "min", "first", "last", "first_value", "last_value", "any_value", "nth_value", "max_by", "min_by",
    "collect_list", "collect_set", "array_agg", "listagg", "string_agg", "mode", "median", "percentile",
    "percentile_cont", "percentile_disc", "percentile_approx", "approx_percentile", "histogram_numeric", "lag",
    "lead", "approx_top_k", "bit_or", "bit_and", "bit_xor",
)  # fmt: skip


def test_the_name_of_a_statistic(subtests: pytest.Subtests) -> None:
    for name in STATISTICS:
        with subtests.test(name=name):
            for text, expected in (
                (f"{name}(ssn)", True),
                (f"{name}x(ssn)", False),
                (f"max(ssn) + {name}(other)", False),
            ):
                assert effect_of("AGGREGATE", masking=False, expression=text, field="ssn").statistic is expected, text


def test_the_name_of_an_aggregate_that_hands_out_a_row_s_value(subtests: pytest.Subtests) -> None:
    for name in SELECTING:
        with subtests.test(name=name):
            for text, expected in ((f"sum({name}(ssn))", False), (f"sum({name}x(ssn))", True)):
                assert effect_of("AGGREGATE", masking=False, expression=text, field="ssn").statistic is expected, text


def test_every_name_has_a_case() -> None:
    lists = (ENCRYPTING, DECRYPTING, TOKENIZING, HASHING, STATISTICS, SELECTING)
    known = (
        operations._ENCRYPTS,
        operations._DECRYPTS,
        operations._TOKENIZES,
        operations._HASHES,
        operations._STATISTICS,
        operations._SELECTS,
    )
    assert tuple(map(frozenset, lists)) == known


def test_what_is_encrypted_is_read_by_who_decrypts_it_and_what_is_hashed_is_not() -> None:
    found = effect_of("DERIVE", masking=False, expression="aes_decrypt(unbase64(secret), ?)", field="secret")
    assert found.after(ENCRYPTED) is READABLE
    assert found.after(LINKABLE) is LINKABLE
    other = effect_of("DERIVE", masking=False, expression="concat(secret, aes_decrypt(key, ?))", field="secret")
    assert other.after(ENCRYPTED) is ENCRYPTED


def test_a_statistic_hands_out_no_row_s_value(subtests: pytest.Subtests) -> None:
    cases = [
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
    ]
    for text, statistic in cases:
        with subtests.test(text=text):
            assert effect_of("AGGREGATE", masking=False, expression=text, field="ssn").statistic is statistic
            # Nothing else is one, whatever it is called.
            assert not effect_of("DERIVE", masking=False, expression=text, field="ssn").statistic


def test_a_black_box_is_only_possible() -> None:
    assert effect_of("UNKNOWN", masking=False, expression=None, field="ssn") == Effect(Operation.DERIVE, possible=True)
    assert not effect_of("DERIVE", masking=False, expression=None, field="ssn").possible


def test_functions_around_a_field(subtests: pytest.Subtests) -> None:
    cases = [
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
    ]
    for text, field, functions in cases:
        with subtests.test(text=text, field=field):
            assert functions_around(text, field) == functions
