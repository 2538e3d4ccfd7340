"""The measurements of `compare`: one small script each, run by the interpreter of either checkout.

The other checkout may be older, so a script uses only what every version has: the names of the package itself
(``Recognizer``, ``Document``, ``Sentence``), ``hyperspan.corpora`` and the standard library. It reads a JSON request
from stdin and prints JSON: ``values`` to compare, and ``results`` that must be the same in both.
"""
