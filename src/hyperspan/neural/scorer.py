"""The neural scorer: computes the score of every label at every word with a pretrained encoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from threading import get_ident
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta, Struct
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hyperspan.errors import ModelError
from hyperspan.inference import ScoreBatch, distribution_class
from hyperspan.mentions import Sentence
from hyperspan.neural.devices import best_device
from hyperspan.neural.encoder import encoder_of_config, size_of, tensors_of
from hyperspan.neural.heads import head_for
from hyperspan.neural.network import Network, first_words
from hyperspan.neural.pieces import LONGEST_WINDOW, WordPieces
from hyperspan.neural.remembering import Remembered
from hyperspan.schema import Count, check_array, fitted
from hyperspan.scoring import Reason, register_scorer
from hyperspan.scoring.scorer import Arrays
from hyperspan.structures import Structure

_FIRST_PROCESS = os.getpid()
_ENCODER, _HEAD, _TOKENIZER = "encoder.", "head.", "tokenizer"
_DTYPES = (np.dtype(np.float32), np.dtype(np.float16))


class NeuralScorer:
    """An encoder with a head for a structure.

    Parameters
    ----------
    structure : Structure
    distribution : str
        The distribution that the scores were trained for.
    network : Network
    pieces : WordPieces
        Splits words into the encoder's pieces.
    name : str
        The name of the encoder.
    context : int
        How many words of the neighbouring sentences the encoder sees.
    temperature : float
        What scores are divided by, so that probabilities are calibrated.
    precision : {"float32", "float16"}
        The precision of weights in a file.
    calibration : dict
        The calibration error before and after, for the record.
    n_threads : int
    """

    columns: tuple[str, ...] = ()

    def __init__(
        self,
        structure: Structure,
        distribution: str,
        network: Network,
        pieces: WordPieces,
        *,
        name: str,
        context: int = 0,
        temperature: float = 1.0,
        precision: str = "float32",
        calibration: Mapping[str, float] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.structure = structure
        self.distribution = distribution
        self.network = network
        self.pieces = pieces
        self.name = name
        self.context = context
        self.temperature = temperature
        self.precision = precision
        self.calibration = dict(calibration or {})
        self.n_threads = n_threads
        self.remembers = False
        """Whether vectors are cached for a second look."""
        self._remembered = Remembered()

    def use_threads(self, number: int) -> None:
        """Set the number of threads."""
        self.n_threads = number

    def to(self, device: str) -> NeuralScorer:
        """Move to a device: ``auto``, ``cpu`` or ``cuda``."""
        self.network.to(best_device(device))
        return self

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        """Return the scores of sentences."""
        first_word = first_words([len(sentence) for sentence in sentences])
        with torch.inference_mode(), self.ready():
            vectors = self.vectors(sentences)
            if self.remembers:
                self._remembered.keep(sentences, vectors, first_word)
            scores = self.network.scores(vectors, first_word)
            transitions = self.network.head.transitions
            return ScoreBatch(self._tempered(scores), first_word, self._tempered(transitions))

    def vectors(self, sentences: Sequence[Sentence]) -> torch.Tensor:
        """Return the vectors of all words of sentences, on the device of the network."""
        windows = list(chain.from_iterable(self.pieces.windows(sentences, self.context)))
        if not windows:
            return torch.zeros((0, size_of(self.network.encoder)), device=self.network.device)
        return self.network.vectors_of_all(self.pieces, windows)

    def vectors_again(self, sentences: Sequence[Sentence], wanted: Sequence[int]) -> torch.Tensor:
        """Return the vectors of the words of some of the sentences, from the cache if possible."""
        taken = self._remembered.take(sentences)
        kept = [taken[number] for number in wanted]
        if all(each is not None for each in kept):
            return torch.cat(kept)
        vectors = self.vectors(sentences)
        first_word = first_words([len(sentence) for sentence in sentences])
        return torch.cat([vectors[first_word[number] : first_word[number + 1]] for number in wanted])

    def _tempered(self, tensor: torch.Tensor) -> NDArray[np.float64]:
        array: NDArray[np.float64] = tensor.detach().to("cpu", torch.float64).numpy()
        return array / self.temperature

    def ready(self) -> Any:
        """Return a context manager for computing without training."""
        self.network.eval()
        # Threads do not survive a fork, and waiting for them would block forever.
        n_threads = self.n_threads if os.getpid() == _FIRST_PROCESS else 1
        if self.network.device.type == "cpu" and torch.get_num_threads() != n_threads:
            torch.set_num_threads(n_threads)
        return torch.autocast("cpu", enabled=False)

    def describe(self) -> dict[str, Any]:
        """Return the encoder, its sizes and its calibration error."""
        config = self.network.encoder.config
        return {
            "encoder": self.name,
            "encoder_type": config.model_type,
            "encoder_layers": getattr(config, "num_hidden_layers", None),
            "encoder_size": size_of(self.network.encoder),
            "parameters": sum(each.numel() for each in self.network.parameters()),
            "precision": self.precision,
            "context": self.context,
            "temperature": self.temperature,
            **self.calibration,
        }

    # Why

    def explain(self, sentence: Sentence, moved: NDArray[np.float64], top: int) -> list[Reason]:
        """Return the words with the most influence on a sentence: gradient times embedding."""
        first_word = first_words([len(sentence)])

        def total(vectors: torch.Tensor) -> torch.Tensor:
            scores = self.network.scores(vectors, first_word) / self.temperature
            return (scores * torch.from_numpy(moved).to(scores)).sum()

        return self.words_that_moved([sentence], 0, total, top)

    def words_that_moved(
        self, sentences: Sequence[Sentence], number: int, total: Callable[[torch.Tensor], torch.Tensor], top: int
    ) -> list[Reason]:
        """Return the words of a sentence with the most influence on a number: gradient times embedding.

        Parameters
        ----------
        sentences : sequence of Sentence
        number : int
            The index of the sentence among them.
        total : callable
            Computes the number from the vectors of the sentence's words.
        top : int
            The number of words to return.
        """
        network, windows = self.network, self.pieces.windows(sentences, self.context)[number]
        if not sum(len(window.n_pieces) for window in windows):
            return []
        embedded, here = list[torch.Tensor](), get_ident()

        def keep(module: Any, given: Any, made: torch.Tensor) -> torch.Tensor:
            if get_ident() != here:  # another thread uses the encoder at the same time
                return made
            made = made.detach().requires_grad_()
            embedded.append(made)
            return made

        hook = network.encoder.get_input_embeddings().register_forward_hook(keep)
        try:
            with torch.enable_grad(), self.ready():
                batch = self.pieces.batch(windows)
                (slope,) = torch.autograd.grad(total(network.vectors(batch)), embedded[:1])
        finally:
            hook.remove()
        of_piece = (slope * embedded[0]).detach().sum(dim=-1).reshape(-1).to("cpu", torch.float64).numpy()
        of_word = np.bincount(batch.word, of_piece[batch.place], minlength=batch.n_words)
        order = np.argsort(-np.abs(of_word), kind="stable")[:top].tolist()
        tokens = sentences[number].tokens
        return [
            Reason(word, f"word[{word}]={tokens[word]}", float(of_word[word]), "what the encoder makes of it")
            for word in order
        ]

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        """Return nothing: the weights of an encoder have no names."""
        return {}

    # Serialization

    def settings(self) -> dict[str, Any]:
        """Return the name of the encoder."""
        return {"encoder": self.name}

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the complete state as plain data and arrays."""
        text = np.frombuffer(self.pieces.tokenizer.to_str().encode(), dtype=np.uint8)
        data = {
            "encoder": {
                "name": self.name,
                "config": plain_config(self.network.encoder.config),
                "layers": self.network.layers,
                "context": self.context,
                "longest": self.pieces.longest,
                "unknown": self.pieces.unknown,
                "padding": self.pieces.padding,
                "temperature": self.temperature,
                "calibration": self.calibration,
                "distribution": self.distribution,
            }
        }
        arrays: dict[str, NDArray[Any]] = {_TOKENIZER: text}
        for prefix, tensors in ((_ENCODER, tensors_of(self.network.encoder)), (_HEAD, self.network.head.state_dict())):
            for name, tensor in tensors.items():
                arrays[prefix + name] = self.written(tensor)
        return data, arrays

    def written(self, tensor: torch.Tensor) -> NDArray[Any]:
        """Return weights in the precision of the file."""
        array: NDArray[Any] = tensor.detach().cpu().numpy()
        if self.precision == "float16" and array.dtype == np.float32:
            half = array.astype(np.float16)
            return half if np.array_equal(half.astype(np.float32), array) else array
        return array

    @classmethod
    def from_state(
        cls, structure: Structure, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int
    ) -> NeuralScorer:
        """Restore a scorer from its state."""
        checked: EncoderState = fitted(dict(data), NeuralState).encoder
        check_array(arrays, _TOKENIZER, np.uint8, (None,))
        text = arrays[_TOKENIZER].tobytes().decode()
        try:
            tokenizer = Tokenizer.from_str(text)
        except Exception as error:  # the library raises no more specific error
            raise ModelError(f"its tokenizer cannot be made: {error}") from None
        pieces = WordPieces(tokenizer, checked.longest, checked.unknown, checked.padding)
        of_encoder = _under(arrays, _ENCODER)
        encoder = encoder_of_config(checked.config, {name: array.shape for name, array in of_encoder.items()})
        if checked.layers > getattr(encoder.config, "num_hidden_layers", checked.layers):
            raise ModelError(f"it takes the mean over {checked.layers} layers, and its encoder has fewer")
        distribution = distribution_class(structure, checked.distribution)
        head = head_for(structure, size_of(encoder), distribution.prior(structure), 0.0)
        network = Network(encoder, head, layers=checked.layers, dropout=0.0)
        fill(tensors_of(encoder), of_encoder)
        fill(head.state_dict(), _under(arrays, _HEAD))
        _check_pieces(pieces, encoder)
        scorer = cls(
            structure,
            checked.distribution,
            network,
            pieces,
            name=checked.name,
            context=checked.context,
            temperature=checked.temperature,
            precision="float16" if any(array.dtype == np.float16 for array in of_encoder.values()) else "float32",
            calibration=checked.calibration,
            n_threads=n_threads,
        )
        return scorer.to("auto")


