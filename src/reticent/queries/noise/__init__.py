# SPDX-License-Identifier: Apache-2.0
"""Modes that answer with noise."""
