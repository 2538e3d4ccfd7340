"""What the routes answer, and how they refuse."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperspan import Recognizer, Sentence
from hyperspan.corpora import demo
from hyperspan.corpora.brat import document_of
from hyperspan.server import Limits, create_app
from hyperspan.server.predicting import LOWEST_CANDIDATE

TEXT = "Left and right kidneys are enlarged. No fever."
TOKENS = ["Left", "and", "right", "kidneys", "are", "enlarged", "."]
POSTS = ("/api/predict", "/api/explain", "/api/export", "/api/read-brat")


def refused(response: Any, status: int) -> str:
    """Return the sentence of an error, which has the one shape that all have."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    data = response.json()
    assert set(data) == {"error", "details"}
    assert all(isinstance(detail, str) for detail in data["details"])
    return " ".join([data["error"], *data["details"]])


# What there is


def test_healthz(client):
    assert client.get("/healthz").json() == {"status": "ok", "models": ["small", "tags"]}


def test_models_are_listed_and_described(client, recognizer):
    data = client.get("/api/model").json()
    assert data["default"] == "small"
    small, tags = data["models"]
    assert small["types"] == list(recognizer.types_)
    assert small["dev_scores"]["all"] == recognizer.dev_scores_["all"]
    assert (tags["structure"], tags["dev_scores"]) == ("linear", None)
    assert all(colour["light"][0] == colour["dark"][0] == "#" for colour in small["colours"].values())
    full = client.get("/api/model", params={"model": "small"}).json()
    assert {key: full[key] for key in small} == small
    assert full["templates"] == [list(row) for row in recognizer.summary()["templates"]]
    assert refused(client.get("/api/model", params={"model": "<b>"}), 404) == (
        "there is no model '<b>'; expected one of 'small', 'tags'"
    )


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/style.css", "/static/index.html", "/api/model", "/nowhere"])
def test_every_answer_has_the_strict_headers(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_documentation_names_every_operation_and_no_foreign_host(client):
    page = client.get("/docs").text
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page
    assert "//" not in page.replace("</", "")
    assert "<script" not in page
    assert " style=" not in page


def test_every_error_is_described_in_its_shape(client):
    described = client.get("/openapi.json").json()
    for path in POSTS:
        answers = described["paths"][path]["post"]["responses"]
        for status in ("400", "408", "413", "415", "422", "503"):
            assert answers[status]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorAnswer")


# Predicting


def test_a_text_is_split_and_its_mentions_are_placed(client, recognizer):
    data = client.post("/api/predict", {"text": TEXT, "threshold": 0.05}).json()
    assert (data["model"], data["decode"], data["threshold"], data["truncated"]) == ("small", "probable", 0.05, False)
    first, second = data["sentences"]
    assert (first["start"], first["end"], second["start"], second["end"]) == (0, 36, 37, 46)
    assert first["tokens"] == TOKENS
    assert [TEXT[start:end] for start, end in first["offsets"]] == TOKENS
    assert first["mentions"]
    (found,) = recognizer.find([Sentence(TOKENS)], threshold=0.05)
    assert {(m["type"], m["text"]) for m in first["mentions"]} == {
        (mention.type, Sentence(TOKENS).text_of(mention)) for mention in found.mentions
    }
    for mention in first["mentions"]:
        words = [" ".join(TOKENS[start:end]) for start, end in mention["spans"]]
        characters = [TEXT[start:end] for start, end in mention["characters"]]
        assert " … ".join(words) == mention["text"]
        assert [piece.replace(" ", "") for piece in words] == [piece.replace(" ", "") for piece in characters]
        assert mention["prob"] >= 0.05
    assert "candidates" not in first
    assert "gold" not in first


@pytest.mark.parametrize("lines", [False, True])
def test_a_sentence_that_is_too_long_is_left_out_if_asked_for(client, lines):
    asked = {"sentences": [TOKENS, ["x"] * 301, TOKENS], "candidates": True}
    assert refused(client.post("/api/predict", asked), 422).startswith("sentence 2 has 301 words; expected at most 300")
    asked["skip_long"] = True
    response = client.post("/api/predict", asked, headers={"Accept": "application/x-ndjson"} if lines else {})
    answers = [json.loads(line) for line in response.text.splitlines()][1:-1] if lines else response.json()["sentences"]
    first, long, last = answers
    assert first == last
    assert "skipped" not in first
    assert first["candidates"]
    assert long["skipped"] == "sentence 2 has 301 words; expected at most 300"
    assert (long["mentions"], long["candidates"], len(long["tokens"])) == ([], [], 301)


def test_mentions_that_are_given_are_exported_however_long_a_sentence_is(client):
    asked = {"sentences": [["x"] * 301], "mentions": [[{"type": "A", "spans": [[0, 1]]}]], "format": "jsonl"}
    assert client.post("/api/export", asked).status_code == 200
    del asked["mentions"]
    refused(client.post("/api/export", asked), 422)


def test_tokens_are_taken_as_they_are(client):
    (sentence,) = client.post("/api/predict", {"tokens": TOKENS}).json()["sentences"]
    assert (sentence["tokens"], sentence["offsets"], sentence["direction"]) == (TOKENS, None, "ltr")
    assert "start" not in sentence
    assert all(mention["characters"] is None for mention in sentence["mentions"])
    several = client.post("/api/predict", {"sentences": [TOKENS, ["שלום", "fever"]]}).json()["sentences"]
    assert several[0] == sentence
    assert several[1]["direction"] == "rtl"


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_nothing_is_found_in_nothing(client, text):
    assert client.post("/api/predict", {"text": text}).json()["sentences"] == []


@pytest.mark.parametrize("model", ["small", "tags"])
@pytest.mark.parametrize("decode", ["probable", "enough", "all"])
def test_candidates_are_all_that_is_probable_at_all(client, recognizer, linear, model, decode):
    how = {"decode": decode, "threshold": 0.3, "model": model}
    (plain,) = client.post("/api/predict", {"tokens": TOKENS, **how}).json()["sentences"]
    (more,) = client.post("/api/predict", {"tokens": TOKENS, **how, "candidates": True}).json()["sentences"]
    assert more["mentions"] == plain["mentions"]
    probs = [mention["prob"] for mention in more["candidates"]]
    assert probs == sorted(probs, reverse=True)
    used = {"small": recognizer, "tags": linear}[model]
    (all_of_them,) = used.find([Sentence(TOKENS)], decode="probable", threshold=LOWEST_CANDIDATE)
    assert {(m["type"], str(m["spans"])) for m in more["candidates"]} == {
        (mention.type, str([list(part) for part in mention.parts])) for mention in all_of_them.mentions
    }


def test_gold_is_compared_and_its_defects_are_told(client):
    (sentence,) = client.post("/api/predict", {"tokens": TOKENS, "threshold": 0.01}).json()["sentences"]
    known = sentence["mentions"][0]
    gold = [
        {"type": known["type"], "spans": known["spans"]},
        {"type": "Nothing", "spans": [[0, 1], [5, 6]]},
        {"type": "Nothing", "spans": [[0, 100]]},
        {"type": "Nothing", "spans": [[5, 6], [0, 1]]},
    ]
    data = client.post("/api/predict", {"tokens": TOKENS, "threshold": 0.01, "gold": gold}).json()
    compared = {(mention["type"], mention["found"]) for mention in data["sentences"][0]["gold"]}
    assert compared == {(known["type"], True), ("Nothing", False)}
    assert data["findings"] == [
        "part '0 100' ends beyond the end, which is at 7",
        "the 'Nothing' mention [(0, 1), (5, 6)] was given before",
    ]


def test_gold_of_a_text_has_characters(client):
    gold = [{"type": "Finding", "spans": [[40, 45]]}, {"type": "Finding", "spans": [[27, 45]]}]
    data = client.post("/api/predict", {"text": TEXT, "gold": gold}).json()
    assert data["sentences"][0]["gold"] == []
    (fever,) = data["sentences"][1]["gold"]
    assert (fever["spans"], fever["characters"], fever["text"]) == ([[1, 2]], [[40, 45]], "fever")
    assert len(data["findings"]) == 1
    assert "enlarged. No fever" in data["findings"][0]


def test_lines_say_the_same_as_one_answer(client):
    asked = {"text": TEXT * 60, "candidates": True, "gold": [{"type": "Finding", "spans": [[40, 45]]}]}
    whole = client.post("/api/predict", asked).json()
    response = client.post("/api/predict", asked, headers={"Accept": "application/x-ndjson"})
    assert response.headers["content-type"].startswith("application/x-ndjson")
    head, *sentences, last = map(json.loads, response.text.splitlines())
    assert sentences == whole["sentences"]
    assert last == {"done": True, "sentences": len(sentences), "truncated": whole["truncated"]}
    assert head == {key: whole[key] for key in ("model", "decode", "threshold", "findings")}


def test_a_stream_that_must_stop_says_so(client_of, recognizer, monkeypatch):
    from hyperspan.server import tasks as module

    calls = []

    def find(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise RuntimeError("a bug")
        return original(*args, **kwargs)

    original = module.find
    monkeypatch.setattr(module, "find", find)
    client = client_of(create_app({"small": recognizer}))
    response = client.post("/api/predict", {"text": TEXT * 100}, headers={"Accept": "application/x-ndjson"})
    *_, last = map(json.loads, response.text.splitlines())
    assert last["error"].startswith("something went wrong on our side")
    assert client.app.state.executor.n_under_way == 0


def test_markup_and_control_characters_come_back_as_data(client):
    hostile = "<script>alert(1)</script> \x00\x1b[31m &lt; ‮fever"
    data = client.post("/api/predict", {"text": hostile}).json()
    for sentence in data["sentences"]:
        assert [hostile[start:end] for start, end in sentence["offsets"]] == sentence["tokens"]
    svg = client.post("/api/explain", {"tokens": ["<script>", "\x00", "fever"]}).json()["hypergraph"]
    assert "<script" not in svg
    assert "\x00" not in svg
    for format in ("svg", "html"):
        file = client.post("/api/export", {"text": hostile, "format": format, "doc": "<script>"}).text
        assert "<script" not in file
        assert "\x1b" not in file


# Explaining


@pytest.mark.parametrize("decode", ["probable", "enough", "all"])
def test_an_explanation_has_edges_reasons_and_a_drawing(client, recognizer, decode):
    asked = {"text": "Left and right kidneys are enlarged.", "decode": decode, "threshold": 0.1}
    data = client.post("/api/explain", asked).json()
    (found,) = client.post("/api/predict", asked).json()["sentences"]
    assert [(m["type"], m["spans"], m["text"]) for m in data["mentions"]] == [
        (m["type"], m["spans"], m["text"]) for m in found["mentions"]
    ]
    assert data["mentions"][0]["reasons"]
    assert set(data["types"]) == set(recognizer.types_)
    assert data["type"] == max(data["types"], key=data["types"].__getitem__)
    assert {block["type"] for block in data["hypergraph_data"]["blocks"]} <= {data["type"]}
    assert data["hypergraph"].startswith("<svg")


def test_the_type_of_the_drawing_can_be_chosen(client, recognizer):
    for type in recognizer.types_:
        data = client.post("/api/explain", {"tokens": TOKENS, "type": type}).json()
        assert data["type"] == type
        assert {block["type"] for block in data["hypergraph_data"]["blocks"]} <= {type}
        assert data["hypergraph_data"]["n_left_out"] <= 1
    assert refused(client.post("/api/explain", {"tokens": TOKENS, "type": "Sign"}), 422).startswith(
        "the model 'small' does not know the type 'Sign'; expected "
    )


def test_only_the_most_probable_of_many_mentions_are_explained(client_of, recognizer, monkeypatch):
    monkeypatch.setattr("hyperspan.server.predicting.MOST_EXPLAINED", 2)
    client = client_of(create_app({"small": recognizer}))
    asked = {"tokens": TOKENS, "threshold": 0.001}
    found = client.post("/api/predict", asked).json()["sentences"][0]["mentions"]
    data = client.post("/api/explain", asked).json()
    assert len(found) > 2
    assert data["truncated"]
    assert sorted(m["prob"] for m in data["mentions"]) == sorted(m["prob"] for m in found)[-2:]


def test_a_second_look_says_the_same_in_every_answer(client_of):
    reports = demo.generate(40, unit="sentences")
    recognizer = Recognizer(max_components=2, max_iterations=8, n_threads=1, rescore="on").fit(reports.split("train"))
    client = client_of(create_app({"two": recognizer}))
    text = "There is a mass in the antrum. There is a mass in the duodenum. No mass."
    for decode in ("probable", "enough"):
        asked = {"text": text, "threshold": 0.1, "decode": decode, "candidates": True}
        sentences = client.post("/api/predict", asked).json()["sentences"]
        assert sum(len(sentence["mentions"]) for sentence in sentences) > 0
        for sentence in sentences:
            probs = {(each["type"], str(each["spans"])): each["prob"] for each in sentence["candidates"]}
            for found in sentence["mentions"]:
                assert found["prob"] == probs.get((found["type"], str(found["spans"])), found["prob"])
                mention = {"type": found["type"], "spans": found["spans"]}
                asked = {"tokens": sentence["tokens"], "mention": mention}
                (explained,) = client.post("/api/explain", asked).json()["mentions"]
                assert explained["prob"] == pytest.approx(found["prob"], rel=1e-12)
                assert {reason["look"] for reason in explained["reasons"]} == {1, 2}
    described = client.get("/api/model", params={"model": "two"}).json()
    assert described["rescorer"]["name"] == "linear"
    assert described["rescoring"]["kept"]


def test_one_mention_is_explained_whether_it_was_found_or_not(client, recognizer):
    for spans, n_parts in (([[0, 1], [3, 4]], 2), ([[4, 5]], 1)):
        asked = {"tokens": TOKENS, "mention": {"type": "Anatomy", "spans": spans}}
        (mention,) = client.post("/api/explain", asked).json()["mentions"]
        assert (mention["type"], mention["spans"], len(mention["spans"])) == ("Anatomy", spans, n_parts)
        assert 0.0 <= mention["prob"] <= 1.0
        assert all(reason["in_words"] and "]=" not in reason["in_words"] for reason in mention["reasons"])
        assert [reason["is_bias"] for reason in mention["reasons"][:-1]] == [False] * (len(mention["reasons"]) - 1)
    found = client.post("/api/predict", {"tokens": TOKENS, "threshold": 0.02}).json()["sentences"][0]["mentions"]
    asked = {"tokens": TOKENS, "mention": {"type": found[0]["type"], "spans": found[0]["spans"]}}
    (mention,) = client.post("/api/explain", asked).json()["mentions"]
    assert mention["prob"] == pytest.approx(found[0]["prob"])


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ({"type": "Sign", "spans": [[0, 1]]}, "the model does not know the type 'Sign'; it knows 'Anatomy', "),
        ({"type": "Drug", "spans": [[0, 1], [2, 3], [4, 5]]}, "the mention has 3 parts; this model can only encode "),
        ({"type": "Drug", "spans": [[0, 9]]}, "mentions of sentence 1: "),
    ],
)
def test_a_mention_that_cannot_be_written_is_not_explained(client, mention, message):
    asked = {"tokens": TOKENS, "mention": mention}
    assert refused(client.post("/api/explain", asked), 422).startswith(message)


