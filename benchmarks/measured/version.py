"""The hyperspan of an interpreter, and its dependencies."""

import json
import sys
from importlib.metadata import version
from platform import python_version
from typing import Any

import hyperspan

PACKAGES = ("hyperspan", "llvmlite", "numba", "numpy", "scipy")


def main() -> dict[str, Any]:
    """Return the location of the package, and the versions of its dependencies."""
    versions = {package: version(package) for package in PACKAGES}
    return {"path": hyperspan.__file__, "versions": {"python": python_version(), **versions}}


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
