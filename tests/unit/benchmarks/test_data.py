"""The data of the benchmarks."""

from __future__ import annotations

import pytest

from benchmarks.data import EVERY_TAG, ONE_TYPE, Data, as_one_type, first_tokens, with_types
from benchmarks.setting import Setting
from benchmarks.tasks.growth import of_length
from hyperspan import Mention, Sentence, corpora
from hyperspan.errors import UsageError
from hyperspan.structures import structure


def test_every_tag_occurs_in_the_first_sentence():
    chain = structure("linear", [ONE_TYPE])
    encoded = chain.encode(EVERY_TAG.mentions, len(EVERY_TAG))
    assert {label for _, label in encoded.encoding} == set(range(chain.n_labels))
    assert not encoded.left_out


def test_only_as_many_tokens_as_asked_for():
    sentences = [Sentence(("a", "b", "c"))] * 5
    assert len(first_tokens(sentences, 4)) == 2
    assert len(first_tokens(sentences, 100)) == 5
    assert len(first_tokens(iter(Data("demo").texts(1)), 1)) == 1


def test_the_same_words_of_two_types_are_one_mention():
    mentions = [Mention("A", [(0, 1)]), Mention("B", [(0, 1)]), Mention("B", [(1, 2)])]
    sentence = Sentence(["a", "b"], mentions)
    assert as_one_type([sentence])[1].mentions == (Mention(ONE_TYPE, [(0, 1)]), Mention(ONE_TYPE, [(1, 2)]))
    assert as_one_type([sentence], keep="A")[1].mentions == (Mention(ONE_TYPE, [(0, 1)]),)


def test_types_by_words():
    sentences = Data("demo", most_tokens=2000).sentences
    made = with_types(sentences, 16)
    assert {mention.type for sentence in made for mention in sentence.mentions} == {f"T{n:02d}" for n in range(16)}
    assert with_types(sentences, 16) == made


def test_words_stay_in_order_when_sentences_get_another_length():
    sentences = as_one_type(Data("demo", most_tokens=500).sentences)
    made = of_length(sentences, 100)
    assert [token for each in made for token in each.tokens] == [token for each in sentences for token in each.tokens]
    assert {len(each) for each in made[:-1]} == {100}
    texts = {each.text_of(mention) for each in sentences for mention in each.mentions}
    found = [each.text_of(mention) for each in made for mention in each.mentions]
    assert found
    assert set(found) <= texts


def test_a_corpus_of_your_own(tmp_path):
    sentences = Data("demo", most_tokens=300).sentences
    for split in ("train", "test"):
        corpora.write(sentences[: 20 if split == "train" else 5], tmp_path / "mine" / f"{split}.jsonl")
    data = Data(str(tmp_path / "mine"))
    assert len(data.sentences) == 20
    assert data.name.endswith("mine")
    assert Data(str(tmp_path / "mine" / "test.jsonl")).name == "mine/test"
    tokens = [token for sentence in data.sentences for token in sentence.tokens]
    text = "".join(text.text for text in data.texts(10_000))
    assert "".join(text.split()) == "".join("".join(tokens).split())
    assert " ." not in text


def test_some_types_alone(tmp_path):
    mentions = [Mention("A", [(0, 1)]), Mention("B", [(0, 1)]), Mention("C", [(1, 2)])]
    corpora.write([Sentence(["a", "b"], mentions)], tmp_path / "three.jsonl")
    (sentence,) = Data(f"{tmp_path / 'three.jsonl'}:A,C").sentences
    assert [mention.type for mention in sentence.mentions] == ["A", "C"]


def test_no_corpus_there(tmp_path):
    with pytest.raises(UsageError, match="there is no such file or folder; expected a corpus, or 'demo'"):
        _ = Data(str(tmp_path / "nothing.jsonl")).sentences
    corpora.write([Sentence(["no", "mention"])], tmp_path / "plain.jsonl")
    with pytest.raises(UsageError, match="there is no mention in its training data"):
        _ = Data(str(tmp_path / "plain.jsonl")).sentences


def test_data_are_read_once():
    setting = Setting(quick=True)
    assert setting.data.sentences is Setting(quick=True).data.sentences
    assert Setting(quick=True, seed=1).data.sentences != setting.data.sentences
