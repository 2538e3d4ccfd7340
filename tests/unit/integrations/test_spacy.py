"""The spaCy component, with spaCy itself: mentions survive whatever pipelines do to Docs."""

from __future__ import annotations

import logging
import math
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (pip install 'hyperspan[spacy]')")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from hyperspan import Mention, Recognizer, Sentence  # noqa: E402
from hyperspan.errors import LearningError, ModelError, UsageError  # noqa: E402
from hyperspan.integrations.spacy import mention_score, mentions_of, render, set_mentions  # noqa: E402

TEXT = "Blood in stomach.\n\nBlood seen in mouth and stomach."
WORDS = [
    ("Blood in stomach .", [("Finding", [(0, 3)])]),
    ("Blood seen in mouth and stomach .", [("Finding", [(0, 1), (2, 4)]), ("Finding", [(0, 1), (5, 6)])]),
    ("No fever .", [("Finding", [(1, 2)])]),
]
SENTENCES = [Sentence(words.split(), [Mention(*each) for each in mentions]) for words, mentions in WORDS]
FOUND = ["Blood in stomach", "Blood … in mouth", "Blood … stomach"]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "notes.model"
    Recognizer(max_components=2, threshold=0.3).fit(SENTENCES * 12).save(path)
    return path


@pytest.fixture
def nlp(model):
    made = spacy.blank("en")
    made.add_pipe("hyperspan", config={"model": str(model)})
    return made


def words_of(doc, mentions=None) -> list[str]:
    found = doc._.hyperspan if mentions is None else mentions
    return [" … ".join(doc[start:end].text for start, end in mention.parts) for mention in found]


def test_parts_are_spans_and_those_of_one_mention_share_an_id(nlp):
    doc = nlp(TEXT)
    assert words_of(doc) == FOUND
    group = doc.spans["hyperspan"]
    assert [(span.text, span.label_, span.id_) for span in group] == [
        ("Blood in stomach", "Finding", "0"),
        ("Blood", "Finding", "1"),
        ("in mouth", "Finding", "1"),
        ("Blood", "Finding", "2"),
        ("stomach", "Finding", "2"),
    ]
    scores = group.attrs["scores"]
    assert scores.shape == (5,)
    assert scores[1] == scores[2] == doc._.hyperspan[1].prob
    assert len({mention.prob for mention in doc._.hyperspan}) == 3


def test_what_is_found_is_what_the_recognizer_finds(nlp, model):
    recognizer = Recognizer.load(model)
    for words, _ in WORDS:
        doc = Doc(nlp.vocab, words=words.split())
        (expected,) = recognizer.predict([Sentence(words.split())])
        found = nlp.get_pipe("hyperspan")(doc)._.hyperspan
        assert list(found) == expected
        assert [mention.prob for mention in found] == [mention.prob for mention in expected]


