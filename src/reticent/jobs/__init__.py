# SPDX-License-Identifier: Apache-2.0
"""The use cases: plain functions that every door calls."""
