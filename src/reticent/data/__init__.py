# SPDX-License-Identifier: Apache-2.0
"""What is protected: frozen, validated types without algorithms."""