def test_mentions_survive_docbin_bytes_and_disk(nlp, tmp_path):
    doc = nlp(TEXT)
    (packed,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    (unpacked,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    doc.to_disk(tmp_path / "doc")
    from_disk, from_bytes = Doc(nlp.vocab).from_disk(tmp_path / "doc"), Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for again in (packed, unpacked, from_disk, from_bytes):
        assert again._.hyperspan == doc._.hyperspan
        assert [mention.prob for mention in again._.hyperspan] == [mention.prob for mention in doc._.hyperspan]


def test_batches_and_processes_give_the_same(nlp):
    texts = [TEXT, "No fever.", "", "\n \n", "Blood."] * 4
    alone = [nlp(text)._.hyperspan for text in texts]
    for options in ({"batch_size": 3}, {"n_process": 2, "batch_size": 4}):
        assert [doc._.hyperspan for doc in nlp.pipe(texts, **options)] == alone


def test_a_pipeline_is_kept_with_its_model(nlp, model, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    found = nlp(TEXT)._.hyperspan
    model.rename(model.with_suffix(".away"))
    try:
        assert spacy.load(tmp_path / "pipeline")(TEXT)._.hyperspan == found
        other = spacy.blank("en")
        other.add_pipe("hyperspan")
        other.from_bytes(nlp.to_bytes())
        assert other(TEXT)._.hyperspan == found
        again = pickle.loads(pickle.dumps(nlp.get_pipe("hyperspan")))
        assert again(nlp.make_doc(TEXT))._.hyperspan == found
    finally:
        model.with_suffix(".away").rename(model)
    assert sorted(path.name for path in (tmp_path / "pipeline" / "hyperspan").iterdir()) == ["model"]


def test_threshold_and_group_are_settings(model):
    nlp = spacy.blank("en")
    nlp.add_pipe("hyperspan", config={"model": str(model), "threshold": 1.0, "spans_key": "sc", "decode": "probable"})
    doc = nlp(TEXT)
    assert list(doc.spans) == ["sc"]
    assert mentions_of(doc, "sc") == ()
    assert doc._.hyperspan == ()


def test_entities_are_mentions_of_one_part_that_do_not_overlap(model):
    nlp = spacy.blank("en")
    nlp.add_pipe("hyperspan", config={"model": str(model), "set_ents": True})
    doc = nlp(TEXT)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Blood in stomach", "Finding")]
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, 0, 1, "OTHER"), Span(doc, 5, 6, "OTHER")]
    assert [ent.label_ for ent in nlp.get_pipe("hyperspan")(doc).ents] == ["Finding", "OTHER"]


def test_the_sentences_of_a_pipeline_are_taken(nlp):
    doc = nlp.make_doc("Blood seen in mouth and stomach")
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    assert all(max(mention.words()) < 3 or mention.start >= 3 for mention in nlp.get_pipe("hyperspan")(doc)._.hyperspan)


def test_our_words_are_aligned_with_tokens_and_the_difference_is_told(model, caplog):
    nlp = spacy.blank("en")
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)  # white space only: "stomach." is a token
    nlp.add_pipe("hyperspan", config={"model": str(model), "words": "ours"})
    with caplog.at_level(logging.WARNING, logger="hyperspan"):
        doc = nlp(TEXT)
        nlp(TEXT)
    assert words_of(doc) == ["Blood in stomach.", "Blood … in mouth", "Blood … stomach."]
    message = "The mention 'Blood in stomach' does not end where spaCy's tokens do, and was widened to 'Blood in stom"
    assert [record.getMessage()[: len(message)] for record in caplog.records] == [message]


def test_training_from_examples(nlp):
    untrained = spacy.blank("en")
    untrained.add_pipe("hyperspan", config={"training": {"max_components": 2, "max_iterations": 40}})
    docs = [nlp(words) for words, _ in WORDS] * 12
    untrained.initialize(lambda: [Example(untrained.make_doc(doc.text), doc) for doc in docs])
    assert untrained.get_pipe("hyperspan").labels == ("Finding",)
    scores = untrained.evaluate([Example(untrained.make_doc(doc.text), doc) for doc in docs])
    assert scores["mentions_f"] > 0.9
    assert scores["mentions_per_type"].keys() == {"Finding"}
    ours = spacy.blank("en")
    ours.add_pipe("hyperspan", config={"training": {"max_components": 2}, "words": "ours"})
    ours.initialize(lambda: [Example(ours.make_doc(doc.text), doc) for doc in docs])
    assert ours(TEXT)._.hyperspan


CONFIG = """
[paths]
train = "{folder}/train.spacy"
dev = "{folder}/train.spacy"
[nlp]
lang = "en"
pipeline = ["hyperspan"]
[components]
[components.hyperspan]
factory = "hyperspan"
[components.hyperspan.training]
max_components = 2
max_iterations = 40
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${{paths.train}}
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${{paths.dev}}
[training]
max_steps = 1
eval_frequency = 1
"""


