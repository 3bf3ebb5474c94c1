"""Ways to log in, and TLS, by the settings."""

from __future__ import annotations

from pathlib import Path

from headwater_server.identity import ANONYMOUS, ANONYMOUS_READER, Identity
from headwater_server.identity.authentication import Authentication
from headwater_server.identity.credentials import BearerVerifier
from headwater_server.identity.lists import algorithms_in, items, networks_in, scopes_in
from headwater_server.identity.proxy import LEAST_SECRET_CHARS, TrustedProxy
from headwater_server.identity.tokens import TokenVerifier
from headwater_server.settings import AccessSettingsError, ServeSettings
from headwater_server.tls import ServerTls


def configured_authentication(serve: ServeSettings) -> Authentication:
    """Ways to log in, by the settings.

    Raises:
        AccessSettingsError: settings contradict each other.
        TokensFileError: the tokens file is broken.
    """
    return Authentication(
        tokens=None if serve.tokens_file is None else TokenVerifier(Path(serve.tokens_file)),
        bearer=_bearer(serve),
        proxy=_proxy(serve),
        certificate_scopes=None if serve.tls_client_ca is None else scopes_in(serve.tls_client_scopes),
    )


def configured_tls(serve: ServeSettings, authentication: Authentication) -> ServerTls | None:
    """TLS of the server, by the settings; None: plain HTTP.

    Client certificates are optional, unless they are the only way to ask anything.

    Raises:
        AccessSettingsError: the certificate of the server isn't set.
        TlsFilesError: the files can't be used.
    """
    if serve.tls_certificate is None:
        if serve.tls_key is not None or serve.tls_client_ca is not None:
            raise AccessSettingsError(
                "A TLS key or a client CA is set, and no certificate of the server.",
                "Set HEADWATER_SERVE_TLS_CERTIFICATE.",
            )
        return None
    key, client_ca = (None if name is None else Path(name) for name in (serve.tls_key, serve.tls_client_ca))
    required = authentication.only_certificates and not serve.allow_anonymous_reads
    return ServerTls(Path(serve.tls_certificate), key, client_ca, required=required)


def anonymous_identity(serve: ServeSettings, authentication: Authentication) -> Identity | None:
    """Identity of requests without a credential; None: these are refused."""
    if serve.allow_anonymous_reads:
        return ANONYMOUS_READER
    return ANONYMOUS if serve.loopback and not authentication.configured else None


def _bearer(serve: ServeSettings) -> BearerVerifier | None:
    """Verifier of access tokens of the OIDC provider; None: none are accepted.

    Raises:
        AccessSettingsError: half of the settings is missing.
    """
    if serve.oidc_issuer is None:
        if serve.oidc_audience is not None:
            raise AccessSettingsError(
                "HEADWATER_SERVE_OIDC_AUDIENCE is set, and no issuer of the tokens.",
                "Set HEADWATER_SERVE_OIDC_ISSUER to the provider's issuer.",
            )
        return None
    # httpx2, joserfc and cryptography are only loaded where they are used.
    from headwater_server.identity.oidc import JwtRules, JwtVerifier, OidcVerifier
    from headwater_server.identity.provider import Provider, is_safe_url

    if not is_safe_url(serve.oidc_issuer):
        raise AccessSettingsError(
            "HEADWATER_SERVE_OIDC_ISSUER isn't the HTTPS URL of an issuer.",
            "Set it to the value of `issuer` in the provider's discovery document, such as https://login.example.org.",
        )
    if serve.oidc_audience is None:
        raise AccessSettingsError(
            "HEADWATER_SERVE_OIDC_ISSUER is set, and nothing that uses it.",
            "Set HEADWATER_SERVE_OIDC_AUDIENCE to the audience of access tokens for this server.",
        )
    rules = JwtRules(
        algorithms_in(serve.oidc_algorithms),
        serve.oidc_clock_skew_seconds,
        serve.oidc_groups_claim,
        serve.oidc_tenant_claim,
        scopes_in(serve.oidc_scopes),
    )
    return OidcVerifier(JwtVerifier(Provider(serve.oidc_issuer), rules), serve.oidc_audience)


def _proxy(serve: ServeSettings) -> TrustedProxy | None:
    networks, secrets = networks_in(serve.proxy_networks), items(serve.proxy_secret.get_secret_value())
    if not networks and not secrets:
        return None
    if not networks:
        raise AccessSettingsError(
            "HEADWATER_SERVE_PROXY_SECRET is set, and no network that the proxy's requests come from.",
            "Set HEADWATER_SERVE_PROXY_NETWORKS: 10.0.0.7, or 10.0.0.0/28.",
        )
    if not secrets or min(map(len, secrets)) < LEAST_SECRET_CHARS:
        raise AccessSettingsError(
            f"A proxy that names users needs a secret of at least {LEAST_SECRET_CHARS} characters.",
            "Set HEADWATER_SERVE_PROXY_SECRET to 64 random characters, and have the proxy send them.",
        )
    return TrustedProxy(
        networks,
        tuple(secret.encode() for secret in secrets),
        serve.proxy_user_header,
        serve.proxy_groups_header,
        scopes_in(serve.proxy_scopes),
    )
