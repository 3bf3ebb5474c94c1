"""Access tokens of a provider: which are accepted, whose they are, and how often the provider is asked."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.jwk import OctKey, RSAKey

from headwater_server.identity import Identity, IdentitySource, Scope
from headwater_server.identity.credentials import CredentialError, CredentialFault, ProviderUnavailableError
from headwater_server.identity.lists import ALGORITHMS
from headwater_server.identity.oidc import InvalidTokenError, JwtRules, JwtVerifier, OidcVerifier
from headwater_server.identity.provider import (
    FRESH_SECONDS,
    KEPT_SECONDS,
    PAUSE_SECONDS,
    RETRY_SECONDS,
    Provider,
    is_safe_url,
)
from support.oidc_issuer import (
    AUDIENCE,
    DISCOVERY,
    KEYS,
    NOW,
    Issuer,
    be_patient,
    issuer,
    key_for,
    public,
    rsa_key,
    signed,
)
from support.waiting import eventually

RULES = JwtRules(ALGORITHMS)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def provider() -> Iterator[Issuer]:
    with issuer() as found:
        yield found


@dataclass
class Asked:
    """A verifier on a clock of its own.

    Attributes:
        verifier: to be asked.
        seconds: since the start.
    """

    verifier: OidcVerifier
    seconds: float = 0.0

    async def outcome(self, token: str) -> Identity | CredentialFault:
        try:
            found = await self.verifier.identify(token)
        except CredentialError as error:
            return error.fault
        assert found is not None
        return found

    async def is_valid(self, token: str) -> bool:
        return isinstance(await self.outcome(token), Identity)


def asking(url: str, rules: JwtRules = RULES, now: datetime = NOW) -> Asked:
    found: Asked

    def monotonic() -> float:
        return found.seconds

    # The provider asks for the time when it is made.
    found = Asked.__new__(Asked)
    found.seconds = 0.0
    found.verifier = OidcVerifier(
        JwtVerifier(Provider(url, monotonic), rules, lambda: now + timedelta(seconds=found.seconds)), AUDIENCE
    )
    return found


def outcome(url: str, token: str, rules: JwtRules = RULES) -> Identity | CredentialFault:
    return asyncio.run(asking(url, rules).outcome(token))


def by_hmac(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    text = f"{encoded(header)}.{encoded(claims)}"
    signature = hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def by_rsa(header: dict[str, Any], claims: dict[str, Any], key: RSAKey) -> str:
    text = f"{encoded(header)}.{encoded(claims)}"
    assert key.private_key is not None
    signature = key.private_key.sign(text.encode(), PKCS1v15(), SHA256())
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def encoded(part: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def test_a_valid_token_is_its_subject(provider: Issuer) -> None:
    token = provider.token(groups=["b", "a"], header={"typ": "at+jwt"})
    assert outcome(provider.url, token) == Identity(
        IdentitySource.OIDC,
        "ann",
        groups=frozenset({"a", "b"}),
        scopes=frozenset({Scope.READ}),
        # Within the allowed difference of the clocks it is still accepted.
        expires=NOW + timedelta(seconds=660),
    )


def test_a_person_has_a_name_for_display_that_decides_nothing(provider: Issuer, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"name": " Ann Lee ", "preferred_username": "alee", "email": "a@example.org"}, "Ann Lee"),
        ({"name": " ", "preferred_username": "alee", "email": "a@example.org"}, "alee"),
        ({"name": ["Ann"], "preferred_username": 7, "email": "a@example.org"}, "a@example.org"),
        ({"name": "x" * 10_000}, "x" * 200),
        ({}, ""),
    ]
    nobody = outcome(provider.url, provider.token())
    for claims, expected in cases:
        with subtests.test(expected=expected[:20]):
            found = outcome(provider.url, provider.token(**claims))
            assert isinstance(found, Identity)
            assert found.shown_name == expected
            assert found == nobody, "what it may see is decided once for both"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_with_a_public_key_can_be_allowed(provider: Issuer, algorithm: str) -> None:
    key = key_for(algorithm)
    provider.keys = [public(key, alg=algorithm)]
    token = provider.token(key, {"alg": algorithm})
    assert isinstance(outcome(provider.url, token), Identity)
    others = replace(RULES, algorithms=tuple(each for each in ALGORITHMS if each != algorithm))
    assert outcome(provider.url, token, others) is CredentialFault.UNKNOWN


def test_what_is_no_valid_token_is_refused(provider: Issuer, subtests: pytest.Subtests) -> None:
    at = int(NOW.timestamp())
    own, other = rsa_key("k1"), rsa_key("other")
    claims = {"iss": provider.url, "aud": AUDIENCE, "sub": "ann", "exp": at + 600}
    unsigned = {"kid": "k1"}
    hs256 = {"alg": "HS256", **unsigned}
    valid = provider.token()
    head, payload, signature = valid.split(".")
    jwk = public(other)
    cases: dict[str, str] = {
        "expired": provider.token(exp=at - 61),
        "expired at this second": provider.token(exp=at - 60),
        "not yet valid": provider.token(nbf=at + 61),
        "issued in the future": provider.token(iat=at + 61),
        "no end": provider.token(exp=None),
        "an end that is no number": provider.token(exp=str(at + 600)),
        "an end that is no date": provider.token(exp=10**30),
        "an end at infinity": provider.token(exp=float("inf")),
        "an end that is NaN": provider.token(exp=float("nan")),
        "an end that is true": provider.token(exp=True),
        "wrong audience": provider.token(aud="other"),
        "no audience": provider.token(aud=None),
        "part of the audience": provider.token(aud=AUDIENCE[:-1]),
        "an audience that is an object": provider.token(aud={AUDIENCE: 1}),
        "two other audiences": provider.token(aud=["a", "b"]),
        "wrong issuer": provider.token(iss=provider.url + "/"),
        "no issuer": provider.token(iss=None),
        "two issuers": provider.token(iss=[provider.url]),
        "no subject": provider.token(sub=None),
        "an empty subject": provider.token(sub=" "),
        "a subject that is a number": provider.token(sub=7),
        "alg none": f"{encoded({'alg': 'none'})}.{encoded(claims)}.",
        "alg none with a kid": f"{encoded({'alg': 'none', **unsigned})}.{encoded(claims)}.",
        "alg NoNe": f"{encoded({'alg': 'NoNe', **unsigned})}.{encoded(claims)}.{signature}",
        "alg is missing": f"{encoded(unsigned)}.{encoded(claims)}.{signature}",
        "alg is a list": f"{encoded({'alg': ['RS256'], **unsigned})}.{encoded(claims)}.{signature}",
        "HS256 with the public key as secret": by_hmac(hs256, claims, own.as_pem(private=False)),
        "HS256 with the public modulus as secret": by_hmac(
            {"alg": "HS256", **unsigned}, claims, public(own)["n"].encode()
        ),
        "another algorithm of the same key": f"{encoded({'alg': 'PS256', **unsigned})}.{payload}.{signature}",
        "signed by another key": signed(claims, other, {"kid": "k1"}),
        "unknown kid": signed(claims, other, {}),
        "brings its own key": signed(claims, other, {"kid": "k1", "jwk": jwk}),
        "kid is a number": f"{encoded({'alg': 'RS256', 'kid': 1})}.{payload}.{signature}",
        "a critical header": by_rsa({"alg": "RS256", **unsigned, "crit": ["exp"], "exp": 1}, claims, own),
        "no signature": f"{head}.{payload}.",
        "a changed claim": f"{head}.{encoded({**claims, 'sub': 'root'})}.{signature}",
        "a changed signature": f"{head}.{payload}.{signature[:-6]}AAAAAA",
        "two parts": f"{head}.{payload}",
        "four parts": f"{valid}.",
        "JSON": json.dumps({"payload": payload, "protected": head, "signature": signature}),
        "a list as header": f"{encoded(['alg'])}.{payload}.{signature}",
        "deep header": f"{base64.urlsafe_b64encode(b'[' * 380).decode()}.{payload}.{signature}",
        "not ASCII": "ä.ö.ü",
        "too long": provider.token(padding="x" * 16_384),
        "of another kind": provider.token(header={"typ": "logout+jwt"}),
        "an ID token": provider.token(nonce="n"),
        "an ID token of a code": provider.token(at_hash="h"),
        "bound to a key": provider.token(cnf={"jkt": "x"}),
        "groups that are no names": provider.token(groups=[1]),
        "groups that are an object": provider.token(groups={"a": 1}),
        "scopes that are a number": provider.token(scope=1),
    }
    for name, token in cases.items():
        with subtests.test(name):
            expected = CredentialFault.EXPIRED if name.startswith("expired") else CredentialFault.UNKNOWN
            assert outcome(provider.url, token) is expected
    assert isinstance(outcome(provider.url, valid), Identity)


def test_a_refusal_says_nothing_to_an_attacker(provider: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    tokens = [provider.token(aud="other"), provider.token(iss="other"), signed({"sub": "ann"}, rsa_key("other"), {})]
    seen = set()
    with caplog.at_level(logging.INFO, "headwater.serve"):
        for token in tokens:
            with pytest.raises(InvalidTokenError) as error:
                asyncio.run(asking(provider.url).verifier.identify(token))
            seen.add((error.value.detail, str(error.value)))
            assert token not in caplog.text
            assert token.split(".")[1] not in caplog.text
    assert len(seen) == 1
    assert "InvalidClaimError: Invalid claim: 'aud'" in caplog.text, "the operator learns the reason"


def test_the_clocks_may_differ(provider: Issuer) -> None:
    at = int(NOW.timestamp())
    exact = replace(RULES, skew_seconds=0)
    cases: list[dict[str, Any]] = [{"exp": at - 59}, {"nbf": at + 60}, {"iat": at + 60}]
    for claims in cases:
        token = provider.token(**claims)
        assert isinstance(outcome(provider.url, token), Identity)
        assert isinstance(outcome(provider.url, token, exact), CredentialFault)


def test_one_audience_of_several_is_enough(provider: Issuer) -> None:
    assert isinstance(outcome(provider.url, provider.token(aud=["account", AUDIENCE])), Identity)


def test_groups_and_tenant_are_claims(provider: Issuer, subtests: pytest.Subtests) -> None:
    nested = {"realm_access": {"roles": ["a", "b"]}, "https://example.org/groups": "c"}
    cases: list[tuple[str, dict[str, Any], set[str]]] = [
        ("groups", {"groups": "a"}, {"a"}),
        ("groups", {"groups": []}, set()),
        ("groups", {"groups": ["", "a"]}, {"a"}),
        ("groups", {}, set()),
        ("realm_access.roles", nested, {"a", "b"}),
        ("realm_access.roles.more", {"realm_access": {"roles": {}}}, set()),
        ("https://example.org/groups", nested, {"c"}),
    ]
    for claim, claims, groups in cases:
        with subtests.test(claim=claim, claims=claims):
            found = outcome(provider.url, provider.token(**claims), replace(RULES, groups_claim=claim))
            assert isinstance(found, Identity)
            assert set(found.groups) == groups
            assert found.tenant is None
    tenants = replace(RULES, tenant_claim="org.id")
    found = outcome(provider.url, provider.token(org={"id": "acme"}), tenants)
    assert isinstance(found, Identity)
    assert found.tenant == "acme"
    for org in (None, {"id": ""}, {"id": ["acme"]}, {"id": " "}):
        assert outcome(provider.url, provider.token(org=org), tenants) is CredentialFault.UNKNOWN, "never the server's"


def test_scopes_are_those_of_the_token_or_the_setting(provider: Issuer, subtests: pytest.Subtests) -> None:
    rules = replace(RULES, scopes=frozenset({Scope.READ, Scope.EXPRESSIONS}))
    cases: list[tuple[dict[str, Any], set[Scope]]] = [
        ({}, {Scope.READ, Scope.EXPRESSIONS}),
        ({"scope": "openid profile"}, {Scope.READ, Scope.EXPRESSIONS}),
        ({"scope": "openid headwater:write  headwater:declare"}, {Scope.WRITE, Scope.DECLARE}),
        ({"scope": ["headwater:read"]}, {Scope.READ}),
        ({"scp": ["headwater:operate"]}, {Scope.OPERATE}),
        ({"scope": "headwater:everything"}, set()),
        ({"scope": "read write"}, {Scope.READ, Scope.EXPRESSIONS}),
    ]
    for claims, scopes in cases:
        with subtests.test(claims=claims):
            found = outcome(provider.url, provider.token(**claims), rules)
            assert isinstance(found, Identity)
            assert found.scopes == scopes


def test_keys_that_are_no_public_keys_of_signatures_are_not_read(provider: Issuer, subtests: pytest.Subtests) -> None:
    secret = OctKey.generate_key(512, {"kid": "k1"})
    small = rsa.generate_private_key(65537, 1024)
    pem = small.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.warns(UserWarning, match="2048"):
        weak = RSAKey.import_key(pem, {"kid": "k1"})
    own = public(rsa_key("k1"))
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "a symmetric key": (secret.as_dict(private=True), provider.token(secret, {"alg": "HS512"})),
        "a key that is too small": (public(weak), provider.token(weak)),
        "a key for encryption": ({**own, "use": "enc"}, provider.token()),
        "a key that signs": ({**{k: v for k, v in own.items() if k != "use"}, "key_ops": ["sign"]}, provider.token()),
        "a key for another algorithm": ({**own, "alg": "PS256"}, provider.token()),
        "a key of another kind": ({"kty": "AKP", "kid": "k1"}, provider.token()),
        "half a key": ({"kty": "RSA", "kid": "k1", "e": "AQAB"}, provider.token()),
        "a curve without signatures": ({"kty": "OKP", "crv": "X25519", "x": "AAAA", "kid": "k1"}, provider.token()),
    }
    for name, (key, token) in cases.items():
        with subtests.test(name):
            provider.keys = [key, public(rsa_key("k2"))]
            assert outcome(provider.url, token) is CredentialFault.UNKNOWN
            assert isinstance(outcome(provider.url, provider.token(rsa_key("k2"))), Identity), "the others are used"
    provider.keys = [rsa_key("k1").as_dict(private=True)]
    assert isinstance(outcome(provider.url, provider.token()), Identity)


def test_a_token_without_a_kid_has_the_only_key(provider: Issuer) -> None:
    token = provider.token(header={"kid": None})
    assert isinstance(outcome(provider.url, token), Identity)
    provider.keys.append(public(rsa_key("k2")))
    assert outcome(provider.url, token) is CredentialFault.UNKNOWN


def test_a_rotated_key_is_found_and_the_old_one_forgotten(provider: Issuer) -> None:
    async def story() -> None:
        asked = asking(provider.url)
        old, new = provider.token(), provider.token(rsa_key("k2"))
        assert await asked.is_valid(old)
        provider.keys = [public(rsa_key("k2"))]
        assert not await asked.is_valid(new), "asked a moment ago"
        assert await asked.is_valid(old)
        asked.seconds += PAUSE_SECONDS
        assert await asked.is_valid(new)
        assert not await asked.is_valid(old)

    asyncio.run(story())


def test_unknown_kids_do_not_become_requests(provider: Issuer) -> None:
    """10,000 of them are two requests for each pause."""
    token = provider.token()
    _, payload, signature = token.split(".")

    async def story() -> None:
        asked = asking(provider.url)
        for number in range(10_000):
            head = encoded({"alg": "RS256", "kid": f"unknown-{number}"})
            assert await asked.outcome(f"{head}.{payload}.{signature}") is CredentialFault.UNKNOWN
            if number == 5_000:
                asked.seconds += PAUSE_SECONDS
        assert await asked.is_valid(token)

    asyncio.run(story())
    assert provider.asked == {DISCOVERY: 2, KEYS: 2}


def test_requests_at_the_same_time_share_a_fetch(provider: Issuer) -> None:
    provider.answering.clear()

    async def story() -> None:
        asked = asking(provider.url)
        waiting = [asyncio.create_task(asked.outcome(provider.token())) for _ in range(50)]
        await asyncio.to_thread(eventually, lambda: provider.asked[DISCOVERY])
        # One of the clients goes away, the one that began.
        waiting[0].cancel()
        await asyncio.sleep(0)
        provider.answering.set()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert all(isinstance(each, Identity) for each in found[1:])

    asyncio.run(story())
    assert provider.asked == {DISCOVERY: 1, KEYS: 1}


def test_keys_are_fetched_anew_before_they_are_old(provider: Issuer) -> None:
    async def story() -> None:
        asked = asking(provider.url)
        assert await asked.is_valid(provider.token())
        asked.seconds = FRESH_SECONDS
        provider.answering.clear()
        assert await asked.is_valid(provider.token()), "it doesn't wait"
        await asyncio.to_thread(eventually, lambda: provider.asked[DISCOVERY] == 2)
        provider.answering.set()
        await asyncio.to_thread(eventually, lambda: provider.asked[KEYS] == 2)

    asyncio.run(story())


def down(provider: Issuer) -> None:
    provider.status = 502


@pytest.mark.parametrize(
    "fail",
    [
        pytest.param(down, id="status"),
        pytest.param(lambda provider: provider.metadata.update(issuer="https://other.example"), id="another issuer"),
        pytest.param(lambda provider: provider.metadata.update(issuer=None), id="no issuer"),
        pytest.param(lambda provider: provider.metadata.update(jwks_uri="http://example.org/keys"), id="no HTTPS"),
        pytest.param(lambda provider: provider.metadata.update(jwks_uri="file:///etc/passwd"), id="a file"),
        pytest.param(lambda provider: provider.metadata.update(jwks_uri=provider.url + "/none"), id="no keys"),
        pytest.param(lambda provider: provider.metadata.update(padding="x" * 2**20), id="too large"),
        pytest.param(lambda provider: setattr(provider, "status", 302), id="a redirect"),
    ],
)
def test_a_provider_that_is_down(
    provider: Issuer, fail: Callable[[Issuer], Any], caplog: pytest.LogCaptureFixture
) -> None:
    before = dict(provider.metadata)

    def mend() -> None:
        provider.metadata, provider.status = dict(before), 200

    async def story() -> None:
        asked, token = asking(provider.url), provider.token(exp=int(NOW.timestamp()) + 10**6)
        fail(provider)
        for _ in range(100):
            assert await asked.outcome(token) is CredentialFault.PROVIDER
        assert provider.asked[DISCOVERY] == 1
        mend()
        assert await asked.outcome(token) is CredentialFault.PROVIDER
        asked.seconds += RETRY_SECONDS
        assert await asked.is_valid(token), "it recovers"

        fail(provider)
        fetched = asked.seconds
        asked.seconds = fetched + FRESH_SECONDS
        assert await asked.is_valid(token)
        await asyncio.to_thread(eventually, lambda: provider.asked[DISCOVERY] == 3)
        asked.seconds = fetched + KEPT_SECONDS - 1
        assert await asked.is_valid(token), "with cached keys"
        unknown = provider.token(rsa_key("k2"))
        assert await asked.outcome(unknown) is CredentialFault.PROVIDER, "a new key, for all that is known"
        asked.seconds = fetched + KEPT_SECONDS
        assert await asked.outcome(token) is CredentialFault.PROVIDER, "too old"
        mend()
        asked.seconds += RETRY_SECONDS
        assert await asked.is_valid(token)

    with caplog.at_level(logging.WARNING, "headwater.serve"):
        asyncio.run(story())
    assert len(caplog.records) == 2, "once for each time that it goes away"


def test_a_provider_that_is_not_there() -> None:
    with issuer() as gone:
        pass
    with pytest.raises(ProviderUnavailableError):
        asyncio.run(asking(gone.url).verifier.identify(gone.token()))


def test_safe_urls() -> None:
    for url in ("https://example.org", "http://127.0.0.1:1/a", "http://localhost/", "http://[::1]:8/"):
        assert is_safe_url(url)
    for url in (
        "http://example.org",
        "http://127.0.0.1.example.org",
        "https://a@example.org",
        "https://",
        "ftp://example.org",
        "//example.org",
        "https://example.org/#a",
        "https://[::1",
    ):
        assert not is_safe_url(url)
