"""What can be collected here: examples in modules that need an extra only where it is installed."""

import os
from importlib.util import find_spec

# Tests run side by side, a process for each core: more threads for a sum only wait for each other. NumPy and torch look
# at this when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Spark's Java lives for seconds: what its compiler and its parallel collector prepare for hours is half of its work.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

NEEDED = {
    "src/hyperspan/integrations/spacy*.py": ("spacy",),
    "src/hyperspan/neural/*.py": ("torch", "transformers"),
    "src/hyperspan/server/*.py": ("fastapi", "uvicorn"),
}

collect_ignore_glob = [files for files, packages in NEEDED.items() if not all(map(find_spec, packages))]
