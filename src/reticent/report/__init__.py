"""What people look at: text, plots, HTML reports."""