def test_tags_are_explained_too(client):
    data = client.post("/api/explain", {"tokens": TOKENS, "model": "tags"}).json()
    assert len(data["hypergraph_data"]["tags"]) == len(TOKENS)


def test_one_sentence_is_explained(client):
    assert refused(client.post("/api/explain", {"text": TEXT}), 422) == (
        "the text has 2 sentences; expected one. Explain them one by one"
    )
    assert refused(client.post("/api/explain", {"text": ""}), 422).startswith("the text has 0 sentences")
    assert refused(client.post("/api/explain", {"tokens": ["x"] * 41}), 422).startswith(
        "sentence 1 has 41 words; expected at most 40"
    )


# Files


def test_brat_files_hold_what_was_predicted(client):
    response = client.post("/api/export", {"text": TEXT, "format": "brat", "doc": "ward/../7"})
    assert response.headers["content-disposition"] == 'attachment; filename="ward-..-7.zip"'
    folder = zipfile.ZipFile(io.BytesIO(response.content))
    assert folder.namelist() == ["ward-..-7.txt", "ward-..-7.ann", "annotation.conf"]
    text, annotations, configuration = (folder.read(name).decode() for name in folder.namelist())
    assert text == TEXT
    document = document_of("", text, annotations)
    assert {mention.type for mention in document.mentions} <= set(configuration.split())
    predicted = client.post("/api/predict", {"text": TEXT}).json()["sentences"]
    assert {(mention.type, str([list(part) for part in mention.parts])) for mention in document.mentions} == {
        (mention["type"], str(mention["characters"])) for sentence in predicted for mention in sentence["mentions"]
    }
    read = client.post("/api/read-brat", {"text": text, "ann": annotations}).json()
    assert read["findings"] == []
    assert len(read["gold"]) == len(document.mentions)


