# SPDX-License-Identifier: Apache-2.0
"""Statistical disclosure control: microdata, tables and query answers that say what is safe, and no more.

Everything public is here and in the modules `mask`, `methods`, `rules` and `games`; names are loaded when first used, so that
`import reticent` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

from reticent.base.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from reticent import games, mask, methods, rules
    from reticent.api.auditing import PublishedAudit, audit
    from reticent.api.data import Data
    from reticent.api.database import attack_database, open_database
    from reticent.api.describing import describe
    from reticent.api.exploration import Exploration
    from reticent.api.file_run import FileRun, MaskedFile
    from reticent.api.large import LargeData
    from reticent.api.ledger import ReleaseLedger, open_ledger
    from reticent.api.loading import load
    from reticent.api.risk import Risk
    from reticent.api.table_run import PublishedTable, TableRun, Tabulation
    from reticent.base.errors import (
        DataError,
        InfeasibleError,
        NotProtectedError,
        ParameterError,
        PlanError,
        ReticentError,
    )
    from reticent.data.hierarchy import Hierarchy
    from reticent.data.plan import RiskSection
    from reticent.data.schema import Kind, Role, Schema, Variable
    from reticent.data.table import DimensionSpec
    from reticent.data.table_plan import BoundsOptions
    from reticent.io.schema import read_schema, write_schema
    from reticent.microdata.explore import ExploreSettings
    from reticent.microdata.perturb.combining import combine
    from reticent.queries.database import ProtectedDatabase
    from reticent.queries.language import ask_for
    from reticent.queries.policy import Bounds, Policy
    from reticent.queries.refusals import Answer, Refusal
    from reticent.queries.terms import Term
    from reticent.tables.apriori import Entry

# module -> its public names
_EXPORTS: dict[str, tuple[str, ...]] = {
    "reticent.api.auditing": ("PublishedAudit", "audit"),
    "reticent.api.data": ("Data",),
    "reticent.api.database": ("attack_database", "open_database"),
    "reticent.api.describing": ("describe",),
    "reticent.api.exploration": ("Exploration",),
    "reticent.api.file_run": ("FileRun", "MaskedFile"),
    "reticent.api.large": ("LargeData",),
    "reticent.api.ledger": ("ReleaseLedger", "open_ledger"),
    "reticent.api.loading": ("load",),
    "reticent.api.risk": ("Risk",),
    "reticent.api.table_run": ("PublishedTable", "TableRun", "Tabulation"),
    "reticent.base.errors": (
        "DataError", "InfeasibleError", "NotProtectedError", "ParameterError", "PlanError", "ReticentError",
    ),
    "reticent.data.hierarchy": ("Hierarchy",),
    "reticent.data.plan": ("RiskSection",),
    "reticent.data.schema": ("Kind", "Role", "Schema", "Variable"),
    "reticent.data.table": ("DimensionSpec",),
    "reticent.data.table_plan": ("BoundsOptions",),
    "reticent.io.schema": ("read_schema", "write_schema"),
    "reticent.microdata.explore": ("ExploreSettings",),
    "reticent.microdata.perturb.combining": ("combine",),
    "reticent.queries.database": ("ProtectedDatabase",),
    "reticent.queries.language": ("ask_for",),
    "reticent.queries.policy": ("Bounds", "Policy"),
    "reticent.queries.refusals": ("Answer", "Refusal"),
    "reticent.queries.terms": ("Term",),
    "reticent.tables.apriori": ("Entry",),
}  # fmt: skip
_MODULES = ("games", "mask", "methods", "rules")
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "Answer",
    "Bounds",
    "BoundsOptions",
    "Data",
    "DataError",
    "DimensionSpec",
    "Entry",
    "Exploration",
    "ExploreSettings",
    "FileRun",
    "Hierarchy",
    "InfeasibleError",
    "Kind",
    "LargeData",
    "MaskedFile",
    "NotProtectedError",
    "ParameterError",
    "PlanError",
    "Policy",
    "ProtectedDatabase",
    "PublishedAudit",
    "PublishedTable",
    "Refusal",
    "ReleaseLedger",
    "ReticentError",
    "Risk",
    "RiskSection",
    "Role",
    "Schema",
    "TableRun",
    "Tabulation",
    "Term",
    "Variable",
    "__version__",
    "ask_for",
    "attack_database",
    "audit",
    "combine",
    "describe",
    "games",
    "load",
    "mask",
    "methods",
    "open_database",
    "open_ledger",
    "read_schema",
    "rules",
    "write_schema",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"reticent.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
