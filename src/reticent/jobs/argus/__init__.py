# SPDX-License-Identifier: Apache-2.0
"""Batch files of tau-ARGUS: commands become requests for tables, results become its formats, and nothing else."""