def test_mentions_that_were_given_are_exported_as_they_are(client):
    given = [[{"type": "Finding", "spans": [[0, 1], [3, 4]], "prob": 0.5}], []]
    line = json.loads(client.post("/api/export", {"text": TEXT, "mentions": given, "format": "jsonl"}).text)
    assert line["mentions"] == [{"type": "Finding", "spans": [[0, 4], [15, 22]], "prob": 0.5}]
    asked = {"sentences": [TOKENS, ["no"]], "mentions": given, "format": "jsonl"}
    first, second = map(json.loads, client.post("/api/export", asked).text.splitlines())
    assert first["mentions"] == [{"type": "Finding", "spans": [[0, 1], [3, 4]], "prob": 0.5}]
    assert second["mentions"] == []


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"mentions": []}, "there are mentions for 0 sentences, but 2 sentences"),
        ({"mentions": [[], [{"type": "F", "spans": [[0, 9]]}]]}, "mentions of sentence 2: the 'F' mention"),
        ({"mentions": [[{"type": "F", "spans": [[1, 1]]}], []]}, "mentions of sentence 1: part (1, 1) is empty"),
        ({"mentions": [[{"type": "F G", "spans": [[1, 2]]}], []]}, "brat cannot hold all of these mentions"),
    ],
)
def test_mentions_that_do_not_fit_are_refused(client, asked, sentence):
    assert refused(client.post("/api/export", {"text": TEXT, "format": "brat", **asked}), 422).startswith(sentence)


