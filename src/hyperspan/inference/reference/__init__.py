"""What the kernels compute, in plain Python: written to be read, and to be compared with."""
