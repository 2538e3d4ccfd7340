"""Models with their cards: in a folder, in the cache of a hub, and by the command."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan import Mention, Recognizer, Sentence
from hyperspan.cli import app
from hyperspan.corpora import demo
from hyperspan.errors import MissingExtraError, ModelError

SENTENCES = [
    Sentence(["Blood", "in", "stomach", "."], [Mention("Finding", [(0, 3)]), Mention("Site|x", [(2, 3)])]),
    Sentence(["Blood", "seen", "in", "mouth", "."], [Mention("Finding", [(0, 1), (2, 4)])]),
]
TEXT = {"data": "Two invented sentences.", "licence": "cc-by-4.0", "language": "en", "use": "For tests."}


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(max_components=2).fit(SENTENCES * 8, dev=SENTENCES)


def test_the_card_states_data_scores_licence_and_use(recognizer):
    card = recognizer.card(name="notes", **TEXT)
    for expected in (
        "# notes",
        "## Data\n\nTwo invented sentences.",
        "## Licence\n\ncc-by-4.0",
        "## Intended use\n\nFor tests.",
        "| all mentions | 1.000 | 1.000 | 1.000 | 3 | 0 | 0 |",
        "| discontiguous mentions |",
        "| type `Finding` |",
        "| type `Site\\|x` |",
        "| 2 parts |",
        "`shared`, at most 2 parts, over `encodings`",
    ):
        assert expected in card, expected


def test_what_nobody_says_is_not_stated(recognizer):
    card = Recognizer(max_components=2).fit(SENTENCES * 4).card()
    assert card.count("Not stated.") == 3
    assert "There was no development data, so nothing was measured." in card
    assert "license" not in card


def test_the_card_states_a_second_look_and_the_lengths_of_segments():
    reports = demo.generate(30, unit="sentences")
    options = {"structure": "segments", "longest_part": 5, "longest_gap": 1, "rescore": "on", "max_iterations": 5}
    card = Recognizer(**options).fit(reports.split("train"), dev=reports.split("dev")).card()
    assert "| longest part | 5 words |\n| longest gap | 1 word |" in card
    assert re.search(r"\| second look \| F1 0\.\d{3} without it, 0\.\d{3} with it, on the development data \|", card)
    assert "| 1 part | 0." in card


def test_a_folder_holds_model_and_card(recognizer, tmp_path):
    recognizer.save_pretrained(tmp_path / "notes", **TEXT)
    assert sorted(path.name for path in (tmp_path / "notes").iterdir()) == ["README.md", "hyperspan.model"]
    again = Recognizer.from_pretrained(tmp_path / "notes")
    assert again.predict(SENTENCES) == recognizer.predict(SENTENCES)
    assert b"stomach" not in (tmp_path / "notes" / "hyperspan.model").read_bytes()  # no words of the training data
    with pytest.raises(ModelError, match=r"has no 'hyperspan\.model'; expected a folder written by 'save_pretrained'"):
        Recognizer.from_pretrained(tmp_path)


def hub():
    reason = "huggingface_hub is not installed (pip install 'hyperspan[hub]')"
    return pytest.importorskip("huggingface_hub", reason=reason)


def test_the_hub_reads_the_card(recognizer, tmp_path):
    recognizer.save_pretrained(tmp_path, repository="ward/notes", **TEXT)
    card = hub().ModelCard.load(tmp_path / "README.md")
    assert (card.data.license, card.data.language, card.data.library_name) == ("cc-by-4.0", "en", "hyperspan")
    names = {result.metric_name for result in card.data.eval_results}
    assert names >= {"F1, all mentions", "F1, discontiguous mentions"}
    assert all(result.metric_value == 1.0 for result in card.data.eval_results if "F1, all" in result.metric_name)
    assert 'Recognizer.from_pretrained("ward/notes")' in card.text


def test_there_and_back_through_the_cache_of_the_hub(recognizer, tmp_path):
    package = hub()

    class Local(package.HfApi):
        """Keeps what is pushed where the hub's own client looks for what was downloaded."""

        def create_repo(self, repo_id, **options):
            assert options == {"private": True, "exist_ok": True}
            return f"https://hub/{repo_id}"

        def upload_folder(self, *, repo_id, folder_path, commit_message):
            assert commit_message == "First"
            root = tmp_path / f"models--{repo_id.replace('/', '--')}"
            shutil.copytree(folder_path, root / "snapshots" / ("0" * 40))
            (root / "refs").mkdir()
            (root / "refs" / "main").write_text("0" * 40)

    address = recognizer.push_to_hub("ward/notes", api=Local(), message="First", **TEXT)
    assert address == "https://hub/ward/notes"
    again = Recognizer.from_pretrained("ward/notes", cache_dir=tmp_path, local_files_only=True)
    assert again.predict(SENTENCES) == recognizer.predict(SENTENCES)
    with pytest.raises(ModelError, match="'ward/other' is not a folder here, and the hub does not provide"):
        Recognizer.from_pretrained("ward/other", cache_dir=tmp_path, local_files_only=True)
    with pytest.raises(ModelError, match="is not a folder here, and the hub does not provide"):
        Recognizer.from_pretrained("not a name!", cache_dir=tmp_path, local_files_only=True)


def test_an_error_without_a_message_is_named(recognizer, monkeypatch):
    def late(*arguments, **options):
        raise TimeoutError

    package = hub()
    monkeypatch.setattr(package, "hf_hub_download", late)
    with pytest.raises(ModelError, match=r"does not provide 'hyperspan\.model' of it: TimeoutError"):
        Recognizer.from_pretrained("ward/notes")
    monkeypatch.setattr(package.HfApi, "create_repo", late)
    with pytest.raises(ModelError, match="the hub does not take 'ward/notes': TimeoutError"):
        recognizer.push_to_hub("ward/notes")


def test_a_hub_that_cannot_be_reached_is_said_to_be_so(recognizer):
    client = hub().HfApi(endpoint="http://127.0.0.1:9", token="none")
    with pytest.raises(ModelError, match=r"the hub does not take 'ward/notes': .*refused"):
        recognizer.push_to_hub("ward/notes", api=client)


def test_without_the_extra_it_says_what_to_install(recognizer, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="The model hub needs the package 'huggingface_hub'"):
        recognizer.push_to_hub("ward/notes")
    with pytest.raises(MissingExtraError, match="The model hub needs"):
        Recognizer.from_pretrained("ward/notes")


def test_the_command_writes_the_card(recognizer, tmp_path):
    recognizer.save(tmp_path / "notes.model")
    options = [part for name, value in TEXT.items() for part in (f"--{name}", value)]
    result = CliRunner().invoke(app, ["card", str(tmp_path / "notes.model"), *options])
    assert result.exit_code == 0
    assert result.stdout == Recognizer.load(tmp_path / "notes.model").card(name="notes", **TEXT)
    output = tmp_path / "README.md"
    result = CliRunner().invoke(app, ["card", str(tmp_path / "notes.model"), "-o", str(output)])
    assert "note: the card says that data, licence, use are not stated" in result.stderr
    assert output.read_text(encoding="utf-8").startswith("---\n")


def test_loading_a_recognizer_does_not_load_the_hub(tmp_path: Path):
    code = "import hyperspan.recognizer, sys; print('huggingface_hub' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
