"""Removal of secrets that are recognised only by their shape, without a name before them.

There are two kinds. Tokens with a prefix are found by the rules of gitleaks (`secret_shapes.json`, written by
`scripts/secret_shapes.py`): each rule has keywords, without which its expression isn't tried, and a minimum entropy.
Keys without a prefix, such as an AWS secret access key, are found by their length, alphabet and entropy; the minimum
entropy is that of detect-secrets for Base64.

A hexadecimal hash, a UUID and a name made of words don't count: they lack the entropy, or the mix of cases and digits,
of random text.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from functools import cache, lru_cache
from importlib import resources
from typing import Final

import msgspec

# Looser than the rules of gitleaks, which require the exact length: an event may have half a token.
_TOKENS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|xox[a-z]-[\w\-]{10,}+|xapp-[\w\-]{10,}+"
    r"|sk-(?=[\w\-]{0,60}\d)[\w\-]{20,}+|(?:sk|rk|pk)_(?:live|test|prod)_\w{8,}+|whsec_[\w+/=]{16,}+"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[\w\-.]{16,}+|GR1348941[\w\-]{16,}+"
    r"|AIza[\w\-]{20,}+|ya29\.[\w\-.]{16,}+|GOCSPX-[\w\-]{16,}+"
    r"|hf_[A-Za-z0-9]{16,}+|hw_[0-9a-f]{32,}+|npm_[A-Za-z0-9]{16,}+|pypi-AgE[\w\-]{16,}+|dckr_(?:pat|oat)_[\w\-]{16,}+"
    r"|SG\.[\w\-]{16,}+\.[\w\-]{16,}+|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{16,}+|do[ort]_v1_[a-f0-9]{32,}+"
    r"|hv[sbr]\.[\w\-]{20,}+|AT(?:ATT|CTT)3[\w\-=.]{20,}+|gl(?:sa|c)_[\w+/=]{20,}+|eyJrIjoi[\w+/=]{20,}+"
    r"|(?:rubygems_|gsk_|xai-|r8_|sbp_|nfp_|lin_api_|figd_|pscale_tkn_|pscale_pw_|sntry[su]_|pplx-|nvapi-)"
    r"[A-Za-z0-9]{24,}+"
    r"|NRAK-[A-Z0-9]{20,}+|PMAK-[\w\-]{20,}+|tskey-[\w\-]{16,}+|dp\.(?:pt|st|ct|sa)\.[\w.]{16,}+|pul-[a-f0-9]{32,}+"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}+|sq0(?:atp|csp)-[\w\-]{16,}+|EAA[A-Za-z0-9]{60,}+|key-[a-f0-9]{32}+"
    r"|(?:SK|AC)[a-f0-9]{32}+|\d{8,10}:AA[\w\-]{30,}+"
    r"|(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA|AGPA|LTAI)[A-Z0-9]{16,20}\b|(?:dapi|dkea|dose)[0-9a-f]{32}(?:-\d{1,3})?\b)"
    r"|(?<=hooks\.slack\.com/services/)[\w/]{8,}+|(?<=hooks\.slack\.com/workflows/)[\w/]{8,}+"
    # An Azure client secret, and a storage account's key.
    r"|(?<![\w~.\-])[\w~.\-]{3}\dQ~[\w~.\-]{31,34}+|(?<![\w+/=])[A-Za-z0-9+/]{86}=="
    # A JSON Web Token.
    r"|(?<![\w\-])eyJ[\w\-]{8,}+\.[\w\-]{8,}+(?:\.[\w\-]*+)*+"
)
_KEY: Final = re.compile(r"(?<![\w+/.\-~%@#])[A-Za-z0-9+/_\-]{32,128}={0,2}(?![\w+/=\-]|\.\w)")
_LEAST_CHARS: Final = 16
_AWS_CHARS: Final = 40
_LEAST_ENTROPY: Final = 4.5
_LEAST_OF_AWS: Final = 4.3
"""Minimum entropy of a key of 40 characters: one in 2,000 random strings has less."""
_LEAST_CHANGES: Final = 0.42
"""Minimum share of neighbours of different kinds (lower case, upper case, digits) in random text; names have less."""
_LEAST_CHANGES_WITH_SLASH_OR_PLUS: Final = 0.33
"""Minimum share for keys of 40 characters that contain `/` or `+`."""


class _Shape(msgspec.Struct, frozen=True):
    id: str
    keywords: tuple[str, ...]
    pattern: str
    entropy: float


class _Document(msgspec.Struct, frozen=True):
    shapes: tuple[_Shape, ...]


@cache
def _shapes() -> tuple[tuple[str, tuple[_Shape, ...]], ...]:
    """Return the shapes of secrets by keyword."""
    text = resources.files(__package__).joinpath("secret_shapes.json").read_bytes()
    by_keyword: dict[str, list[_Shape]] = {}
    for shape in msgspec.json.decode(text, type=_Document).shapes:
        for keyword in shape.keywords:
            by_keyword.setdefault(keyword, []).append(shape)
    return tuple((keyword, tuple(shapes)) for keyword, shapes in by_keyword.items())


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def without_shapes(text: str, lowered: str, mask: str) -> str:
    """Replace each token and key in `text` by a mask.

    Args:
        lowered: the text in lower case.
        mask: replacement, of any length.
    """
    if len(text) < _LEAST_CHARS:
        return text
    text = _TOKENS.sub(mask, text)
    for keyword, shapes in _shapes():
        if keyword in lowered:
            for shape in shapes:
                text = _without_tokens(text, shape, mask)
    return _KEY.sub(lambda found: mask if _is_key(found[0]) else found[0], text)


def _without_tokens(text: str, shape: _Shape, mask: str) -> str:
    parts: list[str] = []
    done = 0
    for found in _compiled(shape.pattern).finditer(text):
        start, end = found.span(1) if found.re.groups and found[1] and found[0].endswith(found[1]) else found.span()
        if _entropy(text[start:end]) >= shape.entropy:
            parts += (text[done:start], mask)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _is_key(text: str) -> bool:
    bare = text.rstrip("=")
    if not (any(map(str.islower, bare)) and any(map(str.isupper, bare)) and any(map(str.isdigit, bare))):
        return False
    slash_or_plus = "/" in bare or "+" in bare
    if len(text) == _AWS_CHARS and text == bare:
        least_entropy = _LEAST_OF_AWS
        least_changes = _LEAST_CHANGES_WITH_SLASH_OR_PLUS if slash_or_plus else _LEAST_CHANGES
    elif slash_or_plus and text == bare and "+" not in bare:
        return False  # a path
    else:
        least_entropy, least_changes = _LEAST_ENTROPY, _LEAST_CHANGES
    return _entropy(bare) >= least_entropy and _changes(bare) >= least_changes


def _entropy(text: str) -> float:
    """Return Shannon's entropy, in bits per character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _changes(text: str) -> float:
    """Return the share of neighbours of different kinds: lower case, upper case, digits."""
    kinds = ["digit" if c.isdigit() else c.isupper() for c in text if c.isalnum()]
    return sum(a != b for a, b in itertools.pairwise(kinds)) / max(1, len(kinds) - 1)
