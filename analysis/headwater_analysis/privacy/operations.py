"""Operation of a transformation on a sensitive value, by the kind of the edge and the functions around the value.

The kind of an edge is about its own input: in `concat(sha2(ssn, 256), name)` the edge of `ssn` is HASH, the edge of
`name` is DERIVE, and both have the same text. So the text only refines a kind: it separates encryption from other
masks, and aggregates that return a row's value from counts and sums. A name alone protects nothing: a UDF called
`tokenize` may split words, and stays DERIVE unless capture or a declaration marks the edge as masking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Operation(StrEnum):
    """Operation of a job on a sensitive value.

    - COPY: passes the value on: copied, renamed, cast.
    - DERIVE: computes something from the value, or passes it to a black box.
    - AGGREGATE: computes something from the values of many rows.
    - MASK: replaces characters of the value.
    - HASH: hashes the value: equal values stay equal, so it can be linked and guessed.
    - TOKENIZE: replaces the value by a token that somebody can turn back.
    - ENCRYPT: encrypts the value: readable with the key.
    - DROP: leaves the value out.
    """

    COPY = "COPY"
    DERIVE = "DERIVE"
    AGGREGATE = "AGGREGATE"
    MASK = "MASK"
    HASH = "HASH"
    TOKENIZE = "TOKENIZE"
    ENCRYPT = "ENCRYPT"
    DROP = "DROP"


class Exposure(StrEnum):
    """Exposure of a sensitive value to a reader of a column.

    - READABLE: the value, or something computed from it.
    - LINKABLE: a substitute of the value: equal substitutes belong to the same person.
    - MASKED: something from which the value can't be recovered.
    - ENCRYPTED: nothing without the key.
    """

    READABLE = "READABLE"
    LINKABLE = "LINKABLE"
    MASKED = "MASKED"
    ENCRYPTED = "ENCRYPTED"


EXPOSURES: Final = tuple(Exposure)
"""Exposures, the worst first."""

_ENCRYPTS: Final = frozenset({"aes_encrypt", "try_aes_encrypt", "encrypt", "pgp_sym_encrypt", "pgp_pub_encrypt"})
_DECRYPTS: Final = frozenset({"aes_decrypt", "try_aes_decrypt", "decrypt", "pgp_sym_decrypt", "pgp_pub_decrypt"})
_HASHES: Final = frozenset({"sha2", "sha", "sha1", "md5", "xxhash64", "hash", "crc32", "sha256", "sha512", "hmac"})
_TOKENIZES: Final = frozenset({"tokenize", "tokenise", "detokenizable", "fpe_encrypt", "pseudonymize", "pseudonymise"})
_STATISTICS: Final = frozenset(
    {
        *("sum", "try_sum", "avg", "try_avg", "mean", "count", "count_if", "approx_count_distinct", "regr_count"),
        *("stddev", "stddev_pop", "stddev_samp", "std", "variance", "var_pop", "var_samp", "corr", "covar_pop"),
        *("covar_samp", "skewness", "kurtosis", "regr_slope", "regr_intercept", "regr_r2", "regr_avgx", "regr_avgy"),
    }
)
"""Aggregates from which no value of a single row can be read, if there are enough rows."""
_SELECTS: Final = frozenset(
    {
        *("max", "min", "first", "last", "first_value", "last_value", "any_value", "nth_value", "max_by", "min_by"),
        *("collect_list", "collect_set", "array_agg", "listagg", "string_agg", "mode", "median", "percentile"),
        *("percentile_cont", "percentile_disc", "percentile_approx", "approx_percentile", "histogram_numeric", "lag"),
        *("lead", "approx_top_k", "bit_or", "bit_and", "bit_xor"),
    }
)
"""Aggregates that return the value of a single row."""
_OF_KIND: Final = {
    "COPY": Operation.COPY,
    "RENAME": Operation.COPY,
    "CAST": Operation.COPY,
    "MASK": Operation.MASK,
    "HASH": Operation.HASH,
    "AGGREGATE": Operation.AGGREGATE,
}
_EXPOSES: Final = {
    Operation.MASK: Exposure.MASKED,
    Operation.HASH: Exposure.LINKABLE,
    Operation.TOKENIZE: Exposure.LINKABLE,
    Operation.ENCRYPT: Exposure.ENCRYPTED,
}
BLACK_BOXES: Final = frozenset({"EXTERNAL", "UNKNOWN"})
"""Kinds of transformations that column lineage can't look into."""
_WORD = re.compile(r"'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|[^\W\d][\w.]*|[()]", re.UNICODE)
_MOST_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of an edge on a sensitive value.

    Attributes:
        exposure: form of the value from here on; None: unchanged.
        decrypts: whether the edge makes an encrypted value readable.
        statistic: whether an AGGREGATE returns no single row's value, so that a large enough group hides single rows.
        possible: whether the value is only possibly passed on: the edge is a black box.
    """

    operation: Operation
    exposure: Exposure | None = None
    decrypts: bool = False
    statistic: bool = False
    possible: bool = False

    def after(self, before: Exposure) -> Exposure:
        """Exposure after the edge, for the exposure before it."""
        if self.exposure is not None:
            return self.exposure
        return Exposure.READABLE if self.decrypts and before is Exposure.ENCRYPTED else before


def effect_of(kind: str, *, masking: bool, expression: str | None, field: str | None) -> Effect:
    """Effect of an edge on the value of its input.

    Args:
        masking: whether the original value can't be recovered.
        expression: formula of the output in terms of input fields, where known.
        field: path of the input.
    """
    around = functions_around(expression or "", field)
    operation = _OF_KIND.get(kind, Operation.DERIVE)
    if operation is Operation.MASK or (masking and operation is Operation.DERIVE):
        operation = _mask(around, Operation.MASK)
    exposure = _EXPOSES.get(operation)
    if exposure is None and masking:
        exposure = _EXPOSES[_mask(around, Operation.HASH if around & _HASHES else Operation.MASK)]
    return Effect(
        operation,
        exposure,
        decrypts=exposure is None and bool(around & _DECRYPTS),
        statistic=operation is Operation.AGGREGATE and bool(around & _STATISTICS) and not around & _SELECTS,
        possible=kind in BLACK_BOXES,
    )


def _mask(around: frozenset[str], otherwise: Operation) -> Operation:
    if around & _ENCRYPTS:
        return Operation.ENCRYPT
    return Operation.TOKENIZE if around & _TOKENIZES else otherwise


def functions_around(text: str, field: str | None) -> frozenset[str]:
    """Names, in lower case and without catalog, of the functions whose arguments contain the field.

    If the text doesn't contain the field: names of all functions in it. A text of one word is a function's name.
    """
    words = _WORD.findall(text[:_MOST_TEXT])
    if len(words) == 1:
        return frozenset({words[0].lower()})
    stack: list[str] = []
    found: set[str] = set()
    every: set[str] = set()
    is_there = False
    for number, word in enumerate(words):
        if word == "(":
            before = words[number - 1] if number else ""
            name = before.rpartition(".")[2].lower() if before not in ("", "(", ")") and before[0] not in "'`" else ""
            stack.append(name)
            every.add(name)
        elif word == ")":
            if stack:
                stack.pop()
        elif field is not None and word.replace("`", "") == field and words[number + 1 : number + 2] != ["("]:
            is_there = True
            found.update(stack)
    return frozenset((found if is_there else every) - {""})
