# SPDX-License-Identifier: Apache-2.0
"""Readers and writers of files and databases."""
