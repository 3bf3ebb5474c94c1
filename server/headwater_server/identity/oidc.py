"""JWTs of an OIDC provider: access tokens as credentials (RFC 9068), and ID tokens of the log-in.

A token is accepted if a public key of the provider verifies its signature by an allowed algorithm, and if it has the
issuer, the audience, an end and a subject. A token names its algorithm itself, so a public key must never count as the
secret of an HMAC: neither `none` nor an algorithm with a secret can be allowed, and only public keys are read.

    aud, iss, sub, exp, nbf, iat        RFC 7519
    scope: "openid headwater:read"      scopes here; without an entry `headwater:…` those of the setting
    groups: ["a", "b"] or "a"           `HEADWATER_SERVE_OIDC_GROUPS_CLAIM`, also below others: `realm_access.roles`
    name, preferred_username, email     the first that there is: for display alone
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import ExpiredTokenError, JoseError

from headwater_schemas.clock import utc_now
from headwater_server.identity.credentials import CredentialError, CredentialFault
from headwater_server.identity.identity import Identity, Scope, Source
from headwater_server.identity.provider import Provider

log = logging.getLogger("headwater.serve")

_LARGEST_CHARS = 16_384
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt"})
"""Values of the header `typ` in lower case; tokens of other kinds, such as those of log-out, have others."""
_PREFIX = "headwater:"
_NAMES = ("name", "preferred_username", "email")
_MOST_OF_A_NAME = 200
_BROKEN = (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""Errors of joserfc on texts that are no tokens: it looks at their parts before it knows what they are."""


class InvalidTokenError(CredentialError):
    """The token isn't valid. Its sender learns no more than whether it has expired.

    Attributes:
        reason: reason for the log, as the end of a sentence, without anything of the token.
    """

    def __init__(self, reason: str, fault: CredentialFault = CredentialFault.UNKNOWN) -> None:
        expired = fault is CredentialFault.EXPIRED
        super().__init__(fault, "The credential has expired." if expired else "This bearer token isn't valid here.")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class JwtRules:
    """Conditions of tokens, and the claims that make an identity.

    Attributes:
        algorithms: allowed algorithms, of `lists.ALGORITHMS`; not empty.
        skew_seconds: difference to the provider's clock that is allowed.
        groups_claim: claim with the groups; with dots it is below others.
        tenant_claim: claim with the tenant, which every token then needs; None: the server's tenant.
        scopes: scopes of tokens that have none of Headwater's.
    """

    algorithms: tuple[str, ...]
    skew_seconds: int = 60
    groups_claim: str = "groups"
    tenant_claim: str | None = None
    scopes: frozenset[Scope] = frozenset({Scope.READ})


