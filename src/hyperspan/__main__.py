"""The command line as ``python -m hyperspan``, where the command ``hyperspan`` is not on the path."""

from hyperspan.cli import main

if __name__ == "__main__":
    main()
