"""From sentences to features."""

from __future__ import annotations

import json
import logging
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from hyperspan import Diagnostics, Sentence
from hyperspan.corpora import stream
from hyperspan.errors import FeatureError
from hyperspan.features import Extractor, FeatureBlock, Lexicon, TemplateSet
from hyperspan.features import codes as codes_module
from hyperspan.features import extraction as extraction_module
from hyperspan.features.brown import brown_clusters
from hyperspan.features.columns import hash_text
from hyperspan.features.extraction_reference import features_reference, hash_feature_reference
from hyperspan.features.state import ClusterMap

pytestmark = pytest.mark.kernel

WORDS = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlying lac ."
TAGS = "NNP VBD JJ NN CC JJ NN IN JJ NN IN NN IN NN CC VBG NN ."
LEMMAS = "egd show hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlie lac ."
EGD = Sentence(
    WORDS.split(),
    attributes={"note_type": "discharge", "section": "procedures"},
    columns={"pos": TAGS.split(), "lemma": LEMMAS.split()},
)
CLUSTERS = ClusterMap({"hiatal": "0110", "hernia": "0111", "stomach": "10", "esophagus": "10"})


LEXICON = Lexicon.from_entries([("stomach", "anatomy"), ("hernia", "disorder"), ("esophagus", "anatomy")])


