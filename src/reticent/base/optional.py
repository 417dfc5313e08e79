# SPDX-License-Identifier: Apache-2.0
"""Optional libraries: imported when needed, and missed with the exact install command."""

import importlib
from types import ModuleType

from reticent.base.errors import OptionalDependencyError


def need(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra of reticent brings it.

    >>> need("no_such_library", extra="sql", purpose="reading a database")
    Traceback (most recent call last):
    ...
    reticent.base.errors.OptionalDependencyError: reading a database needs no_such_library: pip install 'reticent[sql]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as err:
        name = module.split(".")[0]
        raise OptionalDependencyError(f"{purpose} needs {name}: pip install 'reticent[{extra}]'") from err
