"""An encoder that has read the text of a corpus guesses its hidden words better."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural scorer needs torch: pip install 'hyperspan[neural]'")

from hyperspan.errors import LearningError, UsageError
from hyperspan.mentions import Sentence
from hyperspan.neural.adaptation import HIDDEN_SHARE, NOTHING, adapt, hidden_words
from hyperspan.neural.encoder import load_encoder
from hyperspan.recognizer import Recognizer


def test_whole_words_are_hidden_and_guessed(encoder, sentences):
    pieces = load_encoder(encoder)[1]
    strange = [Sentence(["zzqx", "no", "qqzz"]), *sentences[:300]]
    batch = pieces.batch([window for here in pieces.windows(strange) for window in here])
    read, wanted = hidden_words(batch, mask=4, n_pieces=50, draw=np.random.default_rng(0))
    is_wanted = wanted.numpy().reshape(-1)[batch.place] != NOTHING
    by_word = np.bincount(batch.word, is_wanted), np.bincount(batch.word)
    assert np.all((by_word[0] == 0) | (by_word[0] == by_word[1])), "all pieces of a word or none"
    share = np.mean(by_word[0] > 0)
    assert abs(share - HIDDEN_SHARE) < 0.05
    shown = read["input_ids"].numpy().reshape(-1)[batch.place[is_wanted]]
    assert 0.7 < np.mean(shown == 4) < 0.9
    untouched = wanted.numpy() == NOTHING
    np.testing.assert_array_equal(read["input_ids"].numpy()[untouched], batch.ids[untouched])


def test_reading_makes_guesses_better_and_gives_an_encoder(encoder, sentences, some, tmp_path):
    losses = []

    def watch(record):
        if record.is_complete:
            losses.append(record.loss)

    output = tmp_path / "read"
    loss = adapt(encoder, sentences[:300], output, epochs=6, lr=2e-3, batch_size=16, device="cpu", on_step=watch)
    assert loss == losses[-1] < 0.9 * losses[0]
    before, after = (load_encoder(str(folder))[0].state_dict() for folder in (encoder, output))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    Recognizer(encoder=str(output), epochs=1, layers=1, device="cpu", n_threads=1).fit(some[:8])
    with pytest.raises(UsageError, match="already exists; name another folder"):
        adapt(encoder, sentences, output)


def test_what_is_stopped_writes_nothing(encoder, sentences, tmp_path):
    with pytest.raises(LearningError, match="training was stopped in epoch 1; nothing was written"):
        adapt(encoder, sentences[:20], tmp_path / "read", device="cpu", on_step=lambda record: True)
    assert not list(tmp_path.iterdir())
    with pytest.raises(LearningError, match="there is no text to learn from"):
        adapt(encoder, [], tmp_path / "read", device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "device is 'gpu'; expected one of auto, cpu, cuda"),
        ({"lr": -1.0}, "lr is -1.0; expected a number above 0 and below 1"),
        ({"lr": float("nan")}, "lr is nan; expected"),
        ({"epochs": 0}, "epochs is 0; expected a whole number from 1"),
        ({"batch_size": 2.5}, r"batch_size is 2\.5; expected a whole number from 1"),
    ],
)
def test_settings_that_make_no_sense(encoder, sentences, tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        adapt(encoder, sentences[:20], tmp_path / "read", **options)
