"""Which hyperspan an interpreter has, and with what."""

import json
import sys
from importlib.metadata import version
from platform import python_version

import hyperspan

packages = ("hyperspan", "llvmlite", "numba", "numpy", "scipy")
answer = {
    "path": hyperspan.__file__,
    "versions": {"python": python_version(), **{package: version(package) for package in packages}},
}
json.dump(answer, sys.stdout)
