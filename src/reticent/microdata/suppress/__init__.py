# SPDX-License-Identifier: Apache-2.0
"""Local suppression on arrays: which values to blank, under each reading of a missing value."""
