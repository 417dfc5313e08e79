"""Statistical disclosure control: microdata, tables and query answers that say what is safe, and no more.

Everything public is imported from here; names are loaded when first used, so that `import reticent` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from reticent.base.errors import ReticentError
    from reticent.data.hierarchy import Hierarchy
    from reticent.data.microdata import Microdata
    from reticent.data.published import MaskedFile
    from reticent.data.published_table import PublishedTable
    from reticent.data.schema import Kind, Role, Schema, Variable
    from reticent.data.table import DimensionSpec, TableSpec
    from reticent.io.read import load_microdata, read_microdata
    from reticent.io.schema import read_schema, write_schema
    from reticent.io.write import write_masked
    from reticent.jobs.describe import describe_file
    from reticent.jobs.explore import explore
    from reticent.jobs.protect_file import protect_file
    from reticent.jobs.protect_table import protect_table
    from reticent.microdata.loss.compare import compare
    from reticent.microdata.risk.anonymity import k_anonymity
    from reticent.microdata.risk.combinations import KeyCombinations, unsafe_combinations
    from reticent.microdata.risk.diversity import attribute_risk
    from reticent.microdata.risk.semantics import compare_semantics
    from reticent.microdata.risk.shapley import key_shares
    from reticent.microdata.risk.suda import suda
    from reticent.queries.database import ProtectedDatabase
    from reticent.queries.language import ask_for
    from reticent.queries.policy import Policy
    from reticent.queries.terms import Term
    from reticent.tables.result import ProtectedTable
    from reticent.tables.rules import PQ, Dominance, PPercent, Threshold
    from reticent.tabulation.tabulate import tabulate

# public name -> the module that defines it
_EXPORTS: dict[str, str] = {
    "DimensionSpec": "reticent.data.table",
    "Dominance": "reticent.tables.rules",
    "Hierarchy": "reticent.data.hierarchy",
    "Kind": "reticent.data.schema",
    "MaskedFile": "reticent.data.published",
    "Microdata": "reticent.data.microdata",
    "Policy": "reticent.queries.policy",
    "ProtectedDatabase": "reticent.queries.database",
    "PPercent": "reticent.tables.rules",
    "PQ": "reticent.tables.rules",
    "ProtectedTable": "reticent.tables.result",
    "PublishedTable": "reticent.data.published_table",
    "ReticentError": "reticent.base.errors",
    "Role": "reticent.data.schema",
    "Schema": "reticent.data.schema",
    "TableSpec": "reticent.data.table",
    "Term": "reticent.queries.terms",
    "Threshold": "reticent.tables.rules",
    "Variable": "reticent.data.schema",
    "ask_for": "reticent.queries.language",
    "describe_file": "reticent.jobs.describe",
    "load_microdata": "reticent.io.read",
    "compare": "reticent.microdata.loss.compare",
    "explore": "reticent.jobs.explore",
    "protect_file": "reticent.jobs.protect_file",
    "protect_table": "reticent.jobs.protect_table",
    "read_microdata": "reticent.io.read",
    "read_schema": "reticent.io.schema",
    "tabulate": "reticent.tabulation.tabulate",
    "write_masked": "reticent.io.write",
    "write_schema": "reticent.io.schema",
    "KeyCombinations": "reticent.microdata.risk.combinations",
    "attribute_risk": "reticent.microdata.risk.diversity",
    "compare_semantics": "reticent.microdata.risk.semantics",
    "k_anonymity": "reticent.microdata.risk.anonymity",
    "key_shares": "reticent.microdata.risk.shapley",
    "suda": "reticent.microdata.risk.suda",
    "unsafe_combinations": "reticent.microdata.risk.combinations",
}

__all__ = [
    "PQ",
    "DimensionSpec",
    "Dominance",
    "Hierarchy",
    "KeyCombinations",
    "Kind",
    "MaskedFile",
    "Microdata",
    "PPercent",
    "Policy",
    "ProtectedDatabase",
    "ProtectedTable",
    "PublishedTable",
    "ReticentError",
    "Role",
    "Schema",
    "TableSpec",
    "Term",
    "Threshold",
    "Variable",
    "__version__",
    "ask_for",
    "attribute_risk",
    "compare",
    "compare_semantics",
    "describe_file",
    "explore",
    "k_anonymity",
    "key_shares",
    "load_microdata",
    "protect_file",
    "protect_table",
    "read_microdata",
    "read_schema",
    "suda",
    "tabulate",
    "unsafe_combinations",
    "write_masked",
    "write_schema",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
