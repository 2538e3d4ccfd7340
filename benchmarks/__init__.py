"""Speed, memory and results, measured from a checkout: ``python -m benchmarks --help``.

| command | measures |
| --- | --- |
| `run` | speed and memory compared with peers, in one run on the same data |
| `compare` | this checkout against another, in alternating rounds |
| `results` | precision and recall of every structure and decoder on real corpora |
| `rescoring` | the effect of a second look at whole mentions on them |
| `table` | prints the rows that these two wrote, as a table |
| `load` | a server under load |

The wheel does not contain the benchmarks. Results are checked first: nothing is timed if they differ from the peer's.
"""
