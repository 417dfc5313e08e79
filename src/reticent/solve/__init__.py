# SPDX-License-Identifier: Apache-2.0
"""The linear and mixed-integer programming seam: plain arrays in, checked solutions out."""
