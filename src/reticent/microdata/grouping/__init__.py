# SPDX-License-Identifier: Apache-2.0
"""Partitions of records into groups of k to 2k − 1 similar ones, on plain arrays."""

from reticent.microdata.grouping.mixed import mixed_columns, partition_mixed
from reticent.microdata.grouping.partition import (
    PARTITIONS,
    Grouping,
    Partitioning,
    partition,
    partition_in_steps,
    recheck_sizes,
)
from reticent.microdata.grouping.search import Steps, take_turns

__all__ = [
    "PARTITIONS",
    "Grouping",
    "Partitioning",
    "Steps",
    "mixed_columns",
    "partition",
    "partition_in_steps",
    "partition_mixed",
    "recheck_sizes",
    "take_turns",
]
