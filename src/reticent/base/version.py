# SPDX-License-Identifier: Apache-2.0
"""The version of the package."""

VERSION = "0.2.0"
