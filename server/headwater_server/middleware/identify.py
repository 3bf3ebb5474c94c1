"""Identity of a request, before its body is read; requests without the access that their route needs are refused.

Later code reads `identity_of(scope)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from headwater_server.identity import NOBODY, Identity, IdentitySource, Scope
from headwater_server.identity.authentication import Authentication
from headwater_server.identity.credentials import CredentialError, CredentialFault, ProviderUnavailableError
from headwater_server.identity.identity import IDENTITY
from headwater_server.metrics import AuthenticationMetrics
from headwater_server.middleware.bodies import CLOSE, has_body
from headwater_server.problems import ProblemType, problem
from headwater_server.scoped import CHECKED, Access, Needs, access_of

_MISSING = (
    "This request needs a credential. Send `Authorization: Bearer …` with an API token, or log in in another way that "
    "this server accepts."
)
LOGIN_HEADER = "X-Headwater-Login"
"""Header of answers to refused requests, if people can log in: path of the log-in, relative to the page's."""
LOGIN_PATH = "login"
"""Path of the log-in, relative to the page's."""
_REALM = 'Bearer realm="headwater"'


class Identify:
    """Establishes the identity of each request.

    Args:
        app: the next app; it finds the identity in its scope.
        anonymous: identity of requests without a credential; None: they are refused, except on open routes.
        metadata_url: function from a refused request to the URL that explains how to log in (RFC 9728, section 5.1), or
            to None if its client doesn't use this URL.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authentication: Authentication,
        anonymous: Identity | None,
        metrics: AuthenticationMetrics,
        metadata_url: Callable[[AsgiScope], str | None] = lambda _: None,
    ) -> None:
        self._app = app
        self._authentication = authentication
        self._anonymous = anonymous
        self._metrics = metrics
        self._metadata_url = metadata_url

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[CHECKED] = needs = access_of(scope["app"].routes, scope)
        if needs is Access.OPEN:
            scope[IDENTITY] = NOBODY
            await self._app(scope, receive, send)
            return
        try:
            # Set before the check, so that the audit has the identity of refused requests.
            scope[IDENTITY] = identity = await self._identity(scope)
            _check(identity, needs)
        except CredentialError as error:
            self._metrics.refused(error.fault)
            headers = dict(CLOSE) if has_body(Headers(scope=scope)) else {}
            if self._authentication.login is not None:
                headers[LOGIN_HEADER] = LOGIN_PATH
            await refusal(error, needs, headers, self._metadata_url(scope))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _identity(self, scope: AsgiScope) -> Identity:
        """Identity of a request.

        Raises:
            CredentialError: the request has no identity.
        """
        identity = await self._authentication.identify(scope) or self._anonymous
        if identity is None:
            raise CredentialError(CredentialFault.MISSING, _MISSING)
        return identity


def _check(identity: Identity, needs: Needs) -> None:
    """Check that an identity has the access.

    Raises:
        CredentialError: the identity doesn't have the access.
    """
    if not isinstance(needs, Scope) or needs in identity.scopes:
        return
    if identity.source is IdentitySource.ANONYMOUS:
        raise CredentialError(CredentialFault.MISSING, _MISSING)
    raise CredentialError(
        CredentialFault.SCOPE, f"This request needs the scope `{needs}`, which the credential doesn't give."
    )


def refusal(
    error: CredentialError, needs: Needs, headers: Mapping[str, str], metadata_url: str | None = None
) -> Response:
    """Response to a request whose credential isn't accepted (RFC 6750, 3.1)."""
    if isinstance(error, ProviderUnavailableError):
        return problem(ProblemType.PROVIDER_UNAVAILABLE, error.detail, headers=headers)
    if error.fault is CredentialFault.SEVERAL:
        return problem(ProblemType.CREDENTIALS, error.detail, headers=headers)
    kind, challenge = ProblemType.UNAUTHENTICATED, _REALM
    if error.fault is CredentialFault.SCOPE:
        kind, challenge = ProblemType.FORBIDDEN, f'{_REALM}, error="insufficient_scope", scope="{needs}"'
    elif error.fault is not CredentialFault.MISSING:
        challenge = f'{_REALM}, error="invalid_token"'
    if metadata_url is not None:
        challenge += f', resource_metadata="{metadata_url}"'
    return problem(kind, error.detail, headers={"WWW-Authenticate": challenge, **headers})
