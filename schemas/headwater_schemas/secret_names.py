"""Names of settings that hold a secret: `fs.s3a.secret.key`, `dbPass`, `passwort`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

HINTS: Final = (
    *("pass", "pw", "secret", "token", "cred", "key", "connection", "sess", "jwt", "otp", "sas", "signature", "auth"),
    *("kennwort", "contrase", "wachtwoord", "senord", "senha"),
)
"""Parts of names: every name of a secret has one of them, in lower case."""
# Parts of a secret setting's name, once `.`, `_` and `-` are left out: `fs.s3a.secret.key`, `ApiKey`.
_SECRET_PART: Final = re.compile(
    r"passw(?:or)?[dt]|kennwort|contrase[nñ]a|wachtwoord|motdepasse|l[oö]senord|jaasconfig|passphrase|passcode|passkey|passwrd|pwd|secret(?!ar|s?manager)|token(?!i[sz])|credential|connectionstring|jsessionid|phpsessid"
    r"|(?:api|access|account|private|sas|shared|signing|encryption|master|storage|subscription|auth|license|functions?|fernet|hmac|cipher|keystore)key"
    r"|(?:xgoog|xamz|access)signature|basicauthuserinfo|rediscliauth"
)
# Words of a secret setting's name: `db_pass`, `dbPass`, `pw`; not `passengers`.
_SECRET_WORDS: Final = frozenset({"pass", "pw", "jwt", "otp", "sas", "creds", "senha"})
# Last words of names for facts about a secret: `api_key_id`, `tokenType`, `password_changed_at`; not `secret_id`.
_ABOUT: Final = frozenset(
    (
        *("id", "ids", "type", "types", "kind", "name", "names", "class", "provider", "version", "policy", "strength"),
        *("count", "counts", "rate", "ratio", "length", "len", "size", "enabled", "required", "status"),
        *("at", "date", "day", "days", "hour", "hours", "time", "expiry", "expires", "expired", "expiration", "ttl"),
        *("created", "updated", "changed", "rotated", "reset", "resets", "url", "uri", "endpoint", "path", "location"),
    )
)
# Words of names for numbers of tokens: `max_tokens`, `prompt_tokens`.
_COUNTED: Final = frozenset(("max", "min", "num", "total", "prompt", "completion", "input", "output", "used", "avg"))
# Parameters in an address's query: to Spark `out?sig` is the name of a partition.
_IN_QUERY: Final = re.compile(r"[?&](?:sig|signature|auth|key|code)$", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++")
# `dbpass`, `userpass`; not `bypass`.
_ENDS_IN_PASS: Final = re.compile(
    r"(?<!by)(?<!com)(?<!tres)(?<!sur)(?<!over)(?<!under)(?<!low)(?<!high)(?<!band)pass\d*$"
)


@lru_cache(maxsize=8_192)
def is_secret_name(name: str) -> bool:
    """Return True if a setting of this name holds a secret: `fs.s3a.secret.key`, `dbPass`."""
    words = [word.lower() for word in _WORD.findall(name)]
    if words[1:] and (
        (words[-1] in _ABOUT and words[-2:] != ["secret", "id"])
        or (words[-1] == "tokens" and not _COUNTED.isdisjoint(words))
    ):
        return False
    plain = name.replace(".", "").replace("_", "").replace("-", "").lower()
    if _SECRET_PART.search(plain) or _ENDS_IN_PASS.search(plain) or _IN_QUERY.search(name):
        return True
    return not _SECRET_WORDS.isdisjoint(words)
