# SPDX-License-Identifier: Apache-2.0
"""Plain data for `json.dumps`: whatever a result holds, as dictionaries, lists, numbers and texts."""

import dataclasses
import math
from collections.abc import Mapping, Set
from enum import Enum
from typing import Any


def as_plain(value: Any) -> Any:
    """The value without arrays, enumerations and classes; keys of mappings become texts, open ends stay infinite."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(as_plain(key)): as_plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return [as_plain(item) for item in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and their scalars
        return as_plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return str(value)


def finite(value: float, digits: int = 6) -> float | None:
    """The number without the noise of floating point far behind the point; an open end is None."""
    return round(float(value), digits) + 0.0 if math.isfinite(value) else None
