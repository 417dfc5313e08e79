"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import reticent

MODULES = sorted(
    m.name for m in pkgutil.walk_packages(reticent.__path__, "reticent.") if not m.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
