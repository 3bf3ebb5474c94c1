"""The demo's events on a topic, a consumer that follows it, and the commands of this process on both."""

from support.following import followed, followed_demo, headwater, settings

__all__ = ["followed", "followed_demo", "headwater", "settings"]
