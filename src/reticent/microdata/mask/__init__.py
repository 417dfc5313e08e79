"""Masking methods: one method, one file. The registry below is what plans look names up in."""

from reticent.data.method import Registry

# One line a method, in the order of its plan name.
METHODS = Registry(
    "plan",
    (),
)
