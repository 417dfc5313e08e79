# SPDX-License-Identifier: Apache-2.0
"""Errors, checks, randomness, progress, optional imports: knows nothing about disclosure control."""
