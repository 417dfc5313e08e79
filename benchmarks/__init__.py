# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: ours beside a yardstick, alternating in one process; ratios, memory and growth, never a timed test."""