class Bare:
    """A lexicon of somebody's own, which knows nothing but how to match."""

    categories = ("long",)

    def match(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return [np.array([0 if len(token) > 5 else -1 for token in tokens], np.int32) for tokens in sentences]


def published(group: str | None = None) -> Extractor:
    templates = TemplateSet.load("published")
    return Extractor(templates if group is None else templates.only(group), CLUSTERS, LEXICON)


def templates(*patterns: str) -> TemplateSet:
    return TemplateSet.of([("mine", f"t{number}", pattern) for number, pattern in enumerate(patterns)], "mine.toml")


def hashes_of(extractor: Extractor, sentences: Sequence[Sentence]) -> list[list[int]]:
    """The hashes of every token, as the compiled code has them."""
    found = []
    for block in extractor.hash_blocks(sentences):
        found += [part.tolist() for part in np.split(block.hash, block.first_feature[1:-1])] if block.hash.size else []
    return found


def expected_hashes(extractor: Extractor, sentences: Sequence[Sentence]) -> list[list[int]]:
    """The hashes of every token, from the texts of its features."""
    return [
        [hash_feature_reference(feature) for feature in features]
        for sentence in sentences
        for features in extractor.describe(sentence)
    ]


HIATAL = {
    "neighbours": (
        "word[-3]=<s-1>",
        "word[-2]=EGD",
        "word[-1]=showed",
        "word[1]=hernia",
        "word[2]=and",
        "word[3]=vertical",
    ),
    "pairs": (
        "word[-3]=<s-1>|word[0]=hiatal",
        "word[-2]=EGD|word[0]=hiatal",
        "word[-1]=showed|word[0]=hiatal",
        "word[0]=hiatal|word[1]=hernia",
        "word[0]=hiatal|word[2]=and",
        "word[0]=hiatal|word[3]=vertical",
    ),
    "ngrams": (
        "word[-2]=EGD|word[-1]=showed|word[0]=hiatal",
        "word[-1]=showed|word[0]=hiatal|word[1]=hernia",
        "word[0]=hiatal|word[1]=hernia|word[2]=and",
    ),
    "pos": (
        "pos[0]=JJ",
        "pos[-1]=VBD|pos[0]=JJ",
        "pos[0]=JJ|pos[1]=NN",
        "pos[-2]=NNP|pos[-1]=VBD|pos[0]=JJ",
        "pos[-1]=VBD|pos[0]=JJ|pos[1]=NN",
        "pos[0]=JJ|pos[1]=NN|pos[2]=CC",
    ),
    "orthography": (
        "prefix1[0]=h",
        "prefix2[0]=hi",
        "prefix3[0]=hia",
        "prefix4[0]=hiat",
        "suffix1[0]=l",
        "suffix2[0]=al",
        "suffix3[0]=tal",
        "suffix4[0]=atal",
        "capitals[0]=lower",
    ),
    "lemma": ("lemma[0]=hiatal",),
    "note": ("note_type=discharge",),
    "section": ("section=procedures",),
    "clusters": ("cluster[0]=0", "cluster[0]=01", "cluster[0]=011", "cluster[0]=0110"),
    "lexicon": (),
}
STOMACH = {
    "neighbours": (
        "word[-3]=with",
        "word[-2]=blood",
        "word[-1]=in",
        "word[1]=and",
        "word[2]=overlying",
        "word[3]=lac",
    ),
    "lemma": ("lemma[0]=stomach",),
    "clusters": ("cluster[0]=1", "cluster[0]=10"),
    "lexicon": ("category[0]=anatomy",),
}
LAST = {
    "neighbours": (
        "word[-3]=and",
        "word[-2]=overlying",
        "word[-1]=lac",
        "word[1]=<s+1>",
        "word[2]=<s+2>",
        "word[3]=<s+3>",
    ),
    "pos": (
        "pos[0]=.",
        "pos[-1]=NN|pos[0]=.",
        "pos[0]=.|pos[1]=<s+1>",
        "pos[-2]=VBG|pos[-1]=NN|pos[0]=.",
        "pos[-1]=NN|pos[0]=.|pos[1]=<s+1>",
        "pos[0]=.|pos[1]=<s+1>|pos[2]=<s+2>",
    ),
    "orthography": ("prefix1[0]=.", "suffix1[0]=.", "capitals[0]=none"),
    "clusters": (),
}


@pytest.mark.parametrize(
    ("word", "group", "features"),
    [
        (word, group, features)
        for word, groups in (("hiatal", HIATAL), ("stomach", STOMACH), (".", LAST))
        for group, features in groups.items()
    ],
)
def test_published_features(word: str, group: str, features: tuple[str, ...]):
    extractor = published(group)
    position = EGD.tokens.index(word)
    assert tuple(extractor.describe(EGD)[position]) == features
    block = extractor.fit([EGD]).transform([EGD])
    names = extractor.names([EGD])
    assert tuple(names[id] for id in block.of(0, position)) == features


def test_every_published_group_is_tested():
    assert tuple(HIATAL) == TemplateSet.load("published").groups
    assert [name for features in HIATAL.values() for name in features] == published().describe(EGD)[2]


def test_hashes_are_those_of_the_texts():
    extractor = published()
    assert hashes_of(extractor, [EGD, EGD]) == expected_hashes(extractor, [EGD, EGD])


def test_several_values_give_every_combination_in_order():
    extractor = Extractor(templates("cluster[0] cluster[1] word[-1]"), CLUSTERS)
    sentence = Sentence(["stomach", "hiatal"])
    assert extractor.describe(sentence) == [
        [
            f"cluster[0]={here}|cluster[1]={there}|word[-1]=<s-1>"
            for here in ("1", "10")
            for there in ("0", "01", "011", "0110")
        ],
        [f"cluster[0]={path}|cluster[1]=<s+1>|word[-1]=stomach" for path in ("0", "01", "011", "0110")],
    ]
    assert hashes_of(extractor, [sentence]) == expected_hashes(extractor, [sentence])


def test_a_boundary_is_not_a_word_that_looks_like_one():
    extractor = Extractor(templates("word[-1]"))
    first, second = Sentence(["a"]), Sentence(["<s-1>", "a"])
    assert hashes_of(extractor, [first])[0] != hashes_of(extractor, [second])[1]
    assert extractor.describe(second) == [["word[-1]=<s-1>"], ["word[-1]=\\<s-1>"]]


def test_sentences_do_not_see_each_other():
    extractor = Extractor(templates("word[-1]", "word[1]"))
    alone = hashes_of(extractor, [Sentence(["a"])])
    assert hashes_of(extractor, [Sentence(["b"]), Sentence(["a"]), Sentence(["c"])])[1:2] == alone


def test_a_sentence_without_the_column_has_no_features_of_it_not_even_at_its_ends():
    extractor = Extractor(templates("pos[-1]", "pos[0]"))
    tagged, plain = Sentence(["a"], columns={"pos": ["DT"]}), Sentence(["a"])
    assert extractor.describe(tagged) == [["pos[-1]=<s-1>", "pos[0]=DT"]]
    assert extractor.describe(plain) == [[]]
    block = extractor.fit([plain, tagged]).transform([plain, tagged, plain])
    assert block.first_feature.tolist() == [0, 0, 2, 2]


def test_the_block_of_several_sentences():
    extractor = Extractor(templates("word[0]", "section"))
    sentences = [Sentence(["a", "b"], attributes={"section": "x"}), Sentence([]), Sentence(["b"])]
    block = extractor.fit(sentences).transform(sentences)
    assert (block.first_token.dtype, block.first_feature.dtype, block.feature.dtype) == (np.int64, np.int64, np.int32)
    assert block.first_token.tolist() == [0, 2, 2, 3]
    assert block.first_feature.tolist() == [0, 2, 4, 5]
    assert block.feature.tolist() == [0, 1, 2, 1, 2]
    assert (block.n_sentences, block.n_tokens) == (3, 3)
    assert block.of(2, 0).tolist() == [2]


@pytest.mark.parametrize("sentences", [[], [Sentence([])], [Sentence([]), Sentence([])]])
def test_nothing_has_no_features(sentences: list[Sentence]):
    extractor = Extractor()
    block = extractor.fit_transform(sentences)
    assert (block.n_tokens, block.n_sentences, len(block.feature)) == (0, len(sentences), 0)
    assert len(extractor.index_) == 0
    assert extractor.transform([EGD]).first_feature.tolist() == [0] * (len(EGD) + 1)


@pytest.mark.parametrize(
    "tokens",
    [
        ["a" * 1_000_000, "b"],
        ["\x00", "\x1b[31m", "\u200b", "\ufeff"],
        ["\ud800", "\udfff\ud800"],
        ["🩺", "👩🏽‍⚕️", "e\u0301"],
        ["שלום", "\u202eabc", "مرحبا"],
        ["|", "\\", "=", "word[0]=x|word[1]=y", "\\|", "<s+1>"],
        ["İ", "ß", "ﬁ", "ΟΔΟΣ"],
    ],
    ids=["enormous", "control", "surrogates", "emoji", "right-to-left", "special", "case"],
)
def test_any_token_will_do(tokens: list[str]):
    sentence = Sentence(tokens)
    extractor = Extractor()
    assert hashes_of(extractor, [sentence]) == expected_hashes(extractor, [sentence])
    names = extractor.fit([sentence]).names([sentence])
    assert len(names) == len(extractor.index_)
    assert not names.collisions


def test_unknown_features_are_dropped():
    extractor = Extractor(templates("word[0]", "prefix1[0]")).fit([Sentence(["lac"])])
    block = extractor.transform([Sentence(["laceration", "lac", "vomit"])])
    assert block.first_feature.tolist() == [0, 1, 3, 3]
    assert block.feature.tolist() == [1, 0, 1]


def test_rare_features_are_left_out_and_both_ways_to_fit_agree():
    sentences = [Sentence(["no", "hernia"]), Sentence(["hiatal", "hernia"]), Sentence(["no", "lac"])]
    together, apart = Extractor(templates("word[0]")), Extractor(templates("word[0]"))
    block = together.fit_transform(sentences, min_count=2)
    assert block.first_feature.tolist() == [0, 1, 2, 2, 3, 4, 4]
    assert block.feature.tolist() == [0, 1, 1, 0]
    assert_same(block, apart.fit(sentences, min_count=2).transform(sentences))
    assert together.index_.hashes.tolist() == apart.index_.hashes.tolist()
    assert together.index_.counts.tolist() == [2, 2]


def assert_same(left: FeatureBlock, right: FeatureBlock) -> None:
    assert left.first_token.tolist() == right.first_token.tolist()
    assert left.first_feature.tolist() == right.first_feature.tolist()
    assert left.feature.tolist() == right.feature.tolist()


def many_sentences() -> list[Sentence]:
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(40)]
    return [Sentence([words[number] for number in rng.integers(0, 40, size=rng.integers(0, 9))]) for _ in range(60)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_depend_neither_on_threads_nor_on_chunks(threads: int, monkeypatch: pytest.MonkeyPatch):
    sentences = many_sentences()
    whole = Extractor(threads=1)
    expected = whole.fit_transform(sentences)
    monkeypatch.setattr(extraction_module, "CHUNK_TOKENS", 20)
    extractor = Extractor(threads=threads)
    assert len(list(extractor.hash_blocks(sentences))) > 5
    assert_same(extractor.fit(iter(sentences)).transform(iter(sentences)), expected)
    assert_same(extractor.fit_transform(sentences), expected)
    assert extractor.index_.hashes.tolist() == whole.index_.hashes.tolist()


def test_what_is_remembered_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch):
    sentences = many_sentences()
    expected = Extractor().fit_transform(sentences)
    monkeypatch.setattr(extraction_module, "CHUNK_TOKENS", 20)
    monkeypatch.setattr(codes_module, "MOST_KEYS", 10)
    extractor = Extractor()
    assert_same(extractor.fit_transform(sentences), expected)
    assert extractor._table.n_keys < 40
    monkeypatch.setattr(codes_module, "MOST_KEYS", 1000)
    monkeypatch.setattr(codes_module, "MOST_CHARACTERS", 100)
    assert_same(extractor.transform(sentences), expected)


