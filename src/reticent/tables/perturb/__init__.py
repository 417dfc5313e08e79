# SPDX-License-Identifier: Apache-2.0
"""Methods that change numbers instead of hiding them: rounding and controlled adjustment."""
