"""What a recognizer may be given, by its users and by scikit-learn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperspan import Corpus, Document, Mention, Recognizer, Sentence
from hyperspan.errors import LearningError, UsageError

TEXT = "Blood in stomach. No fever."
SENTENCES = [
    Sentence(["Blood", "in", "stomach", "."], [Mention("Finding", [(0, 3)]), Mention("Site", [(2, 3)])]),
    Sentence(["No", "fever", "."], [Mention("Finding", [(1, 2)])]),
] * 8
MENTIONS = [Mention("Finding", [(0, 16)]), Mention("Finding", [(21, 26)])]
DOCUMENTS = [Document(f"d{number}", TEXT, MENTIONS) for number in range(8)]


@pytest.fixture(scope="module")
def trained() -> Recognizer:
    return Recognizer(max_components=2).fit(SENTENCES)


def test_a_text_is_read_like_a_document(trained):
    (found,) = trained.predict([TEXT])
    assert found == trained.predict([Document("a", TEXT)])[0]
    assert {TEXT[mention.start : mention.end] for mention in found} >= {"Blood in stomach", "fever"}
    (annotated,) = trained.annotate([TEXT])
    assert annotated.doc == "text-1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("No fever.", "'No fever.' is one text; expected sentences, documents or texts in a list: ['No fever.']"),
        (SENTENCES[1], "is one sentence; expected sentences, documents or texts in a list: [Sentence("),
        (DOCUMENTS[0], "is one document; expected"),
        (
            [["No", "fever"]],
            "number 1 is ['No', 'fever']; expected sentences, documents or texts in a list (a sentence",
        ),
        ([TEXT, {"text": "x"}], "number 2 is {'text': 'x'}; expected sentences"),
        (7, "7 is not a list; expected sentences"),
    ],
)
def test_anything_else_is_refused_with_what_is_expected(trained, given, message):
    for ask in (trained.predict, trained.evaluate, Recognizer().fit, lambda units: list(trained.find_in(units))):
        with pytest.raises(UsageError, match=re.escape(message)):
            ask(given)


def test_the_threshold_of_one_prediction(trained):
    few, many = (trained.predict([TEXT], threshold=threshold)[0] for threshold in (0.99, 0.01))
    assert len(few) < len(many)
    with pytest.raises(UsageError, match="threshold is 2; expected a number above 0"):
        trained.predict([TEXT], threshold=2)
    (enough,) = trained.annotate([TEXT], decode="enough")
    assert trained.predict([TEXT], decode="enough") == [list(enough.mentions)]


def test_mentions_of_documents_may_come_apart(trained):
    bare = [document.with_mentions([]) for document in DOCUMENTS]
    y = [document.mentions for document in DOCUMENTS]
    together = Recognizer(max_components=2).fit(DOCUMENTS)
    apart = Recognizer(max_components=2).fit([TEXT] * 8, y)
    assert apart.predict([TEXT]) == together.predict([TEXT])
    assert apart.score(bare, y) == together.score(DOCUMENTS) > 0.9
    with pytest.raises(LearningError, match="there are 8 sentences or documents, but mentions for 1"):
        Recognizer().fit(bare, y[:1])


def test_a_mention_that_fits_no_sentence_counts_as_missed(trained):
    crossing = DOCUMENTS[0].with_mentions([Mention("Finding", [(9, 26)])])
    found = trained.evaluate([crossing])
    assert (found.n_lost, found.all.fn) == (1, 1)


@pytest.mark.parametrize("units", [SENTENCES, DOCUMENTS, Corpus(SENTENCES)], ids=["sentences", "documents", "corpus"])
def test_cross_validation_by_scikit_learn(units):
    selection = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not installed")
    recognizer = Recognizer(max_components=2, max_iterations=30)
    scores = selection.cross_val_score(recognizer, units, cv=2)
    assert scores.shape == (2,)
    assert scores.min() > 0.5
    bare = [unit.with_mentions([]) for unit in units]
    assert (
        selection.cross_val_score(recognizer, bare, [unit.mentions for unit in units], cv=2).tolist() == scores.tolist()
    )


def test_only_some_types_are_learned_and_scored(tmp_path):
    recognizer = Recognizer(max_components=2, types=["Finding"]).fit(SENTENCES, dev=SENTENCES)
    assert recognizer.types_ == ("Finding",)
    assert recognizer.evaluate(SENTENCES).by_type.keys() == {"Finding"}
    assert recognizer.dev_scores_["by_type"].keys() == {"Finding"}
    assert recognizer.threshold_curve(SENTENCES).gold.sum() == 16
    recognizer.save(tmp_path / "model")
    assert Recognizer.load(tmp_path / "model").types == ["Finding"]
    with pytest.raises(LearningError, match="types has 'Fnding', which no training mention has; of those named, the"):
        Recognizer(types=["Fnding", "Site"]).fit(SENTENCES)
    with pytest.raises(UsageError, match="types is 'Finding'; expected a list of names"):
        Recognizer(types="Finding").fit(SENTENCES)


def test_a_sentence_is_explained_within_its_own_document(trained):
    with pytest.raises(UsageError, match="the sentence is not one of its document"):
        trained.explain(SENTENCES[1], document=SENTENCES[:1])


@pytest.mark.parametrize("given", [TEXT, Document("a", TEXT), [SENTENCES[0]]], ids=["text", "document", "list"])
def test_only_a_sentence_is_explained(trained, given):
    with pytest.raises(UsageError, match=r"is not a Sentence; expected Sentence\(words\), or one of those that"):
        trained.explain(given)


def test_mypy_accepts_the_example_of_the_readme(tmp_path):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    readme = Path(__file__).parents[3] / "README.md"
    if not readme.is_file():
        pytest.skip("the README is not here")
    block = next(text for text in re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL) if "fit(" in text)
    lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
    (tmp_path / "example.py").write_text("\n".join(lines) + "\n")
    report, errors, code = api.run(["--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "example.py")])
    assert (code, errors) == (0, ""), report
