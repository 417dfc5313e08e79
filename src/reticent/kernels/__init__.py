# SPDX-License-Identifier: Apache-2.0
"""Numba kernels: arrays in, arrays out; no frames, no defaults, no validation."""

from reticent.base.compiled import prepare_cache

prepare_cache()  # before the first kernel is decorated: numba looks for its cache folder then
