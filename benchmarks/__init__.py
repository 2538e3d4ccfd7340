"""Speed, memory and results, measured from a checkout: ``python -m benchmarks --help``.

| command | measures |
| --- | --- |
| `run` | speed and memory beside those of peers, in one run on the same data |
| `compare` | this checkout beside another, round by round |
| `results` | precision and recall of every structure and decoder on real corpora |
| `rescoring` | what a second look at whole mentions changes there |
| `load` | a server under load |

Nothing of this is in the wheel. Results are checked first: what gives other results than its peer is not timed.
"""
