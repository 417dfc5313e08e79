# SPDX-License-Identifier: Apache-2.0
"""Confidentiality via camouflage (after Gopal, Garfinkel and Goes 2002): every answer is an interval that holds the truth."""