@pytest.mark.parametrize("format", ["svg", "html", "jsonl", "brat"])
def test_every_format_takes_every_input(client, format):
    for what in ({"text": TEXT}, {"text": ""}, {"tokens": TOKENS}, {"sentences": []}, {"sentences": [["a"], ["b"]]}):
        response = client.post("/api/export", {**what, "format": format})
        assert response.status_code == 200, response.text
        assert response.headers["content-disposition"].startswith('attachment; filename="text.')


def test_a_drawing_has_its_bounds(client):
    asked = {"sentences": [["x"]] * 201, "format": "svg"}
    assert "a drawing takes 200" in refused(client.post("/api/export", asked), 422)


@pytest.mark.parametrize("format", ["svg", "html"])
def test_a_drawing_does_not_explode(client, format):
    mentions = [{"type": str(number), "spans": [[0, 1], [299, 300]]} for number in range(700)]
    asked = {"tokens": ["x"] * 300, "mentions": [mentions], "format": format}
    assert refused(client.post("/api/export", asked), 422) == (
        "the mentions reach over 210,000 words, more than the 200,000 that are drawn; "
        "draw fewer sentences, or raise the threshold"
    )
    assert client.post("/api/export", asked | {"format": "jsonl"}).status_code == 200
    assert "at most 1000 items" in refused(client.post("/api/export", asked | {"mentions": [mentions * 2]}), 422)


