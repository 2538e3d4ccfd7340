"""Write model cards: what a model finds, its training data, its scores and its intended use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperspan.diagnostics import counted

NOT_STATED = "Not stated."

_VIEWS = {
    "all": "all mentions",
    "discontiguous_sentences": "sentences with a discontiguous mention",
    "discontiguous_mentions": "discontiguous mentions",
    "relaxed": "relaxed (a common word)",
    "words": "words",
}


@dataclass(frozen=True)
class CardText:
    """What only people know about a model; the card calls anything missing "not stated".

    Parameters
    ----------
    name : str
        The name of the model.
    data : str, optional
        The training data and its terms of use.
    licence : str, optional
        The licence of the model: an identifier such as ``cc-by-4.0``.
    language : str, optional
        The language of the texts, such as ``en``.
    use : str, optional
        The intended use, and uses it is not suited for.
    """

    name: str = "model"
    data: str | None = None
    licence: str | None = None
    language: str | None = None
    use: str | None = None


def card(summary: Mapping[str, Any], text: CardText, *, file: str, repository: str | None = None) -> str:
    """Return a model card in Markdown, with the front matter that model hubs read.

    Parameters
    ----------
    summary : mapping
        As `Recognizer.summary` returns it.
    text : CardText
    file : str
        The name of the model file beside the card.
    repository : str, optional
        Where the model is shared: ``"ward/notes"``.
    """
    scores = summary["dev_scores"]
    types = ", ".join(f"`{type}`" for type in summary["types"])
    learned = f"`{summary['structure']}`, at most {summary['max_components']} parts, over `{summary['distribution']}`"
    load = f'from_pretrained("{repository}")' if repository else f'load("{file}")'
    pieces = [
        _front_matter(summary, text),
        f"# {text.name}",
        "Finds mentions whose words need not be adjacent and may overlap. Made with hyperspan.",
        _table(
            {
                "types": types,
                "structure": learned,
                **{
                    name.replace("_", " "): counted(summary[name], "word")
                    for name in ("longest_part", "longest_gap")
                    if name in summary
                },
                **{name: f"{summary[name]:,}" for name in ("features", "weights") if name in summary},
                "penalty (l2)": f"{summary['l2']:g}",
                **({"second look": _second_look(summary["rescoring"])} if summary["rescoring"].get("kept") else {}),
                "threshold": f"{summary['threshold']:g}, read as `{summary['decode']}`",
                "annotator": f"`{summary['annotator']}`",
                "training": f"{summary['iterations']:,} iterations; {summary['stopped']}",
            }
        ),
        f"## Data\n\n{text.data or NOT_STATED}",
        f"## Scores\n\n{_scores(scores)}",
        f"## Licence\n\n{text.licence or NOT_STATED}",
        f"## Intended use\n\n{text.use or NOT_STATED}\n\n{_LIMITS}",
        f"## How to use it\n\n```python\nfrom hyperspan import Recognizer\n\nrecognizer = Recognizer.{load}\n"
        'recognizer.predict(["No fever."])\n```',
    ]
    return "\n\n".join(pieces) + "\n"


_LIMITS = (
    "Every mention has a probability; those below the threshold are left out. Probabilities are those of the training "
    "data: on other texts they, and the scores above, may not hold. A model file holds no texts, but hashes of "
    "features and, unless it was saved without them, the names of the strongest, which are words of the training data."
)


def _second_look(record: Mapping[str, Any]) -> str:
    where = "the development data" if record["measured_on"] == "dev" else "the training data, cross-validated"
    return f"F1 {record['f1_without']:.3f} without it, {record['f1_with']:.3f} with it, on {where}"


def _front_matter(summary: Mapping[str, Any], text: CardText) -> str:
    """Return the front matter, with every value as JSON, which is valid YAML."""
    known: dict[str, Any] = {"library_name": "hyperspan", "pipeline_tag": "token-classification"}
    if text.licence:
        known["license"] = text.licence
    if text.language:
        known["language"] = text.language
    known["tags"] = ["hyperspan", "named-entity-recognition", "discontiguous-mentions"]
    if summary["dev_scores"]:
        metrics = [
            {"type": "f1", "name": f"F1, {name}", "value": round(summary["dev_scores"][key]["f1"], 4)}
            for key, name in _VIEWS.items()
            if key in summary["dev_scores"]
        ]
        result = {
            "task": {"type": "token-classification"},
            "dataset": {"name": "development data", "type": "development"},
            "metrics": metrics,
        }
        known["model-index"] = [{"name": text.name, "results": [result]}]
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in known.items()]
    return "\n".join(["---", *lines, "---"])


def _scores(scores: Mapping[str, Any]) -> str:
    if not scores:
        return "There was no development data, so nothing was measured."
    rows = {name: scores[key] for key, name in _VIEWS.items() if key in scores}
    rows |= {f"type `{name}`": score for name, score in scores.get("by_type", {}).items()}
    rows |= {
        f"{name} part{'' if name == '1' else 's'}": score
        for name, score in scores.get("by_parts", {}).items()
        if _counts(score)
    }
    rows |= {f"{name} words in gaps": score for name, score in scores.get("by_gap", {}).items() if _counts(score)}
    rows |= {f"overlap: {name}": score for name, score in scores.get("by_overlap", {}).items() if _counts(score)}
    lines = ["| over | precision | recall | F1 | right | spurious | missed |", "| --- " * 7 + "|"]
    lines += [
        f"| {_cell(name)} | {score['precision']:.3f} | {score['recall']:.3f} | {score['f1']:.3f} "
        f"| {score['tp']:,} | {score['fp']:,} | {score['fn']:,} |"
        for name, score in rows.items()
    ]
    head = (
        "On the development data, on which the threshold was chosen too; a mention is right when its type and all its "
        "parts are."
    )
    return "\n".join([head, "", *lines])


def _counts(score: Mapping[str, Any]) -> bool:
    return bool(score["tp"] or score["fp"] or score["fn"])


def _table(rows: Mapping[str, str]) -> str:
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {_cell(value)} |" for name, value in rows.items())])


def _cell(text: str) -> str:
    """Escape a text for a table cell."""
    return " ".join(text.replace("|", "\\|").split())
