"""Helpers for compiled kernels, independent of structures: vectors, exponentials, prefetching."""
