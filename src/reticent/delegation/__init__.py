# SPDX-License-Identifier: Apache-2.0
"""Computation handed to somebody who must not see the data: encrypted columns, declared expressions, verified results."""
