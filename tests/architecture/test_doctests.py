"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import reticent

MODULES = sorted(
    m.name for m in pkgutil.walk_packages(reticent.__path__, "reticent.") if not m.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    if ">>>" not in Path(str(module.__file__)).read_text(encoding="utf-8"):
        return  # to look through all its names takes longer than to run all examples
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
