"""Ways to log in, and TLS, as configured by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater_server.identity import ANONYMOUS, ANONYMOUS_READER, Identity
from headwater_server.identity.authentication import Authentication
from headwater_server.identity.credentials import BearerVerifier
from headwater_server.identity.lists import algorithms_in, items, networks_in, scopes_in
from headwater_server.identity.proxy import LEAST_SECRET_CHARS, TrustedProxy
from headwater_server.identity.tokens import TokenVerifier
from headwater_server.settings import AccessSettingsError, ServeSettings
from headwater_server.tls import ServerTls

if TYPE_CHECKING:
    from headwater_server.identity.login import Client, Login


def configured_authentication(serve: ServeSettings) -> Authentication:
    """Return the configured ways to log in.

    Raises:
        AccessSettingsError: settings contradict each other.
        TokensFileError: the tokens file is broken.
    """
    bearer, login = _oidc(serve)
    return Authentication(
        tokens=None if serve.tokens_file is None else TokenVerifier(Path(serve.tokens_file)),
        bearer=bearer,
        login=login,
        sessions=None if login is None else login.sessions,
        proxy=_proxy(serve),
        certificate_scopes=None if serve.tls_client_ca is None else scopes_in(serve.tls_client_scopes),
    )


def configured_tls(serve: ServeSettings, authentication: Authentication) -> ServerTls | None:
    """Return the configured TLS of the server; None: plain HTTP.

    Client certificates are optional, unless they are the only way to log in and anonymous reads aren't allowed.

    Raises:
        AccessSettingsError: the certificate of the server isn't set.
        TlsFilesError: the files can't be used.
    """
    if serve.tls_certificate is None:
        if serve.tls_key is not None or serve.tls_client_ca is not None:
            raise AccessSettingsError(
                "A TLS key or a client CA is set, but no certificate of the server.",
                "Set HEADWATER_SERVE_TLS_CERTIFICATE.",
            )
        return None
    key, client_ca = (None if name is None else Path(name) for name in (serve.tls_key, serve.tls_client_ca))
    required = authentication.only_certificates and not serve.allow_anonymous_reads
    return ServerTls(Path(serve.tls_certificate), key, client_ca, required=required)


def anonymous_identity(serve: ServeSettings, authentication: Authentication) -> Identity | None:
    """Return the identity of requests without a credential; None: such requests are refused."""
    if serve.allow_anonymous_reads:
        return ANONYMOUS_READER
    return ANONYMOUS if serve.loopback and not authentication.configured else None


def _oidc(serve: ServeSettings) -> tuple[BearerVerifier | None, Login | None]:
    """Return the verifier of access tokens and the log-in of the OIDC provider; None for either that isn't configured.

    Raises:
        AccessSettingsError: some of the required settings are missing.
    """
    if serve.oidc_issuer is None:
        for name in ("oidc_audience", "oidc_client_id", "oidc_client_secret", "public_url"):
            if name in serve.model_fields_set:
                raise AccessSettingsError(
                    f"HEADWATER_SERVE_{name.upper()} is set, but no OIDC provider.",
                    "Set HEADWATER_SERVE_OIDC_ISSUER to the provider's issuer.",
                )
        return None, None
    # httpx2, joserfc and Authlib are only imported if OIDC is configured.
    from headwater_server.identity.oidc import JwtRules, JwtVerifier, OidcVerifier
    from headwater_server.identity.provider import Provider, is_safe_url

    if not is_safe_url(serve.oidc_issuer):
        raise AccessSettingsError(
            "HEADWATER_SERVE_OIDC_ISSUER isn't the HTTPS URL of an issuer.",
            "Set it to the value of `issuer` in the provider's discovery document, such as https://login.example.org.",
        )
    if serve.oidc_audience is None and serve.oidc_client_id is None:
        raise AccessSettingsError(
            "HEADWATER_SERVE_OIDC_ISSUER is set, but no setting that uses the provider.",
            "Set HEADWATER_SERVE_OIDC_AUDIENCE for access tokens, HEADWATER_SERVE_OIDC_CLIENT_ID for the log-in on the "
            "page, or both.",
        )
    client = _login_client(serve)
    rules = JwtRules(
        algorithms_in(serve.oidc_algorithms),
        serve.oidc_clock_skew_seconds,
        serve.oidc_groups_claim,
        serve.oidc_tenant_claim,
        scopes_in(serve.oidc_scopes),
    )
    provider = Provider(serve.oidc_issuer)
    verifier = JwtVerifier(provider, rules)
    bearer = None if serve.oidc_audience is None else OidcVerifier(verifier, serve.oidc_audience)
    if client is None:
        return bearer, None
    from headwater_server.identity.login import Login

    return bearer, Login(provider, verifier, client, serve.session_max_seconds)


def _login_client(serve: ServeSettings) -> Client | None:
    """Return this server's registration as a client of the provider; None: nobody can log in on the page.

    Raises:
        AccessSettingsError: some of the required settings are missing.
    """
    secret = serve.oidc_client_secret.get_secret_value()
    if serve.oidc_client_id is None:
        if secret:
            raise AccessSettingsError(
                "HEADWATER_SERVE_OIDC_CLIENT_SECRET is set, but no client id.",
                "Set HEADWATER_SERVE_OIDC_CLIENT_ID to the id that the provider gave this server.",
            )
        if serve.public_url is not None:
            _check_public_url(serve)
        return None
    from headwater_server.identity.login import Client

    public_url = _check_public_url(serve)
    scopes = serve.oidc_login_scopes.split()
    if "openid" not in scopes:
        raise AccessSettingsError(
            "HEADWATER_SERVE_OIDC_LOGIN_SCOPES lacks `openid`: the provider would give no ID token.",
            "Add openid to HEADWATER_SERVE_OIDC_LOGIN_SCOPES.",
        )
    return Client(serve.oidc_client_id, secret, " ".join(scopes), public_url)


def _check_public_url(serve: ServeSettings) -> str:
    """Return the checked public URL of the server, without a slash at its end.

    Raises:
        AccessSettingsError: the URL isn't set, isn't safe, or has a host name that isn't allowed.
    """
    from headwater_server.identity.provider import is_safe_url

    url = urlsplit(serve.public_url or "")
    if serve.public_url is None or not is_safe_url(serve.public_url) or url.query:
        raise AccessSettingsError(
            "A log-in needs the URL by which browsers and MCP clients reach this server: HTTPS, or HTTP on a loopback "
            "address, without a query.",
            "Set HEADWATER_SERVE_PUBLIC_URL, such as https://lineage.example.org, and register "
            "https://lineage.example.org/login/callback with the provider.",
        )
    if (hosts := serve.hosts()) is not None and url.hostname not in hosts:
        raise AccessSettingsError(
            "HEADWATER_SERVE_PUBLIC_URL has a host name that requests may not use for this server.",
            f"Add {url.hostname} to HEADWATER_SERVE_ALLOWED_HOSTS.",
        )
    return serve.public_url.rstrip("/")


def _proxy(serve: ServeSettings) -> TrustedProxy | None:
    networks, secrets = networks_in(serve.proxy_networks), items(serve.proxy_secret.get_secret_value())
    if not networks and not secrets:
        return None
    if not networks:
        raise AccessSettingsError(
            "HEADWATER_SERVE_PROXY_SECRET is set, but no network from which the proxy sends requests.",
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
