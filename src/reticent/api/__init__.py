# SPDX-License-Identifier: Apache-2.0
"""The front door: thin frozen classes over jobs and domains. `reticent` itself and its facade modules only name them."""