def test_ids_are_remembered_for_one_index_only():
    here, there = Sentence(["hiatal", "hernia"]), Sentence(["small", "hernia"])
    extractor = Extractor(templates("word[0]", "word[-1] word[0]", "suffix2[1]"))
    under_way = extractor.fit([here]).transform_blocks(iter([here]))
    extractor.fit([there])
    assert next(under_way).feature.tolist() == [0, 1, 2, 3, 4, 5]
    assert extractor.transform([there]).feature.tolist() == [0, 1, 2, 3, 4, 5]
    assert extractor.transform([here]).feature.tolist() == [2, 3, 5]
    extractor.index_.add(next(extractor.hash_blocks([here])).hash)
    assert extractor.transform([here]).feature.tolist() == [6, 7, 2, 3, 8, 5]


@pytest.mark.parametrize("after", [1, 8, 30])
def test_what_is_interrupted_does_not_change_what_comes_later(after: int, monkeypatch: pytest.MonkeyPatch):
    sentences = [EGD, Sentence(["New", "words"]), EGD]
    extractor = Extractor(clusters=CLUSTERS, threads=1)
    extractor.fit(sentences)
    whole, n_calls = extractor.transform(sentences), 0
    again = pickle.loads(pickle.dumps(extractor))  # with an empty cache

    def interrupted(text: str) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls == after:
            raise KeyboardInterrupt
        return hash_text(text)

    with monkeypatch.context() as once:
        once.setattr(codes_module, "hash_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            again.transform(sentences)
    found = again.transform(sentences)
    np.testing.assert_array_equal(found.first_feature, whole.first_feature)
    np.testing.assert_array_equal(found.feature, whole.feature)


def test_several_threads_may_use_one_extractor():
    sentences = many_sentences()
    extractor = Extractor().fit(sentences)
    fresh = Extractor.from_state(*extractor.to_state())
    expected = [extractor.transform([sentence]).feature.tolist() for sentence in sentences]
    found: dict[int, list[list[int]]] = {}

    def work(number: int) -> None:
        found[number] = [fresh.transform([sentence]).feature.tolist() for sentence in sentences]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4


def test_a_sentence_that_is_refused_does_no_harm_to_those_after_it():
    extractor = Extractor(templates("word[0]", "shape[0]", "pos[0]", "column.mood[0]"))
    odd = Sentence(["new", "words"], columns={"pos": ["JJ", 7], "mood": ["a", "b"]})
    with pytest.raises(FeatureError, match="the column 'pos' has the value 7; expected a text"):
        list(extractor.hash_blocks([odd]))
    good = Sentence(["words", "New"], columns={"pos": ["NN", "JJ"], "mood": ["a", "c"]})
    assert hashes_of(extractor, [good]) == expected_hashes(extractor, [good])


def test_templates_without_their_resource_are_skipped_said_once_and_recorded(caplog: pytest.LogCaptureFixture):
    extractor = Extractor("published")
    assert [str(skipped.template) for skipped in extractor.skipped] == ["clusters.cluster", "lexicon.category"]
    with caplog.at_level(logging.INFO, "hyperspan"):
        extractor.fit([Sentence(["a"], columns={"pos": ["DT"]}), Sentence(["b"], attributes={"section": "x"})])
        extractor.transform([Sentence(["a"])])
    assert {str(skipped.template): skipped.reason for skipped in extractor.skipped} == {
        "lemma.lemma": "no sentence has the column 'lemma' (an annotator brings it)",
        "note.note_type": "no sentence has the attribute 'note_type'",
        "clusters.cluster": "no Brown clusters were given",
        "lexicon.category": "no lexicon was given",
    }
    assert [record.getMessage() for record in caplog.records] == [
        "4 of 35 templates are skipped: lemma, because no sentence has the column 'lemma' (an annotator brings it); "
        "note, because no sentence has the attribute 'note_type'; clusters, because no Brown clusters were given; "
        "lexicon, because no lexicon was given"
    ]


def test_nothing_is_skipped_when_all_is_there(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "hyperspan"):
        assert published().fit([EGD]).skipped == ()
    assert not caplog.records


def test_an_extractor_needs_a_template_it_can_use():
    with pytest.raises(FeatureError, match=r"mine.toml: all 1 templates are skipped: no Brown clusters were given"):
        Extractor(templates("cluster[0]"))


def test_an_extractor_says_what_it_looks_at():
    assert [source.name for source in published().needs] == ["pos", "lemma", "note_type", "section"]


def test_an_extractor_must_be_fitted_first():
    with pytest.raises(FeatureError, match=r"no index yet: call fit\(sentences\) or Extractor.from_state\(...\) first"):
        Extractor().transform([EGD])


def test_options_must_make_sense():
    with pytest.raises(FeatureError, match="threads is 0; expected a whole number from 1"):
        Extractor(threads=0).fit([EGD])
    with pytest.raises(FeatureError, match="min_count is 0; expected a whole number from 1"):
        Extractor().fit([EGD], min_count=0)


@pytest.mark.parametrize("name", ["chia/dev.jsonl", "pgxcorpus", "parseme/en"])
def test_real_corpora(shared_data: Path, name: str):
    units = stream(shared_data / name, diagnostics=Diagnostics("skip"))
    sentences = list(islice((unit for unit in units if isinstance(unit, Sentence)), 40))
    extractor = Extractor("default", CLUSTERS, LEXICON)
    assert len(sentences) == 40
    assert hashes_of(extractor, sentences) == expected_hashes(extractor, sentences)
    names = extractor.fit(sentences).names(sentences)
    assert len(names) == len(extractor.index_)
    assert not names.collisions


def test_an_extractor_can_be_made_again_from_its_state():
    sentences = [EGD, Sentence(["\ud800", "hernia"])]
    clusters = ClusterMap({"hernia": "0111", "\ud800": "10", "stomach": "10"})
    extractor = Extractor("published", clusters, LEXICON).fit(sentences)
    state, arrays = extractor.to_state()
    again = Extractor.from_state(json.loads(json.dumps(state)), arrays)
    assert again.templates == extractor.templates
    assert again.skipped == extractor.skipped
    assert_same(again.transform(sentences), extractor.transform(sentences))
    assert again.to_state()[0] == state
    assert arrays["feature_hash"].dtype == np.uint64


def test_brown_clusters_travel_with_the_state():
    texts = [["no", "hiatal", "hernia"], ["small", "hiatal", "hernia"], ["no", "laceration", "seen"]]
    sentences = [Sentence(tokens) for tokens in texts]
    extractor = Extractor(templates("cluster[0]"), brown_clusters(texts, 3)).fit(sentences)
    assert len(extractor.index_) >= 3
    again = Extractor.from_state(*extractor.to_state())
    assert again.describe(sentences[0]) == extractor.describe(sentences[0])


def test_what_was_skipped_travels_with_the_state():
    extractor = Extractor().fit([Sentence(["a"])])
    state, arrays = extractor.to_state()
    assert Extractor.from_state(state, arrays).skipped == extractor.skipped
    assert len(extractor.skipped) == 11


def test_a_lexicon_of_ones_own_must_be_given_again():
    extractor = Extractor("published", CLUSTERS, Bare()).fit([EGD])
    state, arrays = extractor.to_state()
    with pytest.raises(FeatureError, match="these features were learned with a lexicon, and none was given"):
        Extractor.from_state(state, arrays)
    again = Extractor.from_state(state, arrays, lexicon=Bare())
    assert_same(again.transform([EGD]), extractor.transform([EGD]))


def test_a_state_that_cannot_be_used():
    state, arrays = Extractor().fit([EGD]).to_state()
    with pytest.raises(FeatureError, match="these features were learned without a lexicon, but one was given"):
        Extractor.from_state(state, arrays, lexicon=LEXICON)
    with pytest.raises(FeatureError, match="the features are of version 99; this program reads version 1"):
        Extractor.from_state({**state, "version": 99}, arrays)
    with pytest.raises(
        FeatureError, match="the features lack 'feature_hash'; the model they were read from is damaged"
    ):
        Extractor.from_state(state, {})
    del state["templates"]
    with pytest.raises(FeatureError, match="the features lack 'templates'"):
        Extractor.from_state(state, arrays)


def test_an_extractor_can_be_pickled_for_other_processes():
    extractor = published().fit([EGD])
    again = pickle.loads(pickle.dumps(extractor))
    assert_same(again.transform([EGD]), extractor.transform([EGD]))


def test_collisions_are_found_where_names_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(codes_module, "hash_text", lambda text: len(text))
    extractor = Extractor(templates("word[0]"))
    sentence = Sentence(["lac", "egd", "hernia"])
    names = extractor.fit([sentence]).names([sentence])
    assert len(extractor.index_) == 2
    assert names.collisions == [(0, "word[0]=lac", "word[0]=egd")]


def test_explanation_by_group():
    explanation = published().explain(EGD)
    assert explanation.tokens == EGD.tokens
    assert {group: tuple(names) for group, names in explanation.features[2].items()} == HIATAL
    assert explanation.skipped == ()
    assert [
        str(skipped.template) for skipped in Extractor(templates("pos[0]", "word[0]")).explain(Sentence(["a"])).skipped
    ] == ["mine.t0"]


def test_words_can_be_remembered_by_the_reference():
    known: dict = {}
    active = published().active
    first = features_reference(active, EGD, CLUSTERS, LEXICON, known)
    assert features_reference(active, EGD, CLUSTERS, LEXICON, known) == first == published().describe(EGD)
    assert known


def test_repr_says_how_many_templates_are_in_use():
    assert repr(Extractor("published")) == "Extractor('published', 33 of 35 templates, not fitted)"


def test_importing_the_package_loads_no_compiler():
    program = (
        "import sys, hyperspan.features; print([name for name in ('numba', 'scipy', 'spacy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("n_pieces", [1, 2, 3, 50])
def test_a_block_is_cut_between_sentences_and_joined_again(n_pieces):
    sentences = [Sentence(["fever"] * length) for length in (3, 0, 1, 7, 2, 0, 5)]
    block = Extractor("default").fit_transform(sentences)
    pieces = block.cut(n_pieces)
    assert len(pieces) == n_pieces
    assert sum(piece.n_sentences for piece in pieces) == len(sentences)
    joined = FeatureBlock.join(pieces)
    for name in ("first_token", "first_feature", "feature"):
        assert getattr(joined, name).tolist() == getattr(block, name).tolist()
