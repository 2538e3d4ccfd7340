"""What `compare` measures: one small script each, run by the interpreter of either checkout.

The other checkout may be older, so a script uses only what every version has: the names of the package itself
(``Recognizer``, ``Document``, ``Sentence``), ``hyperspan.corpora`` and the standard library. It takes a JSON request on
stdin and prints its answer as JSON: ``values`` to compare side by side, and ``results`` that must be the same in both.
"""
