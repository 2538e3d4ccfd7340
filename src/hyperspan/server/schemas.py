"""What requests and answers look like, as the OpenAPI page shows it."""

# No `from __future__ import annotations` here: pydantic reads the annotations.

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from hyperspan.diagnostics import quoted
from hyperspan.inference import DECODERS
from hyperspan.server.errors import ApiError


def _known_decoder(name: str) -> str:
    if name not in DECODERS:
        raise ValueError(f"{quoted(name)} is no decoder; expected one of {', '.join(map(repr, DECODERS))}")
    return name


Decode = Annotated[str, AfterValidator(_known_decoder), WithJsonSchema({"type": "string", "enum": list(DECODERS)})]
"""How mentions are read: a decoder by name."""
Format = Literal["brat", "jsonl", "svg", "html"]

MOST = 100_000_000
"""No offset is larger: it is far more than any body can hold."""

Offset = Annotated[int, Field(ge=0, le=MOST)]
Span = Annotated[list[Offset], Field(min_length=2, max_length=2)]
Token = Annotated[str, Field(min_length=1)]
Tokens = Annotated[list[Token], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Threshold = Annotated[float, Field(gt=0.0, le=1.0)]

MOST_GIVEN = 1_000
"""Mentions that may be given for one sentence: no more are ever found in one."""

INPUTS = ("text", "tokens", "sentences")


class _Request(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class GivenMention(_Request):
    """A mention: its type and its parts as half-open pairs."""

    type: Annotated[str, Field(min_length=1, max_length=200)]
    spans: Annotated[list[Span], Field(min_length=1)]
    prob: Probability | None = None


def _one_of(*names: str) -> dict[str, Any]:
    """Say in JSON Schema that exactly one of some fields is given."""
    return {"oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]}


class _Input(_Request):
    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra=_one_of(*INPUTS))

    text: str | None = Field(default=None, description="A text; it is split into sentences.")
    tokens: Tokens | None = Field(default=None, description="The words of one sentence.")
    sentences: list[Tokens] | None = Field(default=None, description="The words of several sentences.")
    model: str | None = Field(default=None, description="Which model; the first one if not given.")
    decode: Decode | None = Field(default=None, description="How mentions are read; as the model was trained.")
    threshold: Threshold | None = Field(default=None, description="As probable as a mention must be; as tuned.")


class PredictRequest(_Input):
    """Find mentions in a text, a sentence or several."""

    model_config = ConfigDict(
        json_schema_extra=_one_of(*INPUTS) | {"examples": [{"text": "Left and right kidneys are enlarged."}]}
    )

    candidates: bool = Field(
        default=False, description="Give every mention with a probability of 0.02 and more beside."
    )
    skip_long: bool = Field(
        default=False,
        description="Leave out sentences that are too long: they come back with 'skipped' and without mentions. "
        "Otherwise the request is refused.",
    )
    gold: list[GivenMention] | None = Field(
        default=None,
        description="Known mentions, to be compared: character spans for a text, token spans for tokens; not with "
        "sentences.",
    )


class ExplainRequest(_Request):
    """Explain what is found in one sentence."""

    model_config = ConfigDict(
        json_schema_extra=_one_of("text", "tokens") | {"examples": [{"text": "Left and right kidneys are enlarged."}]}
    )

    text: str | None = Field(default=None, description="One sentence.")
    tokens: Tokens | None = Field(default=None, description="The words of one sentence.")
    model: str | None = Field(default=None, description="Which model; the first one if not given.")
    decode: Decode | None = Field(default=None, description="How mentions are read; as the model was trained.")
    threshold: Threshold | None = Field(default=None, description="As probable as a mention must be; as tuned.")
    mention: GivenMention | None = Field(
        default=None,
        description="Explain this mention alone, found or not: its type and its token spans.",
    )
    type: str | None = Field(
        default=None, description="Whose hypergraph to draw; of which most mentions are expected, if not given."
    )


class ExportRequest(_Input):
    """Write mentions as a file."""

    model_config = ConfigDict(
        json_schema_extra=_one_of(*INPUTS)
        | {"examples": [{"format": "jsonl", "text": "Left and right kidneys are enlarged."}]}
    )

    format: Format
    mentions: list[Annotated[list[GivenMention], Field(max_length=MOST_GIVEN)]] | None = Field(
        default=None, description="For each sentence its mentions, with token spans; they are predicted if not given."
    )
    doc: Annotated[str, Field(max_length=200)] = Field(default="text", description="The name of the document.")


class BratRequest(_Request):
    """Read what brat wrote: a text and its annotations."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "no fever", "ann": "T1\tFinding 3 8\tfever\n"}]})

    text: str
    ann: str


class TaggedMention(BaseModel):
    """A mention as brat wants it from a tagger: its parts in characters, none over the end of a line."""

    type: str
    offsets: list[tuple[int, int]]
    texts: list[str]


class ErrorAnswer(BaseModel):
    """What went wrong."""

    error: str = Field(description="A sentence: what was seen, what was expected, what to do.")
    details: list[str] = Field(description="One for each thing that is wrong.")


class HealthAnswer(BaseModel):
    """The server is there, and has these models."""

    status: Literal["ok"]
    models: list[str]


class Colour(BaseModel):
    """The colour of a type: its number, and what it is on white and on black."""

    number: int
    light: str
    dark: str


class ModelAnswer(BaseModel):
    """What a model is."""

    name: str
    structure: str
    max_components: int
    distribution: str
    types: list[str]
    colours: dict[str, Colour]
    decode: Decode
    threshold: float
    features: int | None = Field(description="How many the model knows; null where it has an encoder instead.")
    weights: int | None
    encoder: str | None = Field(description="What the encoder was called, if there is one.")
    parameters: int | None
    iterations: int
    annotator: str
    dev_scores: dict[str, Any] | None


class ModelsAnswer(BaseModel):
    """All models, and which one is taken if none is named."""

    default: str
    models: list[ModelAnswer]


class OneModelAnswer(ModelAnswer):
    """All that is known of one model."""

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
    characters: list[Span] | None = Field(description="The same as characters of the text.")
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
    """A sentence with what was found in it."""

    start: int | None = Field(default=None, description="Where it starts in the text, in Unicode characters.")
    end: int | None = None
    tokens: list[str]
    offsets: list[Span] | None
    direction: Literal["ltr", "rtl"]
    mentions: list[MentionAnswer]
    candidates: list[MentionAnswer] | None = None
    gold: list[GoldAnswer] | None = None
    truncated: bool
    skipped: str | None = Field(default=None, description="Why nothing was looked for, if the sentence was left out.")


class PredictAnswer(BaseModel):
    """What was found."""

    model: str
    decode: Decode
    threshold: float
    findings: list[str] | None = Field(
        default=None, description="What is wrong with the known mentions, if any were given."
    )
    truncated: bool = Field(description="Whether there was more than is listed.")
    sentences: list[SentenceAnswer]


class Reason(BaseModel):
    """A feature that speaks for a mention, or against it."""

    word: int
    feature: str
    in_words: str = Field(description="The feature in words, such as: the next word is ‘and’.")
    is_bias: bool = Field(description="Whether it holds of every word, and so says nothing of these.")
    amount: float = Field(description="How much it moves the log probability of the mention, or its log odds.")
    look: int = Field(description="1: of a word, by log probability. 2: of the mention as a whole, by log odds.")


class Edge(BaseModel):
    """An edge of the hypergraph: its score, and how often it is used on average."""

    word: int
    label: str
    score: float
    expected: float
    chosen: bool


class ExplainedMention(BaseModel):
    """A mention and why it was found."""

    type: str
    spans: list[Span]
    text: str
    prob: float | None
    edges: list[Edge] = Field(description="What it is made of: of segments its parts, gaps and end.")
    reasons: list[Reason]


class ExplainAnswer(BaseModel):
    """What a model makes of a sentence."""

    model: str
    decode: Decode
    threshold: float
    doc: str
    tokens: list[str]
    log_partition: float
    edges: list[Edge]
    mentions: list[ExplainedMention]
    truncated: bool = Field(description="Whether more was found than is explained.")
    types: dict[str, float] = Field(description="How many mentions of each type are expected.")
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
    findings: list[str] = Field(description="What is wrong with the annotations; such mentions are left out.")


def check_input(given: PredictRequest | ExplainRequest | ExportRequest) -> None:
    """Refuse a request with no input, or with several.

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
