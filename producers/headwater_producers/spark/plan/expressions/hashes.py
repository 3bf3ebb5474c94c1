"""One-way functions: hashes, masks, encryption."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import ValueLineage
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_schemas.events import TransformationKind as Kind


def digest(call: Call) -> ValueLineage:
    """Read a hash of the arguments."""
    return call.step(Kind.HASH, masking=True)


def mask(call: Call) -> ValueLineage:
    """Read a mask, which replaces characters, or an encryption."""
    return call.step(Kind.MASK, masking=True)


def decrypted(call: Call) -> ValueLineage:
    """Read a decryption: the value in plain text, no longer masked."""
    value, *_ = call.arguments
    plain = (replace(d, kind=Kind.DERIVE, masking=False) if d.kind is Kind.MASK else d for d in value.direct)
    return call.step(Kind.DERIVE, [replace(value, direct=frozenset(plain)), *call.arguments[1:]])


HASHES: dict[str, Rule] = {
    **rules(
        digest,
        "Md5 Sha1 Sha2 Hmac Crc32 XxHash64 Murmur3Hash HiveHash CollationAwareMurmur3Hash CollationAwareXxHash64",
    ),
    **rules(mask, "Mask AesEncrypt TryAesEncrypt"),
    "AesDecrypt": decrypted,
}
