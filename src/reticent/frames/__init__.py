# SPDX-License-Identifier: Apache-2.0
"""The dataframe seam: pandas, polars, arrow and DuckDB in, encoded columns and counts out."""
