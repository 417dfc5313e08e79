"""Numba kernels: arrays in, arrays out; no frames, no defaults, no validation."""
