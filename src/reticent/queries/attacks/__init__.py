# SPDX-License-Identifier: Apache-2.0
"""Attackers: what somebody with background knowledge and permission to ask can recover from a database's answers."""
