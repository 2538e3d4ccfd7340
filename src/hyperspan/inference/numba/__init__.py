"""Compiled kernels over flat arrays. Each agrees with a plain reference and with enumeration; the tests say so."""
