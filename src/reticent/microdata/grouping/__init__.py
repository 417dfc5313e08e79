# SPDX-License-Identifier: Apache-2.0
"""Partitions of records into groups of k to 2k − 1 similar ones, on plain arrays."""

from reticent.microdata.grouping.mixed import mixed_columns, partition_mixed
from reticent.microdata.grouping.partition import PARTITIONS, Grouping, Partitioning, partition, recheck_sizes

__all__ = [
    "PARTITIONS",
    "Grouping",
    "Partitioning",
    "mixed_columns",
    "partition",
    "partition_mixed",
    "recheck_sizes",
]
