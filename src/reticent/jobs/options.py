# SPDX-License-Identifier: Apache-2.0
"""What a door needs to ask for options: the registries of methods and rules, and checks field by field.

A form, like a plan, is made of the fields of a dataclass of parameters; what is wrong with one field is the same sentence.
"""

from collections.abc import Mapping
from typing import Any

from reticent.base.errors import ParameterError, PlanError
from reticent.data.method import Group
from reticent.data.parameters import Parameters, build, check_option, owner_of, to_plain
from reticent.data.plan import DataSection, FileOutputSection, LedgerSection, OutputSection, RiskSection
from reticent.data.table_plan import ProtectSection, TableSection
from reticent.microdata.mask import METHODS
from reticent.queries.policy import Policy
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.rules import RULES

__all__ = [
    "METHODS", "RULES", "TABLE_METHODS", "DataSection", "FileOutputSection", "Group", "LedgerSection", "OutputSection",
    "Parameters", "Policy", "ProtectSection", "RiskSection", "TableSection", "build", "check_options", "to_plain",
]  # fmt: skip


def check_options(cls: type[Any], values: Mapping[str, Any], *, owner: str = "") -> dict[str, str]:
    """What is wrong with options, by field; what no single field says stands under the empty name. Empty: all is well."""
    owner, wrong = owner or owner_of(cls), {}
    for name, value in values.items():
        try:
            check_option(cls, name, value, owner=owner)
        except ParameterError as err:
            wrong[name] = str(err)
    if not wrong:
        try:
            build(cls, values, owner=owner)
        except (ParameterError, PlanError) as err:
            wrong[err.option] = str(err)
    return wrong
