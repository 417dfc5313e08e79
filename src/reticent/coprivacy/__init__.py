# SPDX-License-Identifier: Apache-2.0
"""Games in which the best way to keep one's own privacy is to help somebody else keep theirs."""
