# SPDX-License-Identifier: Apache-2.0
"""What a masked file tells: one declaration per masking method, composed over the steps of a plan."""
