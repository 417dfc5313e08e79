"""How many examples a test takes where one of them takes long."""

from hypothesis import settings


def examples(few: int) -> settings:
    """So few generated examples in the normal run; `make deep` takes as many as ever."""
    usual = settings.default
    assert usual is not None
    return settings(usual, max_examples=few) if usual.max_examples < 100 else usual
