"""Service account of a job, and a digest of its Spark configuration."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

from headwater_schemas.secret_names import is_secret_name

_BY_PROPERTY: Final = (
    "spark.kubernetes.authenticate.driver.serviceAccountName",
    "spark.kubernetes.authenticate.serviceAccountName",
    "spark.kerberos.principal",
    "spark.yarn.principal",
)
_BY_VARIABLE: Final = ("AWS_ROLE_ARN", "AZURE_CLIENT_ID", "GOOGLE_SERVICE_ACCOUNT", "SERVICE_ACCOUNT")
"""Environment variables with the account: AWS and Azure set their variable in a pod with a workload identity."""

_OF_ONE_START: Final = re.compile(
    r"spark\.(?:app|ui|yarn|repl|kubernetes|openlineage|headwater|history|submit|files|jars|log|org)(?:\.(?!packages$)|$)"
    r"|spark\.driver\.(?:host|port|bindAddress)$|spark\.executor\.id$|spark\.master$|.*[pP]ort$"
    r"|spark\.(?:driver|executor)\.(?:extraJavaOptions|defaultJavaOptions|extraClassPath)$"
)
"""Properties that differ between starts of a job or between machines, independent of the configuration."""
_DIGITS: Final = 16


def service_account(properties: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """Return the account with which the job accesses other systems, if Spark's properties or the platform name it."""
    named = [properties.get(name) for name in _BY_PROPERTY] + [environment.get(name) for name in _BY_VARIABLE]
    return next((each for each in named if each), None)


def configuration_digest(properties: Mapping[str, str]) -> str:
    """Return a digest of the Spark properties that the job has set: equal for equal settings, on any machine.

    Secrets are left out, and so are properties that Spark or its cluster manager sets at each start.

    Args:
        properties: properties of the session, including the application's.
    """
    kept = {
        name: value for name, value in properties.items() if not _OF_ONE_START.match(name) and not is_secret_name(name)
    }
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:_DIGITS]
