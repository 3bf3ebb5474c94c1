"""Credentials out of text: error messages and stack traces pass through `redact` before they leave the process.

A rule replaces the secret alone, so that what is left still tells what went wrong:

    jdbc:postgresql://bob:hunter2@db/x       ⇒ jdbc:postgresql://[redacted]@db/x
    password=hunter2, user=bob               ⇒ password=[redacted], user=bob
    Authorization: Bearer eyJhbGciOi…        ⇒ Authorization: [redacted]

Over-redaction is accepted, a leak is not: a value ends at whitespace, a quote, or one of `,;&)}]`, and a quoted value
at its closing quote. Every repetition is bounded or can't be entered twice, so the time is linear in the text.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[redacted]"

# What a setting that holds a secret is called, in any spelling: `fs.s3a.secret.key`, `sasl_password`, `ApiKey`.
_SENSITIVE: Final = (
    r"[\w.\-]{0,200}(?:passw(?:or)?d|passphrase|pwd|secret|token|api[._\-]?key|access[._\-]?key|account[._\-]?key"
    r"|private[._\-]?key|sas[._\-]?key|shared[._\-]?key|credential|client[._\-]?secret|connection[._\-]?string)[\w.\-]{0,200}"
)
_VALUE: Final = r"""(?:\[redacted\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&)}\]"']+)"""

_RULES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    # A JAAS configuration is a secret as a whole. It ends with `;`, or with the line.
    (re.compile(r"(sasl\.jaas\.config\"?'?\s*[=:]\s*)[^;\r\n]*;?", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"(\b\w{1,80}LoginModule\s+(?:required|requisite|sufficient|optional))\b[^;\r\n]*;?"), rf"\1 {MASK}"),
    (re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL), MASK),
    # A header's value is its whole line.
    (
        re.compile(r"((?:proxy-)?authorization\"?'?\s*[=:]\s*)(?:\[redacted\]|[^\r\n,}\])]+)", re.IGNORECASE),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9+/_.~\-]{8,}=*", re.IGNORECASE), rf"\1 {MASK}"),
    # `scheme://user:password@host`, where the password may hold `@` and `/` that weren't escaped.
    (
        re.compile(r"(\b[a-z][a-z0-9+.\-]{0,30}://)[^\s/@:\"'<>]{0,256}(?::[^\s\"'<>]{0,1024})?@", re.IGNORECASE),
        rf"\1{MASK}@",
    ),
    # Oracle's `jdbc:oracle:thin:user/password@host`.
    (re.compile(r"(jdbc:oracle:\w+:)[^\s/@\"']{1,256}/[^\s@\"']{1,1024}@", re.IGNORECASE), rf"\1{MASK}@"),
    # `name = value`, `"name": "value"`, `name -> value` (Scala's maps), `--name value`.
    (re.compile(rf"((?<![\w.\-]){_SENSITIVE}[\"']?\s*(?:=>?|:|->)\s*){_VALUE}", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(rf"((?<!-)--{_SENSITIVE}\s+){_VALUE}", re.IGNORECASE), rf"\1{MASK}"),
    # Signed URLs: Azure's `sig=`, S3's `X-Amz-Signature=`.
    (re.compile(r"([?&](?:sig|signature|x-amz-signature|x-goog-signature)=)[^&\s\"']+", re.IGNORECASE), rf"\1{MASK}"),
    # Tokens that are known by their look alone.
    (re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"), MASK),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w\-]{10,}|sk-[\w\-]{20,})"), MASK),
    (re.compile(r"\bdapi[0-9a-f]{32}\b"), MASK),
    (re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]*)?"), MASK),
)


def redact(text: str, *, max_chars: int | None = None) -> str:
    """`text` without what looks like a credential. Idempotent.

    Args:
        text: anything.
        max_chars: cut the result here, after redacting: a cut never exposes half a secret.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    if max_chars is not None and len(text) > max_chars:
        return text[: max_chars - 1] + "…"
    return text
