"""Confidentiality via camouflage (Gopal, Garfinkel and Goes 2002): every answer is an interval that surely holds the truth."""
