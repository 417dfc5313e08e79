# SPDX-License-Identifier: Apache-2.0
"""Search over coarser codings: which levels of which hierarchies make a file safe at the least loss."""
