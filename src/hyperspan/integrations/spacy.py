"""The spaCy component ``hyperspan``: its factory and helper functions.

spaCy imports this module whenever a pipeline is created, so it loads nothing beyond spaCy itself; the model and
compiled code are loaded with the first document.

>>> import spacy  # doctest: +SKIP
>>> nlp = spacy.blank("en")  # doctest: +SKIP
>>> nlp.add_pipe("hyperspan", config={"model": "notes.model"})  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Dict, Optional  # noqa: UP035

from hyperspan.errors import MissingExtraError
from hyperspan.mentions import Mention

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import registry
except ImportError:
    raise MissingExtraError("The spaCy component", "spacy", "spacy") from None

if TYPE_CHECKING:
    from hyperspan.integrations.spacy_component import SpacyComponent
    from hyperspan.render import Drawing

__all__ = ["SPANS_KEY", "make_component", "make_mention_scorer", "mentions_of", "render", "set_mentions"]

SPANS_KEY = "hyperspan"
"""The default group of ``doc.spans`` for the parts of mentions."""

_SCORES = {
    "mentions_f": 1.0,
    "mentions_p": 0.0,
    "mentions_r": 0.0,
    "mentions_discontiguous_f": 0.0,
    "mentions_per_type": None,
}

# spaCy reads these annotations to validate the configuration, so they are in a form that it understands.


@Language.factory(
    "hyperspan",
    assigns=["doc.spans"],
    default_config={
        "model": None,
        "spans_key": SPANS_KEY,
        "words": "spacy",
        "decode": None,
        "threshold": None,
        "set_ents": False,
        "training": {},
        "scorer": {"@scorers": "hyperspan.mention_scorer.v1"},
    },
    default_score_weights=_SCORES,
)
def make_component(
    nlp: Language,
    name: str,
    model: Optional[str],  # noqa: UP045
    spans_key: str,
    words: str,
    decode: Optional[str],  # noqa: UP045
    threshold: Optional[float],  # noqa: UP045
    set_ents: bool,
    training: Dict[str, Any],  # noqa: UP006
    scorer: Optional[Callable],  # type: ignore[type-arg]  # noqa: UP045
) -> SpacyComponent:
    """Create the component for a pipeline.

    Parameters
    ----------
    nlp, name
        The pipeline, and the component's name in it.
    model : str, optional
        A model file written by ``hyperspan train`` or `Recognizer.save`; read with the first document. None if the
        component is to be trained, or read from a pipeline's folder.
    spans_key : str
        The group of ``doc.spans`` to write to.
    words : {"spacy", "ours"}
        Which words the model sees: spaCy's tokens, or those of hyperspan's tokenizer over ``doc.text``. Choose what it
        was trained on.
    decode : {"probable", "enough", "all"}, optional
        The decoder; that of the model if not given.
    threshold : float, optional
        The threshold; the tuned one if not given.
    set_ents : bool
        Also write mentions of one part that share no word with another to ``doc.ents``.
    training : dict
        Arguments of `Recognizer`, for ``nlp.initialize`` and ``spacy train``.
    scorer : callable, optional
    """
    from hyperspan.integrations.spacy_component import SpacyComponent

    return SpacyComponent(
        name,
        model=model,
        spans_key=spans_key,
        words=words,
        decode=decode,
        threshold=threshold,
        set_ents=set_ents,
        training=training,
        scorer=scorer,
    )


@registry.scorers("hyperspan.mention_scorer.v1")
def make_mention_scorer() -> Callable[..., dict[str, Any]]:
    """Return a scorer that counts whole mentions; spaCy's own would count parts."""
    return mention_score


def mention_score(examples: Iterable[Any], *, spans_key: str = SPANS_KEY, **_: Any) -> dict[str, Any]:
    """Return precision, recall and F1 over the mentions of examples; type and all parts must be right."""
    from hyperspan.evaluation import evaluate
    from hyperspan.integrations.spacy_docs import as_document
    from hyperspan.text import split_sentences, tokenize

    pairs = [(example.reference, example.predicted) for example in examples]
    gold, found = (
        [as_document(pair[side], spans_key, doc_id=str(number)) for number, pair in enumerate(pairs)] for side in (0, 1)
    )
    scores = evaluate(gold, found, tokenize=tokenize, split=split_sentences)
    return {
        "mentions_p": scores.all.precision,
        "mentions_r": scores.all.recall,
        "mentions_f": scores.all.f1,
        "mentions_discontiguous_f": scores.discontiguous_mentions.f1,
        "mentions_per_type": {
            type: {"p": score.precision, "r": score.recall, "f": score.f1} for type, score in scores.by_type.items()
        },
    }


def mentions_of(doc: Doc, spans_key: str = SPANS_KEY) -> tuple[Mention, ...]:
    """Return the mentions of a Doc in token offsets, assembled from the spans of a group that share an id.

    ``doc._.hyperspan`` has those of the group ``"hyperspan"``.
    """
    from hyperspan.integrations.spacy_docs import read_mentions

    return read_mentions(doc, spans_key)


def set_mentions(doc: Doc, mentions: Iterable[Mention], spans_key: str = SPANS_KEY) -> None:
    """Write mentions in token offsets to a group of spans: one span per part, with the same id for one mention."""
    from hyperspan.integrations.spacy_docs import write_mentions

    write_mentions(doc, mentions, spans_key)


def render(doc: Doc, spans_key: str = SPANS_KEY) -> Drawing:
    """Draw the mentions of a Doc on lanes: in a notebook, or with ``print``, ``.svg`` and ``.html``."""
    from hyperspan.integrations.spacy_docs import as_sentences
    from hyperspan.render import Drawing
    from hyperspan.render.drawing import MOST_SENTENCES

    sentences = as_sentences(doc, spans_key)
    return Drawing(sentences[:MOST_SENTENCES], has_more=len(sentences) > MOST_SENTENCES)


if not Doc.has_extension("hyperspan"):
    Doc.set_extension("hyperspan", getter=mentions_of)
