"""Sessions of people who logged in on the page: in memory, found by the hash of their id, bounded in number and time.

A session has what an ID token stated about its subject, and ends with that token; with a refresh token, after
`max_seconds`. With a refresh token a session that is used asks the provider again every `CHECK_SECONDS`, so that
whoever loses a group there, or the account, loses it here. While the provider is away the last token counts until its
end.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headwater_server.identity.credentials import ProviderUnavailableError
from headwater_server.identity.identity import Identity

CHECK_SECONDS = 300
"""Time after which the provider is asked again about the subject of a session that is used."""
RETRY_SECONDS = 30
"""Time after which it is asked again, if it couldn't be asked."""
MOST_SESSIONS = 10_000
MOST_OF_SUBJECT = 20
_ID_BYTES = 32


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens that the provider gave for a log-in, and whose they are.

    Attributes:
        identity: of its subject; it expires with the ID token.
        id_token: the ID token, which is shown to the provider at log-out.
        refresh_token: token for the next grant; None: the provider gave none.
    """

    identity: Identity
    id_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)


@dataclass(slots=True)
class _Session:
    """A session.

    Attributes:
        grant: the last one.
        ends: latest end.
        check: time from which the provider is asked for the next grant.
        away: the provider couldn't be asked the last time.
        checking: the request for the next grant, while it runs.
    """

    grant: Grant
    ends: datetime
    check: datetime
    away: bool = False
    checking: asyncio.Task[None] | None = None


class Sessions:
    """Sessions of one server (`credentials.SessionStore`). For one event loop.

    Args:
        cookie: name of the cookie that has a session's id.
        max_seconds: latest end of a session after its log-in.
        renew: function from a grant with a refresh token to the next one; None: the provider gives no other. Raises
            ProviderUnavailableError.
        clock: current time, aware.
    """

    def __init__(
        self,
        cookie: str,
        max_seconds: int,
        renew: Callable[[Grant], Awaitable[Grant | None]],
        clock: Callable[[], datetime],
    ) -> None:
        self.cookie = cookie
        self.max_seconds = max_seconds
        self._renew = renew
        self._clock = clock
        # In the order of their log-ins, which is that of their latest ends.
        self._by_hash: dict[bytes, _Session] = {}

    def begin(self, grant: Grant) -> str:
        """Begin a session and return its id, 256 random bits, which nothing keeps."""
        now = self._clock()
        self._make_room(grant.identity.subject, now)
        secret = secrets.token_urlsafe(_ID_BYTES)
        ends, check = (now + timedelta(seconds=seconds) for seconds in (self.max_seconds, CHECK_SECONDS))
        self._by_hash[_hash(secret)] = _Session(grant, ends, check)
        return secret

    def end(self, cookie: str) -> Grant | None:
        """End a session; return its last grant, None if there is no such session."""
        session = self._by_hash.pop(_hash(cookie), None)
        return None if session is None else session.grant

    async def identity(self, cookie: str) -> Identity | None:
        """Return whose session it is; None for one that has ended, or never was.

        Raises:
            ProviderUnavailableError: the last token has ended, and the provider can't be asked for the next.
        """
        key = _hash(cookie)
        session = self._by_hash.get(key)
        if session is None:
            return None
        if session.grant.refresh_token is not None and self._is_due(session):
            await self._check(key, session)
        if self._by_hash.get(key) is not session:
            return None
        identity = session.grant.identity
        expires = session.ends if identity.expires is None else min(session.ends, identity.expires)
        if self._clock() < expires:
            return replace(identity, expires=expires)
        if session.away and self._clock() < session.ends:
            raise ProviderUnavailableError
        del self._by_hash[key]
        return None

    def _is_due(self, session: _Session) -> bool:
        """Return True if the provider is to be asked: it is time, or the last token has ended before that."""
        now, expires = self._clock(), session.grant.identity.expires
        return now >= session.check or (expires is not None and now >= expires and not session.away)

    async def _check(self, key: bytes, session: _Session) -> None:
        if session.checking is None:
            session.checking = asyncio.get_running_loop().create_task(self._next_grant(key, session))
        # The client of one request may go away; others wait for the same answer.
        await asyncio.shield(session.checking)

    async def _next_grant(self, key: bytes, session: _Session) -> None:
        try:
            grant = await self._renew(session.grant)
        except ProviderUnavailableError:
            session.away = True
            session.check = self._clock() + timedelta(seconds=RETRY_SECONDS)
        else:
            session.away = False
            session.check = self._clock() + timedelta(seconds=CHECK_SECONDS)
            if grant is None:
                self._by_hash.pop(key, None)
            else:
                session.grant = grant
        finally:
            session.checking = None

    def _make_room(self, subject: str, now: datetime) -> None:
        """Forget sessions that have ended; of too many the oldest, first of the same subject."""
        for key, session in list(self._by_hash.items()):
            if now < session.ends:
                break
            del self._by_hash[key]
        own = [key for key, session in self._by_hash.items() if session.grant.identity.subject == subject]
        if len(own) >= MOST_OF_SUBJECT:
            del self._by_hash[own[0]]
        elif len(self._by_hash) >= MOST_SESSIONS:
            del self._by_hash[next(iter(self._by_hash))]


def _hash(secret: str) -> bytes:
    """Key of a session. The time of a look-up depends on it, and nobody without the id can choose it bit by bit."""
    return hashlib.sha256(secret.encode()).digest()
