"""Methods that change numbers instead of hiding them: rounding and controlled adjustment."""
