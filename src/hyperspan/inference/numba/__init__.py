"""Compiled kernels over flat arrays, tested against a plain reference and against enumeration."""