def test_spacy_train_trains(nlp, tmp_path):
    from spacy.cli.init_config import fill_config
    from spacy.cli.train import train

    DocBin(docs=[nlp(words) for words, _ in WORDS] * 12).to_disk(tmp_path / "train.spacy")
    (tmp_path / "config.cfg").write_text(CONFIG.format(folder=tmp_path))
    fill_config(tmp_path / "full.cfg", tmp_path / "config.cfg", silent=True)
    train(tmp_path / "full.cfg", tmp_path / "out")
    assert spacy.load(tmp_path / "out" / "model-best")(TEXT)._.hyperspan


def test_whole_mentions_are_scored(nlp):
    gold, found = nlp.make_doc(TEXT), nlp.make_doc(TEXT)
    set_mentions(gold, [Mention("F", [(0, 1), (2, 3)]), Mention("F", [(5, 6)])])
    set_mentions(found, [Mention("F", [(0, 1)]), Mention("F", [(5, 6)])])
    scores = mention_score([Example(found, gold)])
    assert (scores["mentions_p"], scores["mentions_r"], scores["mentions_discontiguous_f"]) == (0.5, 0.5, 0.0)
    assert nlp.get_pipe("hyperspan").score([Example(found, gold)]) == scores


def test_spans_of_others_are_mentions_of_one_part(nlp):
    doc = nlp.make_doc(TEXT)
    doc.spans["hyperspan"] = [Span(doc, 0, 1, "A"), Span(doc, 0, 1, "B"), Span(doc, 2, 3, "A")]
    assert doc._.hyperspan == (Mention("A", [(0, 1)]), Mention("B", [(0, 1)]), Mention("A", [(2, 3)]))
    set_mentions(doc, [Mention("A", [(0, 1)], prob=0.5), Mention("A", [(2, 3)])])
    assert [mention.prob for mention in doc._.hyperspan] == [0.5, None]
    assert math.isnan(doc.spans["hyperspan"].attrs["scores"][1])


def test_a_doc_is_drawn(nlp):
    drawing = render(nlp(TEXT))
    assert "Finding" in drawing.html
    assert str(drawing).splitlines()[0] == "Blood in stomach ."


def test_mistakes_are_told(nlp):
    empty = spacy.blank("en")
    empty.add_pipe("hyperspan")
    with pytest.raises(ModelError, match="the component 'hyperspan' has no model; give one with config"):
        empty(TEXT)
    with pytest.raises(LearningError, match=r"no mention in the 1 training documents of .* doc.spans\['hyperspan'\]"):
        empty.initialize()
    with pytest.raises(UsageError, match="words is 'mine'; expected 'spacy' for its tokens, or 'ours'"):
        spacy.blank("en").add_pipe("hyperspan", config={"words": "mine"})
    nowhere = spacy.blank("en")
    nowhere.add_pipe("hyperspan", config={"model": "nowhere.model"})
    with pytest.raises(ModelError, match="there is no model file"):
        nowhere(TEXT)
    wrong = spacy.blank("en")
    wrong.add_pipe("hyperspan", config={"training": {"depth": 3}})
    doc = nlp(TEXT)
    with pytest.raises(UsageError, match="has no parameter 'depth'"):
        wrong.initialize(lambda: [Example(wrong.make_doc(TEXT), doc)])


def test_an_error_handler_of_the_pipeline_is_asked(nlp):
    seen = []
    nlp.get_pipe("hyperspan").cfg["threshold"] = 7.0
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, len(docs), str(error))))
    assert list(nlp.pipe([TEXT, TEXT])) == []
    assert seen == [("hyperspan", 2, "threshold is 7.0; expected a number above 0 and up to 1")]


def test_a_pipeline_without_the_component_loads_nothing_heavy():
    code = (
        "import spacy, sys; spacy.blank('en'); "
        "print([name for name in ('numba', 'scipy', 'hyperspan.recognizer', 'hyperspan.text') if name in sys.modules], "
        "'hyperspan.integrations.spacy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"
