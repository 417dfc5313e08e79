# SPDX-License-Identifier: Apache-2.0
"""Risk measures, masking methods and loss measures for microdata files."""
