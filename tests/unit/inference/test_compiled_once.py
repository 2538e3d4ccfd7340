"""Compiled code is kept on disk: a second process does not compile again."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import hyperspan.inference

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is nothing to keep with the compiler off")

SCRIPT = """
import numpy as np
from hyperspan.compiled.exponentials import exp_kernel
exp_kernel(np.zeros(3), 3)
print(sum(exp_kernel.stats.cache_hits.values()), sum(exp_kernel.stats.cache_misses.values()))
"""


def test_a_second_process_takes_compiled_code_from_the_disk(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    seen, files = [], []
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        seen.append(ran.stdout.split())
        files.append(sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.nb[ic]")))
    assert seen == [["0", "1"], ["1", "0"]]
    assert files[0]
    assert files[0] == files[1]


def test_every_kernel_is_kept() -> None:
    kernels = {}
    for module in pkgutil.walk_packages(hyperspan.inference.__path__, "hyperspan.inference."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, numba.core.registry.CPUDispatcher):
                kernels[name] = value
    assert len(kernels) > 20
    kept = {name for name, kernel in kernels.items() if type(kernel._cache).__name__ == "FunctionCache"}
    assert kept == kernels.keys()
