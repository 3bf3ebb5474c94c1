"""JWTs of an OIDC provider: access tokens as credentials (RFC 9068), and ID tokens of the log-in.

A token is accepted if

- a public key of the provider verifies its signature by an allowed algorithm;
- it has the issuer, the audience, an end and a subject.

The token itself names the algorithm, so an attacker could use a public key as the secret of an HMAC. Therefore neither
`none` nor an algorithm with a secret can be allowed, and only public keys are read.

    aud, iss, sub, exp, nbf, iat        RFC 7519
    scope: "openid headwater:read"      scopes of the identity; without an entry `headwater:…` the configured scopes
    groups: ["a", "b"] or "a"           `HEADWATER_SERVE_OIDC_GROUPS_CLAIM`, also nested: `realm_access.roles`
    name, preferred_username, email     the first one present: only for display
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
from headwater_server.identity.identity import Identity, IdentitySource, Scope
from headwater_server.identity.provider import Provider

log = logging.getLogger("headwater.serve")

_LARGEST_CHARS = 16_384
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt"})
"""Accepted values of the header `typ`, in lower case. Tokens of other kinds, e.g. for log-out, have other values."""
_PREFIX = "headwater:"
_NAMES = ("name", "preferred_username", "email")
_MOST_OF_A_NAME = 200
_BROKEN = (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""Errors that joserfc raises for texts that aren't tokens: its own errors, and those of its parser."""


class InvalidTokenError(CredentialError):
    """The token isn't valid. Its sender learns only if it has expired.

    Attributes:
        reason: reason for the log, as the end of a sentence, without content of the token.
    """

    def __init__(self, reason: str, fault: CredentialFault = CredentialFault.UNKNOWN) -> None:
        expired = fault is CredentialFault.EXPIRED
        super().__init__(fault, "The credential has expired." if expired else "This bearer token isn't valid here.")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class JwtRules:
    """Conditions of tokens, and the claims that make an identity.

    Attributes:
        algorithms: allowed algorithms, from `lists.ALGORITHMS`; not empty.
        skew_seconds: allowed difference from the provider's clock.
        groups_claim: claim with the groups; dots separate the names of nested claims.
        tenant_claim: claim with the tenant, required in every token; None: the server's tenant.
        scopes: scopes of tokens without scopes of Headwater.
    """

    algorithms: tuple[str, ...]
    skew_seconds: int = 60
    groups_claim: str = "groups"
    tenant_claim: str | None = None
    scopes: frozenset[Scope] = frozenset({Scope.READ})


class JwtVerifier:
    """Verifier of signatures, issuer, audience and times.

    Args:
        clock: function that returns the current time, with a time zone.
    """

    def __init__(self, provider: Provider, rules: JwtRules, clock: Callable[[], datetime] = utc_now) -> None:
        self._provider = provider
        self._rules = rules
        self._clock = clock
        self._registry = jws.JWSRegistry(algorithms=rules.algorithms, strict_check_header=False)

    async def claims(self, token: str, audience: str) -> dict[str, Any]:
        """Return the claims of a valid token.

        Args:
            token: token in the compact form.
            audience: audience that the token must have, possibly among others.

        Raises:
            InvalidTokenError: the token isn't valid.
            ProviderUnavailableError: the provider's keys are needed, and can't be fetched now.
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
                f"the token isn't a JWT, or isn't signed by an allowed algorithm ({type(error).__name__})"
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
                raise InvalidTokenError("the end or the subject isn't valid")
        except ExpiredTokenError:
            raise InvalidTokenError("the token has expired", CredentialFault.EXPIRED) from None
        except _BROKEN as error:
            # The description of joserfc has the claim's name, not its value.
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

    def identity(self, source: IdentitySource, claims: Mapping[str, Any], scopes: frozenset[Scope]) -> Identity:
        """Identity of the subject of valid claims.

        Raises:
            InvalidTokenError: the claim for groups or tenant has the wrong type.
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
        """Return the scopes in an access token; the configured scopes if it has none.

        Raises:
            InvalidTokenError: the claim of scopes has the wrong type.
        """
        # Entra ID and Okta call the claim `scp`; Okta's is a list.
        named = claims.get("scope", claims.get("scp", ""))
        entries = named.split() if isinstance(named, str) else named
        if not isinstance(entries, list) or not all(isinstance(each, str) for each in entries):
            raise InvalidTokenError("the claim of scopes isn't a text or a list of texts")
        own = {each.removeprefix(_PREFIX) for each in entries if each.startswith(_PREFIX)}
        return frozenset(scope for scope in Scope if scope.value in own) if own else self._rules.scopes


class OidcVerifier:
    """Verifier of access tokens (`credentials.BearerVerifier`)."""

    def __init__(self, verifier: JwtVerifier, audience: str) -> None:
        self._verifier = verifier
        self._audience = audience

    async def identify(self, token: str) -> Identity | None:
        """Return the identity of a token's subject.

        Raises:
            InvalidTokenError: the token isn't valid.
            ProviderUnavailableError: the provider's keys are needed, and can't be fetched now.
        """
        try:
            claims = await self._verifier.claims(token, self._audience)
            _check_access_token(claims)
            return self._verifier.identity(IdentitySource.OIDC, claims, self._verifier.scopes(claims))
        except InvalidTokenError as error:
            log.info("Bearer token refused: %s.", error.reason)
            raise


def _check_access_token(claims: Mapping[str, Any]) -> None:
    """Check that a valid token is an access token for bearers.

    Raises:
        InvalidTokenError: the token is an ID token, or belongs to a key.
    """
    # An ID token is only for the page that a person logs in to. It may have the same audience as an access token.
    if "nonce" in claims or "at_hash" in claims:
        raise InvalidTokenError("the token is an ID token")
    if "cnf" in claims:
        raise InvalidTokenError("the token belongs to a key of its holder (DPoP, mTLS), which isn't verified here")


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return the value of a claim; None without one. A claim whose name has dots wins over a nested claim."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _shown_name(claims: Mapping[str, Any]) -> str:
    """Display name of a person; empty without one. Other types than texts are ignored: no decision depends on it."""
    texts = (value.strip() for name in _NAMES if isinstance(value := claims.get(name), str))
    return next((text[:_MOST_OF_A_NAME] for text in texts if text), "")


def _groups(value: Any) -> frozenset[str]:
    """Groups in the value of a claim.

    Raises:
        InvalidTokenError: the value isn't a text or a list of texts.
    """
    if value is None:
        return frozenset()
    groups = [value] if isinstance(value, str) else value
    if not isinstance(groups, list) or not all(isinstance(each, str) for each in groups):
        raise InvalidTokenError("the claim of groups has other values than names")
    return frozenset(each for each in groups if each)
