"""Every column has its words."""

from __future__ import annotations

import pytest

from hyperspan.features import Extractor
from hyperspan.features.columns import column_names
from hyperspan.features.words import in_words, is_bias
from hyperspan.mentions import Sentence


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        ("word[0]=and", "the word is ‘and’"),
        ("word[-1]=and", "the word before is ‘and’"),
        ("word[2]=and", "the second word after is ‘and’"),
        ("word[-3]=<s-1>", "the word is the third of the sentence"),
        ("word[-1]=<s-1>|word[0]=Left", "the word is the first of the sentence and is ‘Left’"),
        ("word[0]=leg|word[1]=<s+1>", "the word is ‘leg’ and is the last of the sentence"),
        ("word[3]=<s+1>", "the word is the last but two of the sentence"),
        ("word[0]=a\\|b", "the word is ‘a|b’"),
        ("word[0]=\\<s-1>", "the word is ‘<s-1>’"),
        ("word[0]=a=b", "the word is ‘a=b’"),
        ("lower[0]=left", "the word is ‘left’ in lower case"),
        ("prefix3[1]=kid", "the next word begins with ‘kid’"),
        ("suffix6[0]=idneys", "the word ends with ‘idneys’"),
        ("capitals[0]=title", "the word begins with a capital"),
        ("capitals[0]=none", "the word has neither lower-case nor capital letters"),
        ("shape[-1]=Xx|shape[0]=x", "the word before begins with a capital and the word is in lower case"),
        ("shape[1]=Xd-x", "the next word has the shape ‘Xd-x’"),
        ("mark[0]=date", "the word stands for a ‘date’"),
        ("cluster[0]=0110", "the word is in the cluster ‘0110’"),
        ("category[0]=Disease", "the word is in the lexicon as ‘Disease’"),
        ("pos[0]=NN|pos[1]=CC", "the word has the part of speech ‘NN’ and the next word has the part of speech ‘CC’"),
        ("lemma[0]=kidney", "the word has the lemma ‘kidney’"),
        ("lower[span]=left and", "it is ‘left and’ in lower case"),
        (
            "lower[first]=left|lower[last]=leg",
            "its first word is ‘left’ in lower case and its last word is ‘leg’ in lower case",
        ),
        (
            "pos[left]=DT|pos[span]=JJ NN|pos[right]=<s+1>",
            "the word before it has the part of speech ‘DT’ and it has the parts of speech ‘JJ NN’ and the sentence "
            "ends with it",
        ),
        ("shape[span]=Xx", "it begins with a capital"),
        ("category[whole]=a\\|b", "it is an entry of the lexicon: ‘a|b’"),
        ("category[joined]=Finding", "without it, what stands around it is an entry of the lexicon: ‘Finding’"),
        ("word[somewhere]=else", "word[somewhere]=else"),
        ("section=impression", "the section is ‘impression’"),
        ("note_type=echo", "the type of the note is ‘echo’"),
        ("attribute.ward=7", "the attribute ‘ward’ is ‘7’"),
        ("column.upos[0]=NOUN", "the word has the upos ‘NOUN’"),
        ("bias=1", "for every word"),
        ("#00c0ffee00c0ffee", "#00c0ffee00c0ffee"),
    ],
)
def test_features_in_words(feature, words):
    assert in_words(feature) == words


def test_every_feature_of_a_sentence_has_words():
    tokens = ["[**2014-03-02**]", "Left", "|", "<s-1>", "\\", "kidneys"]
    columns = {"pos": ["NN"] * len(tokens), "lemma": ["x"] * len(tokens)}
    sentence = Sentence(tokens, columns=columns, attributes={"section": "impression", "note_type": "echo"})
    features = [name for names in Extractor("default").describe(sentence) for name in names]
    assert len(features) > 200
    for feature in features:
        words = in_words(feature)
        assert words != feature
        assert "]=" not in words
    assert sum(map(is_bias, features)) == len(sentence)


def test_no_column_is_forgotten():
    for name in column_names():
        label = name if name in ("section", "note_type", "bias") else f"{name}[0]"
        assert in_words(f"{label}=lower") != f"{label}=lower"
        assert name in ("lemma", "shape") or f" has the {name} ‘" not in in_words(f"{label}=lower"), (
            "it fell through to the columns of others"
        )
