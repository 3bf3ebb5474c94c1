"""A file of any supported format → its declaration set."""

from __future__ import annotations

import re

from headwater_analysis.declaring.dbt import read_manifest
from headwater_analysis.declaring.names import Names
from headwater_analysis.declaring.odcs import read_contract
from headwater_analysis.declaring.reading import read_set
from headwater_analysis.declaring.sets import DeclaredSet

# A key at the top of a document, in YAML or JSON.
_CONTRACT = re.compile(
    r"""^["']?kind["']?\s*:\s*["']?DataContract\b|[{,]\s*"kind"\s*:\s*"DataContract\"""", re.MULTILINE
)
_MANIFEST = re.compile(r'"dbt_schema_version"\s*:\s*"[^"]*manifest')
_HEAD = 4_000


def read_file(
    file: str, text: str, *, namespace: str | None = None, catalog: str | None = None, names: Names | None = None
) -> DeclaredSet:
    """Read the declaration set of a file: Headwater's own format, an ODCS data contract or dbt's manifest.

    Args:
        file: name of the file, for messages.
        namespace: namespace of a contract's or manifest's datasets that have none.
        catalog: text of dbt's `catalog.json`.
        names: lookup of datasets for which neither the file nor `namespace` gives a namespace; None: such names are
            mistakes.

    Raises:
        DeclarationError: the file has mistakes.
    """
    if text.lstrip().startswith("{") and _MANIFEST.search(text[:_HEAD]):
        return read_manifest(file, text, namespace, catalog)
    if _CONTRACT.search(text):
        return read_contract(file, text, namespace, names)
    return read_set(file, text, names)
