"""One Hypothesis profile for the suite: no deadlines, for a busy machine is no bug."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("headwater", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("headwater")
