"""The command line: one module a command."""

from hyperspan.cli.app import app, main

__all__ = ["app", "main"]
