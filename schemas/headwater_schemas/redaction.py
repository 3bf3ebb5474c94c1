"""Removal of credentials from text: every text that leaves the process passes through `redact`.

`redact` replaces only the secret, so that the rest still shows what went wrong:

    jdbc:postgresql://bob:hunter2@db/x       ⇒ jdbc:postgresql://[redacted]@db/x
    db_pass=hunter2, user=bob                ⇒ db_pass=[redacted], user=bob
    Authorization: Bearer eyJhbGciOi…        ⇒ Authorization: [redacted]
    IDENTIFIED BY 'hunter2'                  ⇒ IDENTIFIED BY [redacted]
    'user=''a'' password=''b c'' x=y'        ⇒ 'user=''a'' password=[redacted] x=y'
    jdbc%3Apostgres%3A%2F%2Fbob%3Ax%40db     ⇒ jdbc:postgres://[redacted]@db

A quoted literal with quotes or escapes in it is judged by its value, as Spark reads it. Percent-encoded text (twice at
most), text with HTML entities, and Base64 are judged by the decoded text. Secrets without a name are recognised by
their shape (`secret_shapes`). Documents and events, whose members have names, are walked by `redacted_values`.

Over-redaction is accepted, a leak is not: a value that isn't quoted ends at whitespace, at a bracket that closes, and
at a comma, semicolon or ampersand behind which another name or a quote begins.

Redaction takes time linear in the text: every repetition is possessive, bounded, or behind a lookbehind that lets it
begin only once in a run of characters; and the scanners of pairs and URIs never return to text that they have read. A
rule is only tried on texts with one of its keywords.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from typing import Final
from urllib.parse import unquote

from headwater_schemas.secret_names import HINTS, is_secret_name
from headwater_schemas.secret_shapes import without_shapes
from headwater_schemas.sql_text import NESTED_QUOTES, arguments, with_literals

MASK: Final = "[redacted]"
_MASKED: Final = re.escape(MASK)

# `TokenCache.scala:12` is a position in a stack trace, `…DelegationTokenExpiredException: text` an error.
_NO_SETTING: Final = re.compile(r"\.(?:java|scala|kt|py|groovy)$|(?:Exception|Error)$")

_NAME: Final = re.compile(r"(?<![\w.\-])(?:[\w.]|-(?!>))++")
_BETWEEN: Final = re.compile(
    r"""(?:\\*+["'`])?+\]?+\s*+(?::=|=>|==?|:(?!:)|->|~>)\s*+"""  # `name = value`, `"name": "value"`, `name -> value`
    r"""|\\*+["']\s*+,\s*+\\*+["']value\\*+["']\s*+:\s*+"""  # {"name": …, "value": …}
)
# `'password=' || 'x'`, `concat('password=', 'x')`.
_CONTINUED: Final = re.compile(rf"""\\*+["']\s*+(?:\|\||\+|,)\s*+(?=\\*+["']|{_MASKED})""")
_COMPARED: Final = re.compile(
    r"""["`]?\s*+(?:(?:!=|<>|<=>)|(?<=\s)(?:not\s++)?(?:i|r)?like\s|(?<=\s)(?:not\s++)?in\s*+(?=\(\s*+\\*+["']))\s*+(?=\(?\s*+\\*+["'])""",
    re.IGNORECASE,
)
_DECLARED: Final = re.compile(  # DECLARE password STRING DEFAULT 'x'
    r"""["`]?\s++\w{1,30}(?:\([\d, ]{1,12}\))?\s++(?:default\s|:?=)\s*+(?=\\*+["'])""", re.IGNORECASE
)
_ALIASED: Final = re.compile(  # 'x' AS password
    r"""(?P<literal>(?<!['\\])'(?:[^'\\]|\\.|''){1,256}+'|(?<!["\\])"(?:[^"\\]|\\.|""){1,256}+")(?P<as>\s++as\s++[`"]?)(?P<name>\w{1,128})""",
    re.IGNORECASE,
)
_IN_XML: Final = re.compile(r"(?:</name>\s*+<value)?+(?:\s[^<>]{0,200})?>")
_OPENS_XML: Final = re.compile(r"<(?:\w{1,10}:)?$")
_IN_XML_ATTRIBUTE: Final = re.compile(r"""\\*+["']\s++value\s*+=\s*+(?=\\*+["'])""", re.IGNORECASE)
_IN_XML_ENTRY: Final = re.compile(r"""\\*+["'](?:\s[^<>]{0,200})?>""")
_NAME_ATTRIBUTE: Final = re.compile(r"""\s(?:name|key|id)\s*+=\s*+\\*+["']$""", re.IGNORECASE)
_IN_OPTIONS: Final = re.compile(r"""\\*+["'`]?\s++(?=\\*+["'])""")
_OPENS_OPTION: Final = re.compile(r"""[(,]\s*+(?:\\*+["'`])?$""")
_OPENS_TUPLE: Final = re.compile(r"""[(\[]\\*+["']$""")
_IN_TUPLE: Final = re.compile(r"""\\*+["']\s*+,\s*+(?=\\*+["'])""")
_AFTER_FLAG: Final = re.compile(r"""(?:["']\s*+,\s*+|\s++)(?!--)""")
_AFTER_KEYWORD: Final = re.compile(r"""(?:\s++\(?|\()\s*+(?=\\*+["'])""")
# A line of `spark-defaults.conf`: `spark.my.password hunter2`. Prose has no digit in the value.
_PROPERTY: Final = re.compile(r"(?:[\w\-]++\.){2,}+[a-z][\w\-]*+")
_AFTER_PROPERTY: Final = re.compile(r"[ \t]++(?=[^\s\d]*+\d)(?=[^\sA-Za-z]*+[A-Za-z])(?=\S{6})")
_PASSWORD: Final = re.compile(
    r"passw(?:or)?d|pass(?:phrase|code)|secret_?access_?key|(?:session|access|security)_?token", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(
    r"(?:null|none|true|false)(?![^\s,;&)}\]\"'<])|\d{1,6} WARN=\d",  # dbt: `PASS=5 WARN=0 ERROR=0`
    re.IGNORECASE,
)
# Types in a schema: `struct<token:string>`, ` |-- token: string (nullable = true)`, `"token": {"type": "string"}`.
_TYPE: Final = re.compile(
    r"(?:string|bigint|int|integer|long|smallint|tinyint|short|byte|float|double|boolean|binary|bytes|date|void|variant"
    r"|timestamp(?:_ntz|_ltz)?|(?:decimal|numeric|varchar|char)(?:\(\d{1,9}(?:,\s?\d{1,3})?\))?"
    r"|(?:array|map|struct)(?:(?=<)|(?= \(nullable)))(?![^\s,;)}\]>(<\"'])",
    re.IGNORECASE,
)
_JSON_SCHEMA: Final = re.compile(
    r"""\{\s*+\\*+"type\\*+"\s*+:\s*+\\*+"(?:string|integer|number|boolean|object|array)\\*+"(?:\s*+\}|"""
    r"""\s*+,\s*+\\*+"(?:description|title|format|minLength|maxLength|pattern|properties|items|nullable|required)\\*+")"""
)
_OTHER_COLUMN: Final = re.compile(r"""(?:[`"]?\w{1,128}[`"]?\.){1,3}[`"]?(\w{1,128})[`"]?(?![\w.@:/\-$!%])""")

_OPENING: Final = re.compile(r"""(?:[bBuUrRfFnN]{1,2}+|\w{1,40}+[(\[])?+(?P<escape>\\*+)(?P<quote>["'`])""")
_CLOSING: Final = {quote: re.compile(rf"(?:[^\\{quote}]|\\.)*+{quote}", re.DOTALL) for quote in "\"'`"}
_BRACKET: Final = re.compile(r"[\[({\])}]")
_BARE: Final = re.compile(
    rf"""{_MASKED}|(?:[^\s,;&)}}\]"'`]"""
    r"""|[,;&](?![\s"'(\[{<]|$|[\w.\-]{1,64}+["']?\s?(?:[=:]|->))"""
    r"""|[)}\]](?=[\w!@\#$%^*])|["'`](?=\w))++"""
)
_YAML_BLOCK: Final = re.compile(r"[|>][+\-]?[ \t]*+(?:\r?\n[ \t]++[^\r\n]*+)++")
_LINE: Final = re.compile(r"[^\r\n]*+")
_MAX_BRACKETED_CHARS: Final = 4_096

_MOST_DECODED: Final = 2
_MOST_NESTED_CALLS: Final = 32
_PERCENT_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY: Final = re.compile(r"&(?:quot|apos|lt|#0?3[49]|#x2[27]);", re.IGNORECASE)
_BASE64: Final = re.compile(r"(?<![\w+/=\-])[\w+/\-]{16,32768}+(?:={1,2}+(?![\w+=\-])|(?![\w+/=\-]))", re.ASCII)
_QUOTE_ENTITY: Final = re.compile(r"&(?:quot|apos|#0?3[49]|#x2[27]);", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[\t\n\r\x20-\x7E]++")
_CALL: Final = re.compile(
    r"(?<!\w)(?:(?P<key>(?:try_)?aes_(?:en|de)crypt|pgp_sym_(?:en|de)crypt\w{0,6}|des_(?:en|de)crypt|(?:en|de)crypt)"
    r"|(?P<first>(?:en|de)cryptbypassphrase)|(?P<map>map|create_map|named_struct|object_construct)"
    r"|(?P<other>coalesce|nvl|ifnull|format|format_string|printf))\s{0,8}+\(",
    re.IGNORECASE,
)
_LITERAL: Final = re.compile(r"""\s*+\\*+(?:'[^']|"[^"])""")
_KEY_ARGUMENT: Final = re.compile(r"""['"]|(?<!\w)0[xX][0-9A-Fa-f]""")
_MODE: Final = re.compile(
    r"""(?:\w{1,10}\s*+=>\s*+)?['"](?:ECB|CBC|GCM|DEFAULT|NONE|PKCS|aes[\w\-]{0,16})['"]""", re.IGNORECASE
)

# Words this short are never redacted: a secret is longer, or a sign joins the secret with its name.
_HARMLESS: Final = re.compile(r"[\w./]{0,15}")
_USUAL_CHARS: Final = 1_000
_LONG_CHARS: Final = 32_768
"""Maximum length of cached long texts: a SQL statement is in several events."""
_SCHEME: Final = re.compile(r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,30}+:/{1,2}+")
_RUN: Final = re.compile(r"[^\s\"'<>`]*+")
_MAX_USER_INFO_CHARS: Final = 1_280
_USER: Final = re.compile(r"[^\s/@:\"'<>]{0,256}+")
_PORT: Final = re.compile(r":\d{1,5}(?=[/,?#]|$)")
_SCHEMELESS: Final = re.compile(
    r"(?<![\w.+\-%:@])(?!mailto:)[\w.+\-%]{1,64}+:[^\s@/\"'`<>,;]{1,256}+@(?=\[?[\w.\-]{0,255}[A-Za-z\]:])"
)
# Schemes with a container before the @.
_CONTAINERS: Final = frozenset({"abfs", "abfss", "wasb", "wasbs"})
# Hadoop merges the two slashes in `/data/https://token@host`. These URIs have one slash, and a path after it.
_ONE_SLASH: Final = frozenset({"file", "hdfs", "dbfs", "viewfs", "local"})

_QUOTED_OR_WORD: Final = r"""(?:'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.)*+"|[^\s"',;)\]}]++)"""
_LIST: Final = r"""(?:\s++|["']\s*+,\s*+["'])?+"""

# Each rule with keywords in lower case: a text must contain one of them to match.
_RULES: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]] = (
    # PEM and PGP; a block that was cut off ends with the text.
    (
        ("-----begin",),
        re.compile(
            r"-----BEGIN ([A-Z0-9 ]{0,40}+(?:(?<=PRIVATE KEY)|(?<=PRIVATE KEY BLOCK)))-----"
            r".*?(?:-----END \1-----|\Z)",
            re.DOTALL,
        ),
        MASK,
    ),
    # A JAAS configuration is a secret as a whole. It ends with `;`, or with the line.
    (
        ("sasl",),
        re.compile(rf"(sasl\.jaas\.config\\*[\"']?\s*+(?:[=:]|->)\s*+)(?:{_MASKED}|[^;\r\n]*+;?)", re.IGNORECASE),
        rf"\1{MASK}",
    ),
    (
        ("loginmodule",),
        re.compile(
            rf"((?<!\w)\w{{1,80}}LoginModule\s++(?:required|requisite|sufficient|optional))\b(?:\s{_MASKED}|[^;\r\n]*+;?)"
        ),
        rf"\1 {MASK}",
    ),
    # A header's value is its whole line, or the text in its quotes.
    (
        ("authorization",),
        re.compile(
            r"((?<![\w\-])(?:proxy-)?authorization\\*[\"']?\s*+[=:]\s*+)"
            rf"(?:{_MASKED}|(?:digest|oauth|hawk|mac|aws4-[\w\-]{{1,40}})\s[^\r\n]*+|[^\r\n,}}\])]++)",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (
        ("cookie",),
        re.compile(
            r"((?<![\w\-])(?:set-)?cookie2?(?:\\*[\"']\s*+:\s*+(?=\\*[\"'])|\s*+:\s*+))"
            rf"(?:{_MASKED}|\\*\"[^\"\r\n]*+\"?|\\*'[^'\r\n]*+'?|[^\r\n]++)",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (
        ("cookie",),
        re.compile(rf"((?<![\w\-])(?:set-)?cookie2?\s*+(?:=|->)\s*+)(?:{_MASKED}|[^\s,}}\])]++)", re.IGNORECASE),
        rf"\1{MASK}",
    ),
    # Oracle's `jdbc:oracle:thin:user/password@host`, and `sqlplus user/password@host`.
    (
        ("jdbc:oracle",),
        re.compile(
            r"(jdbc:oracle:\w{1,20}+:)[^\s/@\"']{1,256}+/(?:\"[^\"\r\n]{0,256}+\"|[^\s@\"']{1,1024}+)@", re.IGNORECASE
        ),
        rf"\1{MASK}@",
    ),
    (
        ("sqlplus", "sqlldr", "expdp", "impdp"),
        re.compile(
            r"(\b(?:sqlplus|sqlldr|expdp|impdp)\s++(?:-\w++\s++){0,5})[^\s/@\"']{1,256}+/[^\s@\"']{1,1024}+",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # SQL: `CREATE USER bob IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin AS 'hash'`.
    (
        ("identified",),
        re.compile(
            r"(\bidentified\s++(?:(?:with|via)\s++\S{1,100}+\s++)?(?:by|as|using)\s++(?:(?:values|password|random)\s++)?)"
            rf"(?:{_MASKED}|{_QUOTED_OR_WORD})",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # Commands whose flags have no name: `mysql -u bob -phunter2`, `curl -u bob:hunter2`.
    (
        ("mysql", "mariadb", "sshpass", "beeline", "mongo", "docker login", "az login"),
        re.compile(
            r"((?<![\w\-])(?:mysql|mariadb|sshpass|beeline|mongo|docker login|az login)[\w\-]{0,20}+"
            rf"[^\r\n]{{0,300}}?[\s\"']-p{_LIST})(?!-)(?:{_MASKED}|{_QUOTED_OR_WORD})"
        ),
        rf"\1{MASK}",
    ),
    (
        ("curl", "wget"),
        re.compile(
            r"((?<![\w\-])(?:curl|wget)\b[^\r\n]{0,300}?[\s\"'](?:-u|--user|--proxy-user)(?:=|\s++|[\"']\s*+,\s*+[\"'])?"
            rf"[\"']?[^\s:\"']{{1,256}}+:)(?:{_MASKED}|[^\s\"',\]]++)"
        ),
        rf"\1{MASK}",
    ),
    (
        ("redis-cli", "sqlcmd", "bcp", "ldap"),
        re.compile(
            r"((?<![\w\-])(?:redis-cli|sqlcmd|bcp|ldap\w{1,20})\b[^\r\n]{0,300}?[\s\"']-[aPw]"
            rf"{_LIST})(?:{_MASKED}|{_QUOTED_OR_WORD})"
        ),
        rf"\1{MASK}",
    ),
    # Parameters of a URL's query: Azure's `sig=` and `code=`, Google's `key=`, S3's `X-Amz-Signature=`.
    (
        ("sig", "auth", "key="),
        re.compile(
            rf"([?&](?:sig|signature|auth|key|x-amz-signature|x-goog-signature)=)(?:{_MASKED}|[^&#\s\"'<>]++)",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # A signature outside of a URL, quoted or not; `sig = 0.05` isn't one.
    (
        ("sig",),
        re.compile(
            rf"((?<![\w\-])sig(?:nature)?\\*[\"']?\s*+(?:[=:]|->)\s*+\\*[\"']?)(?:{_MASKED}|[\w%+/=\-]{{20,}}+)",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (("code=",), re.compile(r"([?&]code=)[^&#\s\"'<>]{20,}+", re.IGNORECASE), rf"\1{MASK}"),
)

_SCHEMED: Final = re.compile(r"(?<![\w\-])(bearer|basic)(\s++)([A-Za-z0-9+/_.~\-]{4,}+=*+)", re.IGNORECASE)


def redact(text: str, *, max_chars: int | None = None) -> str:
    """Return `text` without likely credentials. Idempotent.

    Results for texts of usual length are cached, some megabytes at most: events repeat the names of columns and
    datasets.

    Args:
        max_chars: cut the result here, after redacting: a cut never exposes half a secret.
    """
    if not _HARMLESS.fullmatch(text):
        if len(text) <= _USUAL_CHARS:
            text = _redacted_usual(text)
        else:
            text = _redacted_long(text) if len(text) <= _LONG_CHARS else _redacted(text)
    if max_chars is not None and len(text) > max_chars:
        return text[: max_chars - 1] + "…"
    return text


@lru_cache(maxsize=32)
def _redacted_long(text: str) -> str:
    return _redacted(text)


@lru_cache(maxsize=8_192)
def _redacted_usual(text: str) -> str:
    return _redacted(text)


def _redacted(text: str) -> str:
    text = _with_entities(text)
    if _PERCENT_ENCODED.search(text):
        text = _without_encoded(text)
    return _BASE64.sub(_without_base64, text)


def _with_entities(text: str) -> str:
    """Redact text that may have HTML entities; returns the decoded text if that has a secret."""
    if _ENTITY.search(text):
        # A quote that doesn't end a literal around the entity.
        quote = '"' if "'" in text else "'"
        plain = unescape(_QUOTE_ENTITY.sub(quote, text))
        if (redacted := _redacted_undecoded(plain)) != plain:
            return redacted
    return _redacted_undecoded(text)


def _without_base64(found: re.Match[str]) -> str:
    try:
        text = base64.b64decode(found[0] + "=" * (-len(found[0]) % 4), altchars=b"-_", validate=True).decode("ascii")
    except ValueError:
        return found[0]
    return MASK if _PLAIN.fullmatch(text) and _redacted_undecoded(text) != text else found[0]


def _redacted_undecoded(text: str) -> str:
    return _by_rules(with_literals(text, _redacted_undecoded) if NESTED_QUOTES.search(text) else text)


def _by_rules(text: str) -> str:
    lowered = text.lower()
    for keywords, pattern, replacement in _RULES:
        if any(keyword in lowered for keyword in keywords):
            text = pattern.sub(replacement, text)
    if "bearer" in lowered or "basic" in lowered:
        text = _SCHEMED.sub(_without_bearer, text)
    if "@" in text:
        text = without_user_info(text)
    if "(" in text:
        text = _without_arguments(text)
    if any(hint in lowered for hint in HINTS):
        text = _without_values(_ALIASED.sub(_without_aliased, text))
    return without_shapes(text, lowered, MASK)


def _without_encoded(text: str) -> str:
    """Redact percent-encoded text; returns the decoded text if that has a secret.

    The text is decoded twice: Spark escapes the value of a partition in its path, even an escaped value.
    """
    decoded = text
    for _ in range(_MOST_DECODED):
        decoded = unquote(before := decoded)
        if decoded == before:
            break
        if (redacted := _with_entities(decoded)) != decoded:
            return redacted
    return text


def _without_arguments(text: str) -> str:
    """Redact the keys that encryption functions get, and values of a map whose keys are names of secrets."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(_secret_spans(text)):
        if start >= done:
            parts += (text[done:start], MASK)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _secret_spans(text: str) -> list[tuple[int, int]]:
    """Find secrets in the arguments of all calls, also of nested ones. A call inside a secret is part of the secret."""
    spans: list[tuple[int, int]] = []
    masked: list[tuple[int, int]] = []
    ends: list[int] = []
    for call in _CALL.finditer(text):
        masked = [span for span in masked if span[1] > call.start()]
        if any(start <= call.start() for start, _ in masked):
            continue
        ends = [end for end in ends if end > call.start()]
        if len(ends) < _MOST_NESTED_CALLS:
            argument_spans = list(arguments(text, call.end()))
            ends.append(argument_spans[-1][1])
            secrets = list(_secret_arguments(text, call, argument_spans))
        else:
            secrets = [(call.start(), min(ends))]
        spans += secrets
        masked += secrets
    return spans


def _secret_arguments(text: str, call: re.Match[str], spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if call["map"] is not None:
        for (start, end), (first, last) in zip(spans[::2], spans[1::2], strict=False):
            key = text[start:end].lstrip("\\")
            if key[:1] in {"'", '"'} and is_secret_name(key.strip("\\'\"")) and text[first:last] != MASK:
                yield first, last
        return
    if call["other"] is not None:  # coalesce(token, 'x'), format('password=%s', 'x')
        named = text[slice(*spans[0])].strip()
        hides = _without_values(named) != named if "%" in named else is_secret_name(named.strip('`"'))
        yield from (position for position in spans[1:] if hides and _LITERAL.match(text, *position))
        return
    # The value itself may be in clear; a key that is a column isn't a secret.
    for start, end in spans if call["first"] is not None else spans[1:]:
        argument = text[start:end]
        if _KEY_ARGUMENT.search(argument) and not _MODE.fullmatch(argument):
            yield start, end


def _without_bearer(found: re.Match[str]) -> str:
    """Redact a bearer or basic credential, but no prose: `basic authentication failed`, `the bearer token`."""
    scheme, blanks, value = found.groups()
    if scheme.lower() == "basic":
        try:
            secret = b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        except binascii.Error:
            secret = False
        secret = secret or (len(value) >= 8 and any(c.isdigit() for c in value))
    else:
        secret = len(value) >= 8 and (not value.isalpha() or len(value) >= 24)
    return f"{scheme}{blanks}{MASK}" if secret else found[0]


def without_user_info(text: str) -> str:
    """Remove user and password from the addresses in `text`; for texts that name an address or a location.

    In `scheme://user:password@host` the password may contain unescaped `@` and `/`; in `user:password@host`, the form
    of brokers, it may not.
    """
    parts: list[str] = []
    done = end_of_run = 0
    for found in _SCHEME.finditer(text):
        start = found.end()
        user = _USER.match(text, start)
        scheme, _, slashes = found[0].lower().partition(":")
        if found.start() < done or user is None or (slashes == "/" and scheme in _ONE_SLASH):
            continue
        if start > end_of_run and (run := _RUN.match(text, start)):
            end_of_run = run.end()
        after = text[user.end() : user.end() + 1]
        # After a container's @, or a port, a further @ belongs to the path.
        if after == ":" and not _PORT.match(text, user.end()):
            end = text.rfind("@", user.end(), min(end_of_run, start + _MAX_USER_INFO_CHARS))
        elif after == "@" and scheme not in _CONTAINERS:
            end = user.end()
        else:
            continue
        if end >= 0:
            parts += (text[done:start], MASK)
            done = end
    return _SCHEMELESS.sub(f"{MASK}@", "".join((*parts, text[done:])))


def _without_aliased(found: re.Match[str]) -> str:
    return f"{MASK}{found['as']}{found['name']}" if is_secret_name(found["name"]) else found[0]


def _without_values(text: str) -> str:
    """Redact the values of names that look like names of secrets."""
    parts: list[str] = []
    done = position = 0
    while found := _NAME.search(text, position):
        position = found.end()
        name = found[0]
        if not is_secret_name(name):
            continue
        span = _value_of(text, found.start(), found.end(), name)
        if span is None:
            continue
        start, end = span
        position = end
        if end > start and not _NO_SECRET.match(text, start):
            parts += (text[done:start], MASK)
            done = end
    return "".join((*parts, text[done:]))


def _value_of(text: str, start: int, end: int, name: str) -> tuple[int, int] | None:
    """Find the value that belongs to a name: start and (exclusive) end index."""
    before = text[max(0, start - 12) : start]
    if (in_xml := _in_xml(text, end, before)) is not None:
        return in_xml
    if between := _BETWEEN.match(text, end):
        return _assigned(text, between, name)
    between = (
        _COMPARED.match(text, end)
        or _DECLARED.match(text, end)
        or (_IN_OPTIONS.match(text, end) if _OPENS_OPTION.search(before) else None)
        or (_IN_TUPLE.match(text, end) if _OPENS_TUPLE.search(before) else None)
        or (_AFTER_FLAG.match(text, end) if name.startswith("-") else None)
        or (_AFTER_KEYWORD.match(text, end) if _PASSWORD.search(name) else None)
        or (_AFTER_PROPERTY.match(text, end) if _PROPERTY.fullmatch(name) else None)
    )
    return None if between is None else (between.end(), _end_of_value(text, between.end()))


def _assigned(text: str, between: re.Match[str], name: str) -> tuple[int, int] | None:
    """Find the value after a name and an assignment sign; None if it isn't a secret."""
    if ":" in between[0] and _NO_SETTING.search(name):
        return None
    if _is_of_schema(text, between) or _is_other_column(text, between, name):
        return None
    start = between.end()
    if continued := _CONTINUED.match(text, start):
        start = continued.end()
    return start, _end_of_value(text, start)


def _is_of_schema(text: str, between: re.Match[str]) -> bool:
    """Return True if the value is a column's type, as a word or in a JSON Schema."""
    is_type = ":" in between[0] and (_TYPE.match(text, between.end()) or _JSON_SCHEMA.match(text, between.end()))
    return bool(is_type)


def _is_other_column(text: str, between: re.Match[str], name: str) -> bool:
    """Return True if a column is compared with one of the same name: `a.token = b.token`."""
    other = _OTHER_COLUMN.match(text, between.end()) if "=" in between[0] else None
    return other is not None and other[1].lower() == name.rpartition(".")[2].lower()


def _in_xml(text: str, end: int, before: str) -> tuple[int, int] | None:
    """Find the value in `<password>…</password>`, `name="password" value="…"` and `key="password">…<`."""
    if (before.endswith("<name>") or _OPENS_XML.search(before)) and (between := _IN_XML.match(text, end)):
        if text.startswith("<![CDATA[", closing := between.end()):
            closing = max(closing, text.find("]]>", closing, closing + _MAX_BRACKETED_CHARS)) + 3
        closing = text.find("<", closing)
        return (between.end(), closing) if text.startswith("</", closing) else None  # not of `List<Token>`
    if _NAME_ATTRIBUTE.search(before):
        if between := _IN_XML_ATTRIBUTE.match(text, end):
            return between.end(), _end_of_value(text, between.end())
        if (between := _IN_XML_ENTRY.match(text, end)) and (closing := text.find("<", between.end())) >= 0:
            return between.end(), closing
    return None


def _end_of_value(text: str, start: int) -> int:
    if text.startswith(MASK, start):
        return start + len(MASK)
    opening = _OPENING.match(text, start)
    if opening is not None:
        return _end_of_quoted(text, opening)
    if text[start : start + 1] in {"{", "[", "("}:
        return _end_of_bracketed(text, start)
    if block := _YAML_BLOCK.match(text, start):
        return block.end()
    bare = _BARE.match(text, start)
    return bare.end() if bare else start


def _end_of_quoted(text: str, opening: re.Match[str]) -> int:
    quote = opening["quote"]
    end = opening.end()
    if opening["escape"]:  # within a text that is quoted itself
        closing = text.find(quote, end)
        return closing + 1 if closing >= 0 else _end_of_line(text, end)
    while closed := _CLOSING[quote].match(text, end):
        end = closed.end()
        if text[end : end + 1] != quote:  # SQL doubles it
            return end
        end += 1
    return _end_of_line(text, end)


def _end_of_bracketed(text: str, start: int) -> int:
    depth = 0
    limit = min(len(text), start + _MAX_BRACKETED_CHARS)
    for found in _BRACKET.finditer(text, start, limit):
        depth += 1 if found[0] in "[({" else -1
        if depth == 0:
            return found.end()
    return limit


def _end_of_line(text: str, start: int) -> int:
    line = _LINE.match(text, start)
    return line.end() if line else start