def test_defects_of_annotations_are_diagnostics(client):
    data = client.post(
        "/api/read-brat", {"text": "no fever", "ann": "T1\tF 3 8\tfever\nT2\tF 3 80\tx\nnonsense\n"}
    ).json()
    assert data["gold"] == [{"type": "F", "spans": [[3, 8]]}]
    assert data["findings"][0] == "line 2: part '3 80' ends beyond the end, which is at 8"
    assert data["findings"][1].startswith("line 3: the line 'nonsense' is not an annotation")


# Refusals


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "the request has none of 'text', 'tokens', 'sentences'; expected exactly one of them"),
        ({"text": "a", "tokens": ["a"]}, "the request has 'text' and 'tokens' of"),
        ({"text": "a", "threshold": 0}, "details say where body.threshold: Input should be greater than 0"),
        ({"text": "a", "threshold": "0.5"}, "body.threshold: Input should be a valid number"),
        ({"text": "a", "decode": "best"}, "'best' is not a decoder; expected one of 'probable', 'enough', 'all'"),
        ({"text": 7}, "body.text: Input should be a valid string"),
        ({"tokens": [""]}, "body.tokens.0: String should have at least 1 character"),
        ({"tokens": []}, "body.tokens: List should have at least 1 item"),
        ({"text": "a", "colour": "red"}, "body.colour: Extra inputs are not permitted"),
        ({"sentences": [["a"]], "gold": []}, "'gold' was given with 'sentences'; it goes with 'text' or with 'tokens'"),
        ({"tokens": ["x"] * 301}, "sentence 1 has 301 words; expected at most 300. Split it, or leave it out"),
        ({"sentences": [["x"], ["x"] * 400]}, "sentence 2 has 400 words"),
        ([1], "body: Input should be a valid dictionary"),
    ],
)
def test_what_is_not_expected_is_said(client, asked, sentence):
    assert sentence in refused(client.post("/api/predict", asked), 422)


