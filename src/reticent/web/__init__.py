# SPDX-License-Identifier: Apache-2.0
"""What pages stand on: templates, forms from dataclasses, sessions, policy headers, work in processes, texts with undo."""
