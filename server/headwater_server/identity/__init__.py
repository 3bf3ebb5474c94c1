"""Identity of a request: by API token, OIDC, session, a proxy's headers, or client certificate.

`middleware.identify` identifies each request once. Later code reads `identity_of(scope)`.
"""

from headwater_server.identity.identity import (
    ANONYMOUS,
    ANONYMOUS_READER,
    NOBODY,
    SERVER,
    Identity,
    IdentitySource,
    Scope,
    identity_of,
)

__all__ = ["ANONYMOUS", "ANONYMOUS_READER", "NOBODY", "SERVER", "Identity", "IdentitySource", "Scope", "identity_of"]
