"""What each group of features is worth: the development F1 without it.

Usage: python benchmarks/ablation.py CORPORA/pgxcorpus [--type Condition] [--max-iterations 80] [--annotator NAME]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from common import environment, write_json
from hyperspan import corpora
from hyperspan.features import TemplateSet
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.text import as_sentences


def read(path: Path, type: str | None) -> list[Sentence]:
    """Return the sentences of a file, with the mentions of one type only if one is named."""
    sentences = list(as_sentences(corpora.stream(path)))
    if type is None:
        return sentences
    return [
        sentence.with_mentions(mention for mention in sentence.mentions if mention.type == type)
        for sentence in sentences
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a folder with train.jsonl and dev.jsonl")
    parser.add_argument("--type", help="only mentions of this type")
    parser.add_argument("--features", default="default")
    parser.add_argument("--annotator", default="none")
    parser.add_argument("--max-iterations", type=int, default=80)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    train, dev = (read(arguments.corpus / f"{split}.jsonl", arguments.type) for split in ("train", "dev"))
    templates = TemplateSet.load(arguments.features)
    rows: list[dict[str, Any]] = []
    print("| without | all mentions F1 | discontiguous sentences F1 | discontiguous mentions F1 | features |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for group in (None, *templates.groups):
        kept = templates if group is None else templates.without(group)
        recognizer = Recognizer(
            features=kept, annotator=arguments.annotator, max_iterations=arguments.max_iterations
        ).fit(train, dev=dev)
        if group is not None and recognizer.n_features_ == rows[0]["features"]:
            continue  # the group's templates were skipped: their resource is not here
        scores = recognizer.dev_scores_
        names = ("all", "discontiguous_sentences", "discontiguous_mentions")
        rows.append(
            {"without": group, "features": recognizer.n_features_, **{name: scores[name]["f1"] for name in names}}
        )
        numbers = " | ".join(f"{100 * rows[-1][name]:.1f}" for name in names)
        print(f"| {group or 'nothing'} | {numbers} | {recognizer.n_features_:,} |", flush=True)
    write_json(arguments.json, {"env": environment("numpy", "numba", "scipy", threads=2), "rows": rows})


if __name__ == "__main__":
    main()
