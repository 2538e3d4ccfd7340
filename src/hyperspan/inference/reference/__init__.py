"""Readable reference implementations of the kernels in plain Python, to test against."""
