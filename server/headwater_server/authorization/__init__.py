"""Authorisation: one reviewed file of Cedar policies, compiled to the scopes and assets that an identity may see."""

from headwater_server.authorization.authorization import FILTERED, Authorization
from headwater_server.authorization.policies import AccessDecision, AccessFileError, Policies, Resource

__all__ = ["FILTERED", "AccessDecision", "AccessFileError", "Authorization", "Policies", "Resource"]
