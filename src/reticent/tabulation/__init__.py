# SPDX-License-Identifier: Apache-2.0
"""Microdata and a table specification to a table with its relations."""