def plain_config(config: Any) -> dict[str, Any]:
    """Return an encoder's configuration as plain data, without its origin."""
    return {
        name: value
        for name, value in config.to_dict().items()
        if name not in ("_name_or_path", "auto_map", "transformers_version", "dtype", "torch_dtype")
    }


def _under(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def fill(tensors: Mapping[str, torch.Tensor], arrays: Arrays) -> None:
    """Set weights to those of a file.

    Raises
    ------
    ModelError
        If weights are missing or superfluous, or have wrong types or shapes.
    """
    if set(tensors) != set(arrays):
        wrong = sorted(set(tensors) ^ set(arrays))[0]
        raise ModelError(f"its weights {wrong!r} are missing, or do not belong there")
    for name, tensor in tensors.items():
        array = arrays[name]
        is_float = tensor.dtype == torch.float32
        fits = array.dtype in _DTYPES if is_float else array.dtype == np.asarray(tensor.detach().numpy()).dtype
        if not fits or array.shape != tuple(tensor.shape):
            raise ModelError(f"its weights {name!r} are {array.dtype} of shape {array.shape}, and do not fit")
        if is_float and not np.all(np.isfinite(array)):
            raise ModelError(f"its weights {name!r} are not all numbers; train again, with a lower learning rate")
        tensor.data.copy_(torch.from_numpy(np.array(array)))


def _check_pieces(pieces: WordPieces, encoder: Any) -> None:
    """Raise an error if the tokenizer has pieces that the encoder lacks."""
    n_known = int(encoder.get_input_embeddings().weight.shape[0])
    highest = max(pieces.tokenizer.get_vocab(with_added_tokens=True).values(), default=0)
    if max(highest, pieces.unknown, pieces.padding) >= n_known:
        raise ModelError(f"its tokenizer has more pieces than the {n_known:,} of its encoder")
    if pieces.capacity < 1:
        raise ModelError(f"its windows hold {pieces.longest} pieces; expected room for words")


class EncoderState(Struct, forbid_unknown_fields=True):
    """The plain data of an encoder."""

    name: str
    config: dict[str, Any]
    layers: Annotated[int, Meta(ge=1, le=500)]
    context: Count
    longest: Annotated[int, Meta(ge=4, le=LONGEST_WINDOW)]
    unknown: Count
    padding: Count
    temperature: Annotated[float, Meta(ge=1e-3, le=1e3)]
    calibration: dict[str, Annotated[float, Meta(ge=0.0, le=1e3)]]
    distribution: str


class NeuralState(Struct):
    """The plain data of a neural scorer."""

    encoder: EncoderState


register_scorer("neural", NeuralScorer)
