"""Words become pieces, each word has at least one, and windows cover every word once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")

from hyperspan.mentions import Sentence
from hyperspan.neural.encoder import load_encoder
from hyperspan.neural.pieces import MOST_PIECES, WordPieces


@pytest.fixture(scope="module")
def pieces(encoder: str) -> WordPieces:
    return load_encoder(encoder)[1]


def test_every_word_has_pieces(pieces):
    control, foreign, long = "\x07", "漢字", "a" * 500
    found = pieces.of_words([control, foreign, long, "no"])
    assert found[0] == (pieces.unknown,)
    assert all(found)
    assert len(found[2]) <= MOST_PIECES
    assert pieces.of_words(["no"]) == found[3:], "and the same the second time"


def test_a_full_cache_is_not_taken_from_threads_that_read_it(pieces, monkeypatch):
    wanted = [pieces.of_words([word])[0] for word in "1234"]

    class InTurns:
        """Lets another thread read words while the first one waits for its pieces."""

        def encode_batch(self, words, **options):
            monkeypatch.setattr(pieces, "tokenizer", tokenizer)
            pieces.of_words(["5", "6", "7"])
            return tokenizer.encode_batch(words, **options)

    tokenizer = pieces.tokenizer
    monkeypatch.setattr("hyperspan.neural.pieces._MOST_REMEMBERED", 4)
    monkeypatch.setattr(pieces, "_known", {})
    pieces.of_words(["1", "2"])
    monkeypatch.setattr(pieces, "tokenizer", InTurns())
    assert pieces.of_words(list("1234")) == wanted


@pytest.mark.parametrize("n_words", [1, 30, 62, 63, 64, 65, 100, 500])
def test_windows_cover_every_word_once(pieces, n_words):
    sentence = Sentence([str(number % 10) for number in range(n_words)])
    (windows,) = pieces.windows([sentence])
    assert all(len(window.ids) <= pieces.longest for window in windows)
    assert sum(len(window.n_pieces) for window in windows) == n_words
    wanted = pieces.of_words(sentence.tokens)
    found, at = [], 0
    for window in windows:
        at = window.first
        for number in window.n_pieces:
            found.append(window.ids[at : at + number])
            at += number
    assert found == wanted


def test_words_in_overlapping_windows_see_both_sides(pieces):
    (windows,) = pieces.windows([Sentence(["1"] * 400)])
    assert len(windows) > 2
    quarter = pieces.capacity // 4
    for before, after in pairwise(windows):
        n_beyond = len(before.ids) - before.first - sum(before.n_pieces) - 1
        assert n_beyond >= quarter - 1, "the last wanted word of a window sees what follows it"
        assert after.first - 1 >= quarter - 1, "and the first of the next what comes before"


def test_context_is_of_the_same_document_and_nearest_first(pieces):
    sentences = [
        Sentence(["1", "2"], doc="a"),
        Sentence(["3"], doc="a"),
        Sentence(["4", "5"], doc="a"),
        Sentence(["6"], doc="b"),
        Sentence(["7"]),
        Sentence(["8"]),
    ]
    ids = {word: pieces.of_words([word])[0] for word in "12345678"}

    def seen(number: int, n_context: int) -> tuple[str, str, str]:
        (window,) = pieces.windows(sentences, n_context)[number]
        names = {each: word for word, (each,) in ids.items()}
        end = window.first + sum(window.n_pieces)
        return tuple(
            "".join(names.get(each, "") for each in part)
            for part in (window.ids[: window.first], window.ids[window.first : end], window.ids[end:])
        )

    assert seen(1, 0) == ("", "3", "")
    assert seen(1, 1) == ("2", "3", "4")
    assert seen(1, 8) == ("12", "3", "45")
    assert seen(3, 8) == ("", "6", "")
    assert seen(4, 8) == ("", "7", ""), "sentences without a document have no neighbours"


def test_context_gives_way_to_the_sentence(pieces):
    sentences = [Sentence(["1"] * 50, doc="a"), Sentence(["2"] * 50, doc="a"), Sentence(["3"] * 50, doc="a")]
    for (window,) in pieces.windows(sentences, 50):
        assert len(window.ids) <= pieces.longest
        assert len(window.n_pieces) == 50


def test_batches_say_where_pieces_stand(pieces):
    windows = [window for here in pieces.windows([Sentence(["no", "zzz"]), Sentence(["1"])]) for window in here]
    batch = pieces.batch(windows)
    assert batch.n_words == 3
    assert batch.mask.sum() == sum(len(window.ids) for window in windows)
    of_word = [tuple(batch.ids.reshape(-1)[batch.place[batch.word == number]].tolist()) for number in range(3)]
    assert of_word == pieces.of_words(["no", "zzz", "1"])
    assert np.all(np.diff(batch.word) >= 0)