class JwtVerifier:
    """Verifier of signatures, issuer, audience and times.

    Args:
        provider: has the keys.
        rules: conditions.
        clock: current time, aware.
    """

    def __init__(self, provider: Provider, rules: JwtRules, clock: Callable[[], datetime] = utc_now) -> None:
        self._provider = provider
        self._rules = rules
        self._clock = clock
        self._registry = jws.JWSRegistry(algorithms=rules.algorithms, strict_check_header=False)

    async def claims(self, token: str, audience: str) -> dict[str, Any]:
        """Return the claims of a valid token.

        Args:
            token: in the compact form.
            audience: one of the audiences that it must have.

        Raises:
            InvalidTokenError: it isn't valid.
            ProviderUnavailableError: the provider's keys are needed, and can't be had now.
        """
        if len(token) > _LARGEST_CHARS:
            raise InvalidTokenError("the token is too long")
        try:
            header = jws.extract_compact(token.encode(), registry=self._registry).headers()
            self._registry.check_header(header)
            kind, kid, algorithm = header.get("typ", "jwt"), header.get("kid"), header["alg"]
            self._registry.get_alg(algorithm)
        except _BROKEN as error:
            raise InvalidTokenError(
                f"the token is no JWT, or not by an allowed algorithm ({type(error).__name__})"
            ) from None
        if kind.lower() not in _TYPES:
            raise InvalidTokenError("the token is a JWT of another kind")
        key = await self._provider.key(kid, algorithm)
        if key is None:
            raise InvalidTokenError("the provider has no such key")
        try:
            claims = jwt.decode(token, key, registry=self._registry).claims
            self._conditions(audience).validate(claims)
            if claims["exp"] > _LATEST or not claims["sub"].strip():
                raise InvalidTokenError("the end or the subject makes no sense")
        except ExpiredTokenError:
            raise InvalidTokenError("the token has expired", CredentialFault.EXPIRED) from None
        except _BROKEN as error:
            # joserfc names the claim, not its value.
            reason = f"{type(error).__name__}: {getattr(error, 'description', '')}"
            raise InvalidTokenError(f"the signature or a claim isn't valid ({reason})") from None
        return claims

    def _conditions(self, audience: str) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=self._rules.skew_seconds,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            sub={"essential": True},
        )

    def identity(self, source: Source, claims: Mapping[str, Any], scopes: frozenset[Scope]) -> Identity:
        """Identity of the subject of valid claims.

        Raises:
            InvalidTokenError: a claim for groups or tenant isn't one.
        """
        tenant = None
        if self._rules.tenant_claim is not None:
            tenant = _claim(claims, self._rules.tenant_claim)
            if not isinstance(tenant, str) or not tenant.strip():
                raise InvalidTokenError("the token has no tenant")
        expires = datetime.fromtimestamp(claims["exp"], UTC) + timedelta(seconds=self._rules.skew_seconds)
        return Identity(
            source,
            claims["sub"],
            tenant,
            _groups(_claim(claims, self._rules.groups_claim)),
            scopes,
            expires,
            shown_name=_shown_name(claims),
        )

    def scopes(self, claims: Mapping[str, Any]) -> frozenset[Scope]:
        """Scopes in an access token, else those of the setting.

        Raises:
            InvalidTokenError: the claim isn't one of scopes.
        """
        # Entra ID calls it `scp`, and Okta has a list in that.
        named = claims.get("scope", claims.get("scp", ""))
        entries = named.split() if isinstance(named, str) else named
        if not isinstance(entries, list) or not all(isinstance(each, str) for each in entries):
            raise InvalidTokenError("the claim of scopes has none")
        own = {each.removeprefix(_PREFIX) for each in entries if each.startswith(_PREFIX)}
        return frozenset(scope for scope in Scope if scope.value in own) if own else self._rules.scopes


class OidcVerifier:
    """Verifier of access tokens (`credentials.BearerVerifier`).

    Args:
        verifier: of their signatures, issuer and times.
        audience: their audience.
    """

    def __init__(self, verifier: JwtVerifier, audience: str) -> None:
        self._verifier = verifier
        self._audience = audience

    async def identify(self, token: str) -> Identity | None:
        """Return whose token it is.

        Raises:
            InvalidTokenError: the token isn't valid.
            ProviderUnavailableError: the provider's keys are needed, and can't be had now.
        """
        try:
            claims = await self._verifier.claims(token, self._audience)
            _check_access_token(claims)
            return self._verifier.identity(Source.OIDC, claims, self._verifier.scopes(claims))
        except InvalidTokenError as error:
            log.info("Bearer token refused: %s.", error.reason)
            raise


def _check_access_token(claims: Mapping[str, Any]) -> None:
    """Check that a bearer may use a valid token here.

    Raises:
        InvalidTokenError: it isn't for that.
    """
    # An ID token states who logged in, to the page alone. It may have the same audience.
    if "nonce" in claims or "at_hash" in claims:
        raise InvalidTokenError("the token is an ID token")
    if "cnf" in claims:
        raise InvalidTokenError("the token belongs to a key of its holder (DPoP, mTLS), which isn't verified here")


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Value of a claim; None without one. A whole name with dots goes before a way through objects."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _shown_name(claims: Mapping[str, Any]) -> str:
    """Name of a person for display; empty without one. What isn't a text is ignored, as nothing depends on it."""
    texts = (value.strip() for name in _NAMES if isinstance(value := claims.get(name), str))
    return next((text[:_MOST_OF_A_NAME] for text in texts if text), "")


def _groups(value: Any) -> frozenset[str]:
    """Groups in the value of a claim.

    Raises:
        InvalidTokenError: it has no names of groups.
    """
    if value is None:
        return frozenset()
    groups = [value] if isinstance(value, str) else value
    if not isinstance(groups, list) or not all(isinstance(each, str) for each in groups):
        raise InvalidTokenError("the claim of groups has other values than names")
    return frozenset(each for each in groups if each)
