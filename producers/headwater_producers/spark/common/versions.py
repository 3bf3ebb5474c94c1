"""Version of a job's code: script, git checkout or installed distribution, and container image.

git checkout           ⇒ repository, branch, commit, and the script's path in it
installed distribution ⇒ `flights 1.4.2`
container              ⇒ the image in the setting `job_image`, else in Spark's properties on Kubernetes
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

_GIT_TIMEOUT_SECONDS = 2.0

_NOTEBOOK: Final = ("DATABRICKS_NOTEBOOK_PATH", "JPY_SESSION_NAME")
"""Variables with the name of a kernel's notebook."""
_IMAGES: Final = ("spark.kubernetes.driver.container.image", "spark.kubernetes.container.image")


@cache
def capture_version() -> str:
    """Version of this distribution."""
    try:
        return metadata.version("headwater")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Origin and version of the running script.

    Attributes:
        script: the script's path in its checkout, else its whole path; or the notebook's path.
        commit: the checkout's commit, with `-dirty` if tracked files have uncommitted changes.
        repository: URL of the checkout's `origin`; it may hold credentials.
        branch: the checked-out branch; None for a detached head.
    """

    script: str | None = None
    commit: str | None = None
    repository: str | None = None
    branch: str | None = None
    package: str | None = None

    @property
    def version(self) -> str | None:
        """Commit of the code, else name and version of the installed distribution."""
        return self.commit or self.package


def running_code(environment: Mapping[str, str] = os.environ) -> Code:
    """Detect the code of the running script or notebook. Each part that can't be detected is None; never raises."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is None:
        return Code(script=next((environment[name] for name in _NOTEBOOK if environment.get(name)), None))
    path = Path(file).resolve()
    package = _distribution_of(main)
    top = _git(str(path.parent), "rev-parse", "--show-toplevel")
    if top is None or not path.is_relative_to(top):
        return Code(script=str(path), package=package)
    folder = str(path.parent)
    return Code(
        script=path.relative_to(top).as_posix(),
        commit=_commit(folder),
        repository=_git(folder, "remote", "get-url", "origin"),
        branch=_git(folder, "symbolic-ref", "--quiet", "--short", "HEAD"),
        package=package,
    )


def container_image(properties: Mapping[str, str]) -> str | None:
    """Return the driver's container image in Spark on Kubernetes."""
    return next((properties[name] for name in _IMAGES if properties.get(name)), None)


def _commit(folder: str) -> str | None:
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _run_git(folder, "diff", "--quiet", "HEAD")
    return commit + ("-dirty" if changed is not None and changed.returncode == 1 else "")


def _distribution_of(main: Any) -> str | None:
    """Return the distribution that installed the main module, as in `python -m flights.daily` or a console script."""
    name = getattr(getattr(main, "__spec__", None), "name", None)
    if not isinstance(name, str):
        return None
    found = metadata.packages_distributions().get(name.partition(".")[0], ())
    return next((f"{each} {metadata.version(each)}" for each in sorted(found)), None)


def _git(folder: str, *arguments: str) -> str | None:
    """Return git's output; None if git is missing, slow or has no answer."""
    found = _run_git(folder, *arguments)
    return found.stdout.strip() or None if found is not None and found.returncode == 0 else None


def _run_git(folder: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
