"""The schemas of requests and responses, as shown on the OpenAPI page."""

# No `from __future__ import annotations` here: pydantic reads the annotations.

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from hyperspan.diagnostics import quoted
from hyperspan.inference import DECODERS
from hyperspan.server.errors import ApiError


def _known_decoder(name: str) -> str:
    if name not in DECODERS:
        raise ValueError(f"{quoted(name)} is not a decoder; expected one of {', '.join(map(repr, DECODERS))}")
    return name


Decode = Annotated[str, AfterValidator(_known_decoder), WithJsonSchema({"type": "string", "enum": list(DECODERS)})]
"""The name of a decoder."""
Format = Literal["brat", "jsonl", "svg", "html"]

MOST = 100_000_000
"""The largest offset: far more than any body can hold."""

Offset = Annotated[int, Field(ge=0, le=MOST)]
Span = Annotated[list[Offset], Field(min_length=2, max_length=2)]
Token = Annotated[str, Field(min_length=1)]
Tokens = Annotated[list[Token], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Threshold = Annotated[float, Field(gt=0.0, le=1.0)]

MOST_GIVEN = 1_000
"""The maximum number of mentions that may be given for one sentence: no more are ever predicted."""

INPUTS = ("text", "tokens", "sentences")


class _Request(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class GivenMention(_Request):
    """A mention: its type and its parts as half-open pairs."""

    type: Annotated[str, Field(min_length=1, max_length=200)]
    spans: Annotated[list[Span], Field(min_length=1)]
    prob: Probability | None = None


def _one_of(*names: str) -> dict[str, Any]:
    """Return the JSON Schema for exactly one of several fields."""
    return {"oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]}


class _Input(_Request):
    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra=_one_of(*INPUTS))

    text: str | None = Field(default=None, description="A text; it is split into sentences.")
    tokens: Tokens | None = Field(default=None, description="The words of one sentence.")
    sentences: list[Tokens] | None = Field(default=None, description="The words of several sentences.")
    model: str | None = Field(default=None, description="Which model; the first one if not given.")
    decode: Decode | None = Field(default=None, description="The decoder; that of the model if not given.")
    threshold: Threshold | None = Field(
        default=None, description="The minimum probability of a mention; the tuned one if not given."
    )


class PredictRequest(_Input):
    """Find mentions in a text, a sentence or several."""

    model_config = ConfigDict(
        json_schema_extra=_one_of(*INPUTS) | {"examples": [{"text": "Left and right kidneys are enlarged."}]}
    )

    candidates: bool = Field(
        default=False, description="Also return every mention with a probability of at least 0.02."
    )
    skip_long: bool = Field(
        default=False,
        description="Leave out sentences that are too long: they are returned with 'skipped' and without mentions. "
        "Otherwise the request is an error.",
    )
    gold: list[GivenMention] | None = Field(
        default=None,
        description="Known mentions for comparison: character spans for a text, token spans for tokens; not "
        "with sentences.",
    )


class ExplainRequest(_Request):
    """Explain the mentions of one sentence."""

    model_config = ConfigDict(
        json_schema_extra=_one_of("text", "tokens") | {"examples": [{"text": "Left and right kidneys are enlarged."}]}
    )

    text: str | None = Field(default=None, description="One sentence.")
    tokens: Tokens | None = Field(default=None, description="The words of one sentence.")
    model: str | None = Field(default=None, description="Which model; the first one if not given.")
    decode: Decode | None = Field(default=None, description="The decoder; that of the model if not given.")
    threshold: Threshold | None = Field(
        default=None, description="The minimum probability of a mention; the tuned one if not given."
    )
    mention: GivenMention | None = Field(
        default=None,
        description="Explain only this mention, predicted or not: its type and its token spans.",
    )
    type: str | None = Field(
        default=None,
        description="The type whose hypergraph to draw; if not given, the one with the most expected mentions.",
    )


class ExportRequest(_Input):
    """Write mentions as a file."""

    model_config = ConfigDict(
        json_schema_extra=_one_of(*INPUTS)
        | {"examples": [{"format": "jsonl", "text": "Left and right kidneys are enlarged."}]}
    )

    format: Format
    mentions: list[Annotated[list[GivenMention], Field(max_length=MOST_GIVEN)]] | None = Field(
        default=None, description="The mentions of each sentence, with token spans; predicted if not given."
    )
    doc: Annotated[str, Field(max_length=200)] = Field(default="text", description="The name of the document.")


class BratRequest(_Request):
    """Read a text and its annotations in brat's format."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "no fever", "ann": "T1\tFinding 3 8\tfever\n"}]})

    text: str
    ann: str


class TaggedMention(BaseModel):
    """A mention in the form that brat expects from a tagger: its parts in characters, none across a line end."""

    type: str
    offsets: list[tuple[int, int]]
    texts: list[str]


class ErrorAnswer(BaseModel):
    """An error."""

    error: str = Field(description="A sentence: what was found, what was expected, what to do.")
    details: list[str] = Field(description="One for each problem.")


class HealthAnswer(BaseModel):
    """The server is running and has these models."""

    status: Literal["ok"]
    models: list[str]


class Colour(BaseModel):
    """The colour of a type: its number, and its values on white and on black."""

    number: int
    light: str
    dark: str


class ModelAnswer(BaseModel):
    """A model."""

    name: str
    structure: str
    max_components: int
    distribution: str
    types: list[str]
    colours: dict[str, Colour]
    decode: Decode
    threshold: float
    features: int | None = Field(description="How many features the model has; null if it has an encoder instead.")
    weights: int | None
    encoder: str | None = Field(description="The name of the encoder, if there is one.")
    parameters: int | None
    iterations: int
    annotator: str
    dev_scores: dict[str, Any] | None


class ModelsAnswer(BaseModel):
    """All models, and the default one."""

    default: str
    models: list[ModelAnswer]


class OneModelAnswer(ModelAnswer):
    """Everything about one model."""

    templates: list[list[str]] | None = None
    skipped_templates: list[str] | None = None
    threshold_curve: list[dict[str, Any]] = Field(
        description="Precision, recall and F1 by threshold on development data; empty if it was not tuned."
    )
    l2: float
    stopped: str
    left_out: int
    training_log: list[dict[str, Any]]


class MentionAnswer(BaseModel):
    """A mention in a sentence."""

    type: str
    spans: list[Span] = Field(description="Half-open pairs of token indices in the sentence.")
    characters: list[Span] | None = Field(description="The same in character offsets of the text.")
    text: str
    prob: float | None


class GoldAnswer(BaseModel):
    """A known mention, and whether it was found."""

    type: str
    spans: list[Span]
    characters: list[Span] | None
    text: str
    found: bool


class SentenceAnswer(BaseModel):
    """A sentence with its mentions."""

    start: int | None = Field(default=None, description="Where it starts in the text, in Unicode characters.")
    end: int | None = None
    tokens: list[str]
    offsets: list[Span] | None
    direction: Literal["ltr", "rtl"]
    mentions: list[MentionAnswer]
    candidates: list[MentionAnswer] | None = None
    gold: list[GoldAnswer] | None = None
    truncated: bool
    skipped: str | None = Field(default=None, description="Why the sentence was left out, if it was.")


class PredictAnswer(BaseModel):
    """The mentions found."""

    model: str
    decode: Decode
    threshold: float
    findings: list[str] | None = Field(default=None, description="Problems with the known mentions, if any were given.")
    truncated: bool = Field(description="Whether there were more mentions than are listed.")
    sentences: list[SentenceAnswer]


class Reason(BaseModel):
    """A feature that supports a mention or opposes it."""

    word: int
    feature: str
    in_words: str = Field(description="The feature in words, such as: the next word is ‘and’.")
    is_bias: bool = Field(description="Whether it holds for every word, and so says nothing about these.")
    amount: float = Field(description="How much it changes the log probability of the mention, or its log odds.")
    look: int = Field(
        description="1: a feature of a word, by log probability. 2: a feature of the whole mention, by log odds."
    )


class Edge(BaseModel):
    """An edge of the hypergraph: its score and its expected count."""

    word: int
    label: str
    score: float
    expected: float
    chosen: bool


class ExplainedMention(BaseModel):
    """A mention and the reasons for it."""

    type: str
    spans: list[Span]
    text: str
    prob: float | None
    edges: list[Edge] = Field(description="The edges of the mention; for segments, its parts, gaps and end.")
    reasons: list[Reason]


class ExplainAnswer(BaseModel):
    """The explanation of a model's prediction for a sentence."""

    model: str
    decode: Decode
    threshold: float
    doc: str
    tokens: list[str]
    log_partition: float
    edges: list[Edge]
    mentions: list[ExplainedMention]
    truncated: bool = Field(description="Whether more mentions were found than are explained.")
    types: dict[str, float] = Field(description="The expected number of mentions of each type.")
    type: str = Field(description="The type whose hypergraph is drawn.")
    hypergraph: str = Field(description="An SVG document.")
    hypergraph_data: dict[str, Any]


class ReadMention(BaseModel):
    """A mention of a text, with character spans."""

    type: str
    spans: list[Span]


class BratAnswer(BaseModel):
    """A text and its mentions, ready to be sent as ``gold``."""

    text: str
    gold: list[ReadMention]
    findings: list[str] = Field(description="Problems with the annotations; mentions with problems are left out.")


def check_input(given: PredictRequest | ExplainRequest | ExportRequest) -> None:
    """Raise an error if a request has no input, or several.

    Raises
    ------
    ApiError
    """
    possible = [name for name in INPUTS if name in type(given).model_fields]
    seen = [name for name in possible if getattr(given, name) is not None]
    if len(seen) != 1:
        what = " and ".join(map(quoted, seen)) if seen else "none"
        raise ApiError(
            422, f"the request has {what} of {', '.join(map(quoted, possible))}; expected exactly one of them"
        )
