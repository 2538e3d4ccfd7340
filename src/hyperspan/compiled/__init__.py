"""Helpers for compiled kernels, which know nothing of structures: vectors, exponentials, prefetching."""
