# SPDX-License-Identifier: Apache-2.0
"""The workbench: describe, judge, protect and attack in a browser on one's own machine. Each click is a line of the plan."""
