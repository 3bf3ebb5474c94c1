"""Sessions of people who logged in on the page: in memory, found by the hash of their id, limited in number and time.

A session has the identity of an ID token, and ends with this token; with a refresh token, it ends after `max_seconds`.
With a refresh token, a session in use asks the provider again every `CHECK_SECONDS`, so that a lost group or account at
the provider takes effect here. While the provider is unavailable, the last token counts until its end.
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
"""Time after which the provider is asked again about the subject of a session in use."""
RETRY_SECONDS = 30
"""Time after which the provider is asked again, if it was unavailable."""
MOST_SESSIONS = 10_000
MOST_OF_SUBJECT = 20
_ID_BYTES = 32


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens that the provider gave for a log-in, and the identity of their subject.

    Attributes:
        identity: identity of the subject; it expires with the ID token.
        id_token: the ID token, which is sent to the provider at log-out.
        refresh_token: token for the next grant; None if the provider gave none.
    """

    identity: Identity
    id_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)


@dataclass(slots=True)
class _Session:
    """A session.

    Attributes:
        ends: latest end of the session.
        check: time from which the provider is asked for the next grant.
        away: True if the provider was unavailable at the last check.
        checking: the running request for the next grant; None if none runs.
    """

    grant: Grant
    ends: datetime
    check: datetime
    away: bool = False
    checking: asyncio.Task[None] | None = None


class Sessions:
    """Sessions of one server (`credentials.SessionStore`). For one event loop.

    Args:
        cookie: name of the cookie with a session's id.
        max_seconds: longest time from a log-in to the end of its session.
        renew: function from a grant with a refresh token to the next grant, or to None if the provider gives none. It
            raises ProviderUnavailableError.
        clock: function that returns the current time, with a time zone.
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
        # In the order of their log-ins, which is also the order of their latest ends.
        self._by_hash: dict[bytes, _Session] = {}

    def begin(self, grant: Grant) -> str:
        """Begin a session and return its id: 256 random bits, of which only the hash is kept."""
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
        """Return the identity of a session's person; None if the session has ended or never existed.

        Raises:
            ProviderUnavailableError: the last token has ended, and the provider can't be asked for the next one.
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
        """Return True if the provider has to be asked: the check is due, or the last token has already ended."""
        now, expires = self._clock(), session.grant.identity.expires
        return now >= session.check or (expires is not None and now >= expires and not session.away)

    async def _check(self, key: bytes, session: _Session) -> None:
        if session.checking is None:
            session.checking = asyncio.get_running_loop().create_task(self._next_grant(key, session))
        # Shielded: if one client disconnects, other requests still wait for the same answer.
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
        """Remove ended sessions. If there are too many, remove the oldest, first those of the same subject."""
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
    """Key of a session. The time of a look-up depends on the key, which nobody without the id can choose bit by bit."""
    return hashlib.sha256(secret.encode()).digest()
