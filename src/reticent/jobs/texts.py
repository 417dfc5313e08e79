# SPDX-License-Identifier: Apache-2.0
"""Texts that doors keep: written in one piece, read back as they are."""

from reticent.io.atomic import write_text

__all__ = ["write_text"]