def test_details_have_an_end(client):
    response = client.post("/api/predict", {"tokens": [1] * 1000})
    assert refused(response, 422)
    assert len(response.json()["details"]) == 21
    assert response.json()["details"][-1] == "and 980 more"


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"text": NaN}', b'{"text": "\\ud800"}', b"[" * 50_000])
def test_what_is_not_json_is_said(client, body):
    response = client.request("POST", "/api/predict", content=body, headers={"Content-Type": "application/json"})
    assert refused(response, 400).startswith("the body is not JSON in UTF-8: ")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_taken(client, path, kind):
    response = client.request("POST", path, content=b"{}", headers={"Content-Type": kind} if kind else {})
    seen = repr(kind) if kind else "not given"
    assert refused(response, 415) == f"the content type is {seen}; expected 'application/json'"


def test_large_bodies_are_refused(client):
    assert refused(client.post("/api/predict", {"text": "x " * 60_000}), 413).startswith(
        "the body has more than 100,000 bytes"
    )

    async def chunks() -> Any:
        for _ in range(30):
            yield b"x" * 5_000

    response = client.request("POST", "/api/predict", content=chunks(), headers={"Content-Type": "application/json"})
    refused(response, 413)


def test_other_methods_and_paths_are_refused(client):
    response = client.request("PUT", "/api/predict")
    assert refused(response, 405) == "'/api/predict' does not take 'PUT'; expected POST"
    assert response.headers["allow"] == "POST"
    assert refused(client.get("/nowhere"), 404) == "there is nothing at '/nowhere'; /docs lists what there is"
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/nothing.js"):
        refused(client.get(path), 404)


@pytest.mark.parametrize("format", ["brat", "jsonl", "svg", "html"])
def test_mentions_that_cover_far_more_than_there_is_are_not_written(client, format):
    mentions = [{"type": f"T{number}", "spans": [[0, 1]]} for number in range(300)]
    asked = {"tokens": ["x" * 50_000], "mentions": [mentions], "format": format}
    sentence = refused(client.post("/api/export", asked), 422)
    assert sentence.startswith("the mentions cover 15,000,000 characters, more than the 10,000,000 that are written")


def test_a_bug_is_not_shown_to_strangers(client_of, recognizer, monkeypatch):
    from hyperspan.server import tasks as module

    def broken(*args: Any) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(module, "document_of", broken)
    client = client_of(create_app({"small": recognizer}))
    sentence = refused(client.post("/api/read-brat", {"text": "", "ann": ""}), 500)
    assert sentence.startswith("something went wrong on our side")
    assert "secret" not in sentence


def test_a_full_server_says_so_and_recovers(client_of, recognizer):
    client = client_of(create_app({"small": recognizer}, limits=Limits(threads=1, queue=0)))
    work = client.app.state.executor
    work.n_under_way = 1
    for path, asked in (("/api/predict", {"text": TEXT}), ("/api/explain", {"text": "a"})):
        response = client.post(path, asked)
        assert refused(response, 503) == ("1 requests are in progress, the maximum at a time; try again in a second")
        assert response.headers["retry-after"] == "1"
    assert client.get("/healthz").status_code == 200
    work.n_under_way = 0
    assert client.post("/api/predict", {"text": TEXT}).status_code == 200
    assert work.n_under_way == 0


def slowly(monkeypatch, after: int) -> None:
    """Let finding mentions take for ever, from a certain piece on."""
    from hyperspan.server import tasks as module

    pieces: list[Any] = []
    original = module.find

    def find(*args: Any, **kwargs: Any) -> Any:
        pieces.append(args)
        while len(pieces) > after:
            pass
        return original(*args, **kwargs)

    monkeypatch.setattr(module, "find", find)


