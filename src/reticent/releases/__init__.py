# SPDX-License-Identifier: Apache-2.0
"""Releases judged together: what files, tables and answers tell jointly, and whether what is watched stays unknown."""
