"""Brown clusters: what they are, and what becomes of broken files and odd texts."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from hyperspan.errors import FeatureError, UsageError
from hyperspan.features import brown, brown_kernels
from hyperspan.features.brown import (
    Clusters,
    average_mutual_information,
    bit_strings,
    brown_clusters,
    count_bigrams,
    log_bits,
)
from hyperspan.features.brown_reference import brown_reference

TEXT = str.split("no fever or chills . no nausea or vomiting . no fever or vomiting . no pain or chills .")


def clusters_of(text: str, tmp_path) -> Clusters:
    path = tmp_path / "paths"
    path.write_bytes(text.encode())
    return Clusters.load(path)


def test_words_in_the_same_company_share_a_path():
    clusters = brown_clusters([TEXT], 5)
    assert clusters.path_of("fever") == clusters.path_of("nausea") == clusters.path_of("pain")
    assert clusters.path_of("chills") == clusters.path_of("vomiting")
    assert len({clusters.path_of(word) for word in (".", "no", "or", "fever", "chills")}) == 5


@pytest.mark.kernel
def test_every_merger_is_the_one_of_the_reference():
    sentences = [TEXT, str.split("she has no fever . he has a cough . she denies pain . he denies a cough .")]
    for n_clusters in (1, 2, 4, 7):
        expected = brown_reference(sentences, n_clusters)
        bigrams = count_bigrams(sentences)
        merging = brown._Merging(bigrams, n_clusters)
        merging.grow(0, len(bigrams.words))
        assert [tuple(pair) for pair in merging.merges.tolist() if pair[0] >= 0] == expected.merges
        assert merging.tree() == expected.tree
        clusters = brown_clusters(sentences, n_clusters)
        assert {word: clusters.path_of(word) for word in clusters.words} == expected.paths
        assert clusters.average_mutual_information == pytest.approx(expected.average_mutual_information, abs=1e-9)


@pytest.mark.kernel
def test_corrected_losses_are_the_recomputed_ones():
    chance = random.Random(0)
    words = [f"w{min(int(chance.expovariate(0.08)), 59)}" for _ in range(1500)]
    bigrams = count_bigrams([words[start : start + 15] for start in range(0, len(words), 15)])
    merging = brown._Merging(bigrams, 12)
    for first, last in itertools.pairwise((0, 5, 12, 20, len(bigrams.words))):
        merging.grow(first, last)
        window = merging.window
        active = np.flatnonzero(window.active)
        pairs = [(b, a) for b in active for a in active if a < b]
        corrected = [window.core[pair] for pair in pairs]
        for slot in active:
            brown_kernels._fill(window, slot)
        assert [window.core[pair] for pair in pairs] == corrected
        assert (window.turned == window.pairs.T).all()


@pytest.mark.kernel
def test_counts_beyond_the_table_of_logarithms_change_nothing(monkeypatch):
    expected = brown_clusters([TEXT] * 3, 3)
    monkeypatch.setattr(brown, "LARGEST_TABLE", 2)
    assert brown_clusters([TEXT] * 3, 3) == expected


def test_information_is_the_one_of_the_definition():
    clusters = brown_clusters([TEXT], 4)
    pairs = [(clusters.path_of(left), clusters.path_of(right)) for left, right in itertools.pairwise(TEXT)]
    left, right = zip(*pairs, strict=True)
    expected = sum(
        pairs.count(pair)
        / len(pairs)
        * math.log(pairs.count(pair) * len(pairs) / left.count(pair[0]) / right.count(pair[1]))
        for pair in set(pairs)
    )
    assert clusters.average_mutual_information == pytest.approx(expected, abs=1e-12)


def test_information_during_the_work_ends_at_the_definition():
    bigrams = count_bigrams([TEXT])
    merging = brown._Merging(bigrams, 4)
    merging.grow(0, len(bigrams.words))
    assert merging.mutual_information() == pytest.approx(average_mutual_information(bigrams, merging.slots()), abs=1e-9)


def test_neighbours_do_not_cross_sentences():
    bigrams = count_bigrams([["a", "b"], ["c"], ["b", "a"]])
    pairs = {
        (bigrams.words[word], bigrams.words[bigrams.right[k]]): int(bigrams.right_count[k])
        for word in range(len(bigrams.words))
        for k in range(bigrams.first_right[word], bigrams.first_right[word + 1])
    }
    assert pairs == {("a", "b"): 1, ("b", "a"): 1}


def test_rare_words_have_no_cluster_and_are_no_neighbours():
    sentences = [["a", "x", "b"], ["a", "b"], ["b", "a"]]
    clusters = brown_clusters(sentences, 2, min_count=2)
    assert clusters.words == ("a", "b")
    assert "x" not in clusters
    assert count_bigrams(sentences, 2).total == 2


def test_more_clusters_than_words_gives_every_word_its_own():
    clusters = brown_clusters([TEXT], 1000)
    assert clusters.n_clusters == len(clusters) == len(set(TEXT))
    assert clusters.average_mutual_information == pytest.approx(
        average_mutual_information(count_bigrams([TEXT]), range(len(clusters)))
    )


def test_one_cluster_and_one_word_have_the_path_0():
    assert set(brown_clusters([TEXT], 1).paths) == {"0"}
    assert brown_clusters([TEXT], 1).average_mutual_information == 0.0
    alone = brown_clusters([["word"]], 10)
    assert (alone.path_of("word"), alone.average_mutual_information) == ("0", 0.0)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "the text has no words to cluster; expected sentences of words"),
        ([[], []], "the text has no words to cluster; expected sentences of words"),
        ([["a", ""]], "the word '' cannot be clustered"),
        ([["a", "\ud800"]], r"the word '\\ud800' cannot be clustered"),
        ([["a\nb"]], r"the word 'a\\nb' cannot be clustered: expected a text that is not empty, has no line break"),
        (["a text"], "a sentence is the text 'a text'; expected a sequence of words"),
    ],
)
def test_text_that_cannot_be_clustered(sentences, message):
    with pytest.raises(FeatureError, match=message):
        brown_clusters(sentences, 3)


def test_text_of_rare_words_only():
    with pytest.raises(FeatureError, match=r"no words to cluster, but 2 rarer than min_count = 2"):
        brown_clusters([["a", "b"]], 3, min_count=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters is 0; expected a number from 1 to 20,000"),
        ({"n_clusters": 20_001}, "n_clusters is 20001"),
        ({"min_count": 0}, "min_count is 0; expected at least 1"),
    ],
)
def test_numbers_that_make_no_sense(options, message):
    with pytest.raises(UsageError, match=message):
        brown_clusters([TEXT], **options)


def test_progress_ends_with_all_words_and_the_final_information(monkeypatch):
    reports = []
    monkeypatch.setattr(brown, "_SECONDS_A_REPORT", 0.0)
    words = [f"w{i % 97}" for i in range(1000)]
    clusters = brown_clusters([words], 5, on_progress=reports.append)
    assert [report.word for report in reports] == sorted({report.word for report in reports})
    assert len(reports) > 1
    assert reports[0].seconds_left >= 0.0
    assert reports[-1] == (97, 97, clusters.average_mutual_information, 0.0)


def test_bit_strings_of_a_chain():
    assert bit_strings([0, 1, 2, 3], [(2, 3), (1, 2), (0, 1)]) == ["0", "10", "110", "111"]


def test_log_bits_leave_room_for_sums():
    for total in (0, 1, 300_000, 2**31 - 1):
        assert 16 * max(total, 2) * math.log(max(total, 2)) * 2 ** log_bits(total) < 2**63
        assert log_bits(total) >= 20


def test_save_and_load(tmp_path):
    clusters = brown_clusters([[*TEXT, "with\ttab", "é\u2028"]], 5)
    clusters.save(tmp_path / "paths")
    again = Clusters.load(tmp_path / "paths")
    assert again == clusters
    assert again.average_mutual_information is None
    assert Clusters.from_bytes(clusters.to_bytes()) == clusters


def test_the_file_has_path_word_and_count_in_the_order_of_the_tree(tmp_path):
    brown_clusters([TEXT], 5).save(tmp_path / "paths")
    assert (tmp_path / "paths").read_text() == (
        "0000\t.\t4\n0001\tno\t4\n001\tchills\t2\n001\tvomiting\t2\n01\tor\t4\n1\tfever\t2\n1\tnausea\t1\n1\tpain\t1\n"
    )


def test_files_of_other_programs_are_read(tmp_path):
    clusters = clusters_of("\ufeff0010\tthe\t12\r\n\r\n0011\ta\t7\r\n1\tno-count\n", tmp_path)
    assert [clusters.path_of(word) for word in ("the", "a", "no-count")] == ["0010", "0011", "1"]
    assert clusters.counts.tolist() == [12, 7, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("01\ta\t1\nword\n", r"paths:2: 'word' is not a bit string, a word and a count separated by tabs"),
        ("01\ta\t1\n012\tb\t1\n", r"paths:2: '012\\tb\\t1' is not a bit string"),
        ("01\t\t1\n", r"paths:1: '01\\t\\t1' is not a bit string"),
        ("01\ta\tmany\n", r"paths:1: the count of 'a' is 'many'; expected a whole number"),
        ("01\ta\t-1\n", r"paths:1: the count of 'a' is '-1'; expected a whole number"),
        ("01\ta\t" + "9" * 30 + "\n", r"paths:1: the count of 'a' is '9+'; expected"),
        ("01\ta\t1\n1\tb\t1\n11\ta\t1\n", r"paths:3: the word 'a' was given before, on line 1"),
        ("", r"paths: there are no clusters in this file; expected lines of bit string, word, count"),
    ],
)
def test_broken_files_say_where(tmp_path, text, message):
    with pytest.raises(FeatureError, match=message):
        clusters_of(text, tmp_path)


def test_a_file_that_is_not_utf8_or_not_there(tmp_path):
    (tmp_path / "latin").write_bytes(b"0\tok\t1\n1\tf\xe9\t1\n")
    with pytest.raises(FeatureError, match=r"latin:2: byte 0xe9 at position 3 is not UTF-8"):
        Clusters.load(tmp_path / "latin")
    with pytest.raises(FeatureError, match=r"nowhere: cannot be read: No such file"):
        Clusters.load(tmp_path / "nowhere")
    with pytest.raises(FeatureError, match=r"model: byte 2 is not UTF-8"):
        Clusters.from_bytes(b"0\t\xff", "model")


def test_many_words_at_once():
    clusters = Clusters(("a", "b"), np.array([1, 0]), ("0", "1"), np.array([1, 1]))
    assert clusters.ids_of(["b", "z", "a", "b"]).tolist() == [0, -1, 1, 0]
    assert clusters.ids_of([]).dtype == np.int32


@pytest.mark.parametrize(
    ("words", "ids", "counts", "message"),
    [
        (("a",), [0, 1], [1], "there are 1 words, but 2 cluster ids and 1 counts"),
        (("a",), [2], [1], "a cluster id is not the index of one of the 2 paths"),
        (("a", "a"), [0, 1], [1, 1], "a word occurs twice"),
    ],
)
def test_clusters_that_do_not_fit_together(words, ids, counts, message):
    with pytest.raises(FeatureError, match=message):
        Clusters(words, np.array(ids), ("0", "1"), np.array(counts))


def test_a_word_that_utf8_cannot_write(tmp_path):
    with pytest.raises(FeatureError, match=r"a word holds '\\ud800', which UTF-8 cannot encode"):
        Clusters(("\ud800",), np.array([0]), ("0",), np.array([1])).save(tmp_path / "paths")
    assert not (tmp_path / "paths").exists()


def test_real_text(shared_data):
    from hyperspan import corpora

    sentences = [unit.tokens for unit in corpora.stream(shared_data / "pgxcorpus" / "dev.jsonl")]
    clusters = brown_clusters(sentences, 50)
    bigrams = count_bigrams(sentences)
    assert clusters.n_clusters == 50
    assert set(clusters.words) == {token for tokens in sentences for token in tokens}
    by_frequency = np.minimum(np.arange(len(bigrams.words)), 49)
    assert clusters.average_mutual_information > 1.2 * average_mutual_information(bigrams, by_frequency)