def test_what_takes_too_long_is_refused_and_the_place_is_free(client_of, recognizer, monkeypatch):
    client = client_of(create_app({"small": recognizer}, limits=Limits(threads=1, queue=0, seconds=0.2)))
    slowly(monkeypatch, after=0)
    response = client.post("/api/predict", {"text": TEXT})
    assert refused(response, 503) == (
        "the work was not done within 0.2 seconds and was given up; send less text at a time"
    )
    assert response.headers["retry-after"] == "5"
    assert client.app.state.executor.n_under_way == 0


def test_a_stream_that_takes_too_long_says_so_in_its_last_line(client_of, recognizer, monkeypatch):
    client = client_of(create_app({"small": recognizer}, limits=Limits(threads=1, seconds=2)))
    slowly(monkeypatch, after=1)
    response = client.post("/api/predict", {"text": TEXT * 100}, headers={"Accept": "application/x-ndjson"})
    head, first, *_, last = map(json.loads, response.text.splitlines())
    assert head["model"] == "small"
    assert first["tokens"] == TOKENS
    assert last["error"].startswith("the work was not done within 2 seconds")
    assert client.app.state.executor.n_under_way == 0


def test_a_reader_who_leaves_a_stream_gives_its_place_back(recognizer):
    app = create_app({"small": recognizer}, limits=Limits(threads=1, seconds=2))
    messages = [{"type": "http.request", "body": json.dumps({"text": TEXT * 60}).encode(), "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) > 2:
            await asyncio.Event().wait()

    headers = [(b"content-type", b"application/json"), (b"accept", b"application/x-ndjson")]
    scope = {"type": "http", "method": "POST", "path": "/api/predict", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 200
    assert app.state.executor.n_under_way == 0


def test_work_stops_when_nobody_waits_for_it(recognizer, monkeypatch, tmp_path):
    from hyperspan.server import tasks as module

    app = create_app({"small": recognizer}, limits=Limits(threads=1))
    pieces = tmp_path / "pieces"
    original = module.find

    def find(*args: Any, **kwargs: Any) -> Any:
        with open(pieces, "a") as file:
            file.write("one more\n")
        return original(*args, **kwargs)

    monkeypatch.setattr(module, "find", find)
    messages = [{"type": "http.request", "body": json.dumps({"text": TEXT * 1000}).encode(), "more_body": False}]

    async def receive() -> Any:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/predict", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    assert pieces.read_text() == "one more\n"
    assert app.state.executor.n_under_way == 0


@pytest.mark.parametrize("path", ["/api/predict", "/api/explain", "/api/export"])
def test_places_are_given_back_whatever_happens(client, path):
    for asked in ({}, {"text": TEXT}, {"text": "a", "model": "x"}, {"tokens": ["x"] * 301, "format": "html"}):
        client.post(path, asked)
    assert client.app.state.executor.n_under_way == 0


# Whatever comes


@settings(max_examples=60)
@given(st.text(max_size=200))
@example("a\r\nb\u2028c\ufeff")
@example("😀 fever 😀")
@example("e\u0301" * 50)
def test_any_text_is_answered_with_its_own_characters(client, text):
    data = client.post("/api/predict", {"text": text, "candidates": True}).json()
    for sentence in data["sentences"]:
        assert [text[start:end] for start, end in sentence["offsets"]] == sentence["tokens"]
        assert text[sentence["start"] : sentence["end"]].startswith(sentence["tokens"][0])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
FIELDS = ("text", "tokens", "sentences", "model", "decode", "threshold", "candidates", "gold", "format", "mentions")


@settings(max_examples=100)
@given(st.sampled_from(POSTS), st.dictionaries(st.sampled_from((*FIELDS, "doc", "type", "ann")), JSON, max_size=4))
def test_any_json_gets_an_answer_or_a_sentence(client, path, data):
    body = json.dumps(data).encode()
    response = client.request("POST", path, content=body, headers={"Content-Type": "application/json"})
    if response.status_code != 200:
        assert response.status_code in (400, 404, 422)
        assert refused(response, response.status_code)


@settings(max_examples=60)
@given(st.binary(max_size=100))
def test_any_bytes_get_a_sentence(client, body):
    response = client.request("POST", "/api/predict", content=body, headers={"Content-Type": "application/json"})
    assert refused(response, response.status_code)
    assert response.status_code in (400, 422)
