"""Statistical disclosure control: microdata, tables and query answers that say what is safe, and no more.

Everything public is imported from here; names are loaded when first used, so that `import reticent` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from reticent.base.errors import ReticentError

# public name -> the module that defines it
_EXPORTS: dict[str, str] = {
    "ReticentError": "reticent.base.errors",
}

__all__ = ["ReticentError", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
