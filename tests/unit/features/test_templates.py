"""Template files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan.errors import FeatureError
from hyperspan.features import TemplateSet
from hyperspan.features.templates import LARGEST_FILE

PUBLISHED_GROUPS = (
    "neighbours",
    "pairs",
    "ngrams",
    "pos",
    "orthography",
    "lemma",
    "note",
    "section",
    "clusters",
    "lexicon",
)


def refused(text: str) -> str:
    with pytest.raises(FeatureError) as caught:
        TemplateSet.parse(text, "mine.toml")
    return str(caught.value)


def test_a_template_has_group_name_and_pattern():
    templates = TemplateSet.parse(
        '[words]\nhere = "word"\n[pairs]\nboth = " word[+1]   lower[-0] section "', "mine.toml"
    )
    assert templates.rows() == [("words", "here", "word[0]"), ("pairs", "both", "word[1] lower[0] section")]
    assert TemplateSet.of(templates.rows(), "mine.toml") == templates


def test_the_default_adds_the_word_its_lower_case_a_bias_and_what_helped_on_development_data():
    published = {template.pattern for template in TemplateSet.load("published")}
    default = {template.pattern for template in TemplateSet.load("default")}
    helpful = TemplateSet.load("default").only("shapes", "long_affixes", "neighbour_affixes")
    assert default - published == {"word[0]", "lower[0]", "bias", *(template.pattern for template in helpful)}
    assert published < default


def test_groups_can_be_left_out():
    published = TemplateSet.load("published")
    assert published.groups == PUBLISHED_GROUPS
    assert published.without("pairs", "pos").groups == tuple(
        group for group in PUBLISHED_GROUPS if group not in ("pairs", "pos")
    )
    assert published.only("lemma").rows() == [("lemma", "lemma", "lemma[0]")]


def test_groups_that_are_not_there_cannot_be_left_out():
    published = TemplateSet.load("published")
    with pytest.raises(FeatureError, match="published: there is no group 'ngram'; did you mean 'ngrams'"):
        published.without("ngram")
    with pytest.raises(FeatureError, match="no template is left; keep at least one group"):
        published.without(*PUBLISHED_GROUPS)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("wrod[0]", "there is no column 'wrod'; did you mean 'word'? Expected one of word, lower, "),
        ("word[x]", "the offset in 'word[x]' is 'x'; expected a whole number from -9 to 9, such as word[-1]"),
        ("word[]", "the offset in 'word[]' is ''; expected a whole number"),
        ("word[10]", "the offset in 'word[10]' is '10'; expected a whole number"),
        ("word[१]", "the offset in 'word[१]' is '१'; expected a whole number"),
        ("word[- 1]", "cannot read 'word[-'; expected column[offset], such as word[-1]"),
        ("word[0", "cannot read 'word[0'"),
        ("[0]", "cannot read '[0]'"),
        ("section[1]", "'section' holds for the whole sentence and takes no offset; write 'section'"),
        ("word[0] word[0]", "has 'word[0]' twice; once is enough"),
        ("", "is ''; expected columns with offsets, such as \"word[-1] word[0]\""),
        (" ".join(f"word[{offset}]" for offset in range(9)), "combines 9 columns; expected at most 8"),
    ],
)
def test_a_pattern_that_cannot_be_read(pattern: str, message: str):
    text = refused(f'[mine]\nodd = "{pattern}"')
    assert text.startswith("mine.toml: template 'odd' in group 'mine'")
    assert message in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: there are no templates; expected a group such as [words]"),
        ("# nothing\n[words]\n", "mine.toml: there are no templates"),
        ('here = "word[0]"', "mine.toml: 'here' is outside any group; expected it below the name of a group"),
        ("[words]\nhere = 3", "mine.toml: template 'here' in group 'words' is 3; expected columns with offsets"),
        ("[words]\nhere = word[0]", "mine.toml: the file is not TOML: Invalid value (at line 2, column 8)"),
        ('[words]\na = "word"\na = "lower"', "mine.toml: the file is not TOML: Cannot overwrite a value"),
        (
            '[a]\nx = "word"\n[b]\nx = "lower"',
            "template 'x' in group 'b': the name is taken by a template in group 'a'",
        ),
        (
            '[a]\nx = "word[-1] word"\n[b]\ny = "word[0] word[-1]"',
            "template 'y' in group 'b': 'word[0] word[-1]' is the same as template 'x' in group 'a'; remove one",
        ),
        ("x = " + "[" * 5000, "mine.toml: the file is not TOML"),
        ("x = " + "1" * 5000, "mine.toml: the file is not TOML: Exceeds the limit"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, message: str):
    assert message in refused(text)


def test_a_file_is_read_by_its_path(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b'\xef\xbb\xbf[words]\r\nhere = "word"\r\n')
    assert TemplateSet.load(path).rows() == [("words", "here", "word[0]")]
    assert TemplateSet.load(str(path)).source == str(path)


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(FeatureError, match="publshed: there is no such template file; did you mean 'published'"):
        TemplateSet.load("publshed")
    with pytest.raises(FeatureError, match="the template file cannot be read: Is a directory"):
        TemplateSet.load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(FeatureError, match=r"latin.toml: byte 2 is not UTF-8; expected a TOML file in UTF-8"):
        TemplateSet.load(tmp_path / "latin.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(FeatureError, match=r"large.toml: the file has 1,048,577 bytes; a template file may have"):
        TemplateSet.load(tmp_path / "large.toml")
