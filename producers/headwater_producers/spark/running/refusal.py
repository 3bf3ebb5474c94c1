"""Refusal: ending a script whose session can't be captured, before it has read or written anything.

headwater run                     by a wrong setting, whatever the policy: exit status 6, as for one that is known
to be wrong before the script runs
either, under an emission policy  by anything that keeps lineage from being captured: 6 for a wrong setting, else 1
that fails the job
else                              never: it is an error in the log
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_producers.spark.common.settings import ENV_PREFIX, EmissionPolicy, headwater_properties, property_name
from headwater_producers.spark.running.command_line import RunRequest

CONFIGURATION = 6
_FAILED = 1
_SETTING = "emission_policy"
_PATIENT = {str(policy) for policy in EmissionPolicy if not policy.fails}


def exit_status(error: Exception, session: Any, request: RunRequest) -> int:
    """Return the status that a script is ended with; 0: it runs on.

    Args:
        error: error of `attach`.
        session: a classic session; None: it is of Spark Connect, and has no properties of ours.
        request: request that runs the script.
    """
    wrong = isinstance(error, CaptureSettingsError)
    properties = headwater_properties(session) if session is not None else {}
    if (wrong and request.exits_on_wrong_settings) or wants_lineage(request.settings, properties):
        return CONFIGURATION if wrong else _FAILED
    return 0


def wants_lineage(settings: Mapping[str, str], properties: Mapping[str, str]) -> bool:
    """Return True if the emission policy fails a job without lineage, by settings of which some may be wrong.

    A value that is no policy's name was meant to be one, and may be the strictest; so was the property that has such a
    name and is itself misspelt.

    Args:
        settings: settings of the command line, by name.
        properties: Spark's properties whose names begin with `spark.headwater.`.
    """
    wanted = (
        settings.get(_SETTING)
        or properties.get(property_name(_SETTING))
        or os.environ.get(f"{ENV_PREFIX}{_SETTING.upper()}")
    )
    if wanted:
        return wanted not in _PATIENT
    return any(value in set(EmissionPolicy) - _PATIENT for value in properties.values())
