"""The command line: one module per command."""

from hyperspan.cli.app import app, main

__all__ = ["app", "main"]
