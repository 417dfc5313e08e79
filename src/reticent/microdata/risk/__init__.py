# SPDX-License-Identifier: Apache-2.0
"""Disclosure risk per record, per household, per file."""
