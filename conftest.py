"""What can be collected here: examples in modules that need torch only where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("transformers") else ["src/hyperspan/neural/*.py"]
