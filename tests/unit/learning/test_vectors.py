"""Vectors are cut into the same pieces whatever the number of threads."""

from __future__ import annotations

from hyperspan.learning.vectors import N_PIECES, run_pieces


def test_pieces_cover_everything_once():
    pieces = run_pieces(lambda begin, end: (begin, end), 1_000, n_threads=1)
    assert len(pieces) == N_PIECES
    assert [begin for begin, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == 1_000
