"""Train an encoder and its head with the exact likelihood."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hyperspan.errors import LearningError, UsageError
from hyperspan.inference import Gold, ScoreBatch, distribution_class, encode_gold
from hyperspan.mentions import Sentence
from hyperspan.neural.checkpoint import NeuralCheckpointer
from hyperspan.neural.development import cooled, judge, propose
from hyperspan.neural.devices import best_device, learning_precision
from hyperspan.neural.encoder import load_encoder, size_of, tensors_of
from hyperspan.neural.heads import head_for
from hyperspan.neural.likelihood import exact_likelihood
from hyperspan.neural.mention_head import Candidates, MentionHead
from hyperspan.neural.mention_scorer import NeuralMentionScorer
from hyperspan.neural.network import Network
from hyperspan.neural.progress import EpochRecord, Progress
from hyperspan.neural.scorer import NeuralScorer
from hyperspan.recognizer import Interrupted, Model, Settings, Training, register_trainer
from hyperspan.recognizer.training import TrainingOptions, check_left_out, structure_of, untuned

CLIP = 5.0
"""The greatest norm of a batch's gradient; longer ones are clipped."""

WARM_UP = 0.06
"""The share of all steps used to warm up the learning rates."""

SECOND_LOOK_FROM = 2
"""The first epoch in which the head for the second look is trained: before, there are too many candidates."""

SOFTENING = 1.5
"""The temperature for proposing candidates during training: a network is overconfident on its training data."""

LEARNED_FROM = 0.02
"""The minimum probability of a candidate during training."""

_SORTED_TOGETHER = 32
"""How many batches are sorted by length together: with more, the order would be less random."""

_log = logging.getLogger(__name__)


def train_neural(
    settings: Settings, train: list[Sentence], dev: list[Sentence], options: TrainingOptions
) -> tuple[Model, Training]:
    """Train an encoder and its head; keep the best epoch on the development data."""
    if settings.encoder is None:
        raise UsageError("the scorer 'neural' needs an encoder: a folder, or the name of a pretrained one")
    if settings.rescore == "on" and not any(sentence.mentions for sentence in dev):
        raise LearningError(
            f"with an encoder, a second look needs development data with mentions; there are {len(dev):,} development "
            "sentences, none with a mention. Give some, or rescore='off'"
        )
    device = best_device(settings.device)
    torch.manual_seed(settings.seed)
    encoder, pieces = load_encoder(settings.encoder)
    n_layers = int(getattr(encoder.config, "num_hidden_layers", settings.layers))
    if settings.layers > n_layers:
        raise UsageError(f"layers is {settings.layers}, but the encoder has {n_layers}")
    written_as = structure_of(settings, train)
    distribution = distribution_class(written_as, settings.distribution)
    gold = encode_gold(distribution, written_as, train)
    check_left_out(gold, train, settings)
    head = head_for(written_as, size_of(encoder), distribution.prior(written_as), settings.dropout)
    head.start_from(gold)
    network = Network(encoder, head, layers=settings.layers, dropout=settings.dropout)
    if settings.rescore != "off":
        network.mentions = MentionHead(size_of(encoder), len(written_as.types), settings.dropout)
    name = Path(settings.encoder).name
    scorer = NeuralScorer(
        written_as,
        settings.distribution,
        network.to(device),
        pieces,
        name=name,
        context=settings.context,
        precision=settings.save_precision,
        n_threads=settings.n_threads,
    )
    model = Model(written_as, settings.distribution, scorer)
    learner = Learner(settings, model, scorer, train, gold, dev, device)
    progress = learner.run(options)
    _set(learner.trainable, progress.best or {})
    if settings.save_precision == "float16":
        _round(network)
    if learner.has_dev:
        rescore = settings.rescore
        if rescore != "off" and progress.best_epoch < SECOND_LOOK_FROM:
            _log.warning("no second look is taken: epoch %d is the best, and had not trained one", progress.best_epoch)
            rescore = "off"
        found = judge(scorer, dev, rescore)
        scorer.temperature, scorer.calibration = found.temperature, found.calibration
        if found.mix is not None:
            model = replace(model, rescorer=NeuralMentionScorer(scorer, found.mix))
    if model.rescorer is None:
        network.mentions = None
    return model, untuned(0.0, progress.epoch, progress.records, len(gold.left_out))


class Learner:
    """Trains epoch by epoch.

    Every step has its own seed and every epoch its own order, both derived from the recognizer's seed; so interrupted
    training can be resumed exactly.
    """

    def __init__(
        self,
        settings: Settings,
        model: Model,
        scorer: NeuralScorer,
        train: Sequence[Sentence],
        gold: Gold,
        dev: list[Sentence],
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.model = model
        self.scorer = scorer
        self.network = scorer.network
        self.dev = dev
        self.has_dev = any(sentence.mentions for sentence in dev)
        self.windows = self.scorer.pieces.windows(train, settings.context)
        self.train = train
        self.gold = [gold.sentences(number, number + 1) for number in range(len(train))]
        self.lengths = np.array([sum(len(window.ids) for window in here) for here in self.windows])
        self.distribution = distribution_class(model.structure, settings.distribution)
        self.autocast = learning_precision(settings.precision, device)
        if settings.freeze:
            self.network.encoder.requires_grad_(False)
        of_network = self.network.named_parameters()
        self.trainable = {name: each for name, each in of_network if each.requires_grad and each.numel()}
        self.optimizer = self._optimizer()
        self.measures = False
        """Whether to wait for a GPU after every stage, so that ``seconds`` has the time of each."""
        self.seconds: dict[str, float] = dict.fromkeys(("encoder", "sums", "candidates", "development"), 0.0)

    def _optimizer(self) -> torch.optim.Optimizer:
        encoder = [each for name, each in self.trainable.items() if name.startswith("encoder.")]
        head = [each for name, each in self.trainable.items() if not name.startswith("encoder.")]
        groups: list[dict[str, Any]] = [{"params": head, "lr": self.settings.head_lr}]
        if encoder:
            groups.append({"params": encoder, "lr": self.settings.encoder_lr})
        self._rates = [self.settings.head_lr, self.settings.encoder_lr][: len(groups)]
        return torch.optim.AdamW(groups, weight_decay=0.0, fused=self.network.device.type == "cuda")

    @property
    def n_steps(self) -> int:
        """The number of steps of an epoch."""
        n_sentences = sum(len(sentence) > 0 for sentence in self.train)
        return max(1, math.ceil(n_sentences / self.settings.batch_size))

    def run(self, options: TrainingOptions) -> Progress:
        """Train until all epochs are done, or F1 on the development data no longer improves.

        Raises
        ------
        Interrupted
            If training was stopped; its state is in the checkpoint.
        """
        settings, progress = self.settings, Progress()
        checkpointer = NeuralCheckpointer(options.checkpoint, self, self._fingerprint() if options.checkpoint else "")
        if options.resume:
            progress = checkpointer.load_progress(settings.epochs) or progress
        clock = time.perf_counter() - progress.seconds
        with _threads(settings.n_threads):
            while not progress.stopped:
                for record in self._epoch(progress, max(1, options.dev_every), clock):
                    wants_stop = options.on_iteration is not None and options.on_iteration(record)
                    if progress.stopped:
                        break
                    if wants_stop:
                        checkpointer.save(progress)
                        raise Interrupted(progress.epoch)
                    checkpointer.save_in_time(progress)
        return progress

    def _epoch(self, progress: Progress, dev_every: int, clock: float) -> Any:
        """Yield a record after every step, and one at the end of the epoch."""
        settings = self.settings
        batches = self._batches(progress.epoch)
        for batch in batches[progress.step :]:
            loss = self._step(progress, batch, len(batches))
            if not math.isfinite(loss):
                raise LearningError(
                    f"the loss became {loss} in epoch {progress.epoch + 1}; lower encoder_lr and head_lr, "
                    "or learn in float32"
                )
            progress.loss += loss
            progress.step += 1
            progress.seconds = time.perf_counter() - clock
            yield self._record(progress, len(batches))
        progress.epoch, progress.step = progress.epoch + 1, 0
        record: dict[str, Any] = {"iteration": progress.epoch, "loss": progress.loss / max(1, len(self.train))}
        if self.has_dev and (progress.epoch % dev_every == 0 or progress.epoch == settings.epochs):
            record["dev_f1"] = progress.dev_f1 = self._dev_f1(progress.epoch)
            progress.keep_best(record["dev_f1"], self.trainable)
        if progress.epoch == settings.epochs:
            progress.stopped = f"{settings.epochs} epochs"
        elif self.has_dev and progress.epoch - progress.best_epoch >= settings.patience * dev_every:
            progress.stopped = f"no better for {progress.epoch - progress.best_epoch} epochs"
        if progress.stopped:
            if self.has_dev:
                progress.stopped += f"; epoch {progress.best_epoch} is the best"
            record["stopped"] = progress.stopped
        progress.records.append(record)
        progress.seconds = time.perf_counter() - clock
        complete = self._record(progress, len(batches), is_complete=True)
        progress.loss = 0.0  # before the record is out: training may be stopped there, and saved
        yield complete

    def _record(self, progress: Progress, n_steps: int, *, is_complete: bool = False) -> EpochRecord:
        done = progress.epoch * n_steps + progress.step
        left = progress.seconds / max(1, done) * (self.settings.epochs * n_steps - done)
        n_sentences = len(self.train) if is_complete else max(1, progress.step * self.settings.batch_size)
        return EpochRecord(
            iteration=progress.epoch if is_complete else progress.epoch + 1,
            n_iterations=self.settings.epochs,
            share=1.0 if is_complete else progress.step / n_steps,
            loss=progress.loss / max(1, n_sentences),
            seconds=progress.seconds,
            seconds_left=left,
            dev_f1=progress.dev_f1,
            stopped=progress.stopped,
            is_complete=is_complete,
        )

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the sentences of each step of an epoch, in random order, with similar lengths together."""
        draw = np.random.default_rng((self.settings.seed, epoch))
        order = draw.permutation([number for number, sentence in enumerate(self.train) if len(sentence)])
        size = self.settings.batch_size
        batches = []
        for first in range(0, len(order), _SORTED_TOGETHER * size):
            here = order[first : first + _SORTED_TOGETHER * size]
            here = here[np.argsort(-self.lengths[here], kind="stable")]
            batches += [here[begin : begin + size] for begin in range(0, len(here), size)]
        return [batches[number] for number in draw.permutation(len(batches))]

    def _step(self, progress: Progress, batch: NDArray[np.int64], n_steps: int) -> float:
        """Train on a batch of sentences; return the sum of the losses."""
        done = progress.epoch * n_steps + progress.step
        torch.manual_seed(int(np.random.SeedSequence((self.settings.seed, done)).generate_state(1)[0]))
        self._schedule(done, self.settings.epochs * n_steps)
        self.network.train()
        if self.settings.freeze:
            self.network.encoder.eval()
        self.network.autocast = self.autocast
        begin = time.perf_counter()
        windows = list(chain.from_iterable(self.windows[number] for number in batch))
        gold = _joined([self.gold[number] for number in batch])
        vectors = self.network.vectors(self.scorer.pieces.batch(windows))
        scores = self.network.scores(vectors, gold.first_word)
        self._took("encoder", begin)
        begin = time.perf_counter()
        loss = exact_likelihood(
            scores,
            self.network.head.transitions,
            self.distribution,
            self.model.structure,
            gold,
            self.settings.n_threads,
        )
        self._took("sums", begin)
        begin = time.perf_counter()
        total = loss
        if self.network.mentions is not None and progress.epoch + 1 >= SECOND_LOOK_FROM:
            total = loss + self._second_look(vectors, scores, gold, [self.train[number] for number in batch])
            self._took("candidates", begin)
        begin = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        (total / len(batch)).backward()
        torch.nn.utils.clip_grad_norm_(list(self.trainable.values()), CLIP)
        self.optimizer.step()
        self.network.autocast = None
        value = float(loss.item())
        self._took("encoder", begin)
        return value

    def _second_look(
        self, vectors: torch.Tensor, scores: torch.Tensor, gold: Gold, sentences: Sequence[Sentence]
    ) -> torch.Tensor:
        """Return the loss of the second look: the cross-entropy over candidates and gold mentions."""
        assert self.network.mentions is not None
        transitions = self.network.head.transitions.detach().to("cpu", torch.float64).numpy()
        batch = ScoreBatch(scores.detach().to("cpu", torch.float64).numpy(), gold.first_word, transitions)
        structure, n_threads = self.model.structure, self.settings.n_threads
        proposed = propose(self.distribution, structure, cooled(batch, SOFTENING), n_threads, LEARNED_FROM)
        known = [dict.fromkeys(sentence.mentions) for sentence in sentences]  # in order: a set's differs by process
        candidates = [list(dict.fromkeys((*mine, *here))) for mine, here in zip(known, proposed, strict=True)]
        is_right = [float(mention in mine) for mine, here in zip(known, candidates, strict=True) for mention in here]
        log_odds = self.network.mentions(vectors, Candidates.of(candidates, gold.first_word, structure.types))
        return torch.nn.functional.binary_cross_entropy_with_logits(
            log_odds, torch.tensor(is_right, device=log_odds.device), reduction="sum"
        )

    def _took(self, what: str, begin: float) -> None:
        if self.measures and self.network.device.type == "cuda":
            torch.cuda.synchronize()
        self.seconds[what] += time.perf_counter() - begin

    def _schedule(self, done: int, n_all: int) -> None:
        """Set the learning rates: warm up over the first steps, then decay to zero."""
        n_rising = max(1.0, WARM_UP * n_all)
        share = min((done + 1) / n_rising, (n_all - done) / max(1.0, n_all - n_rising))
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * max(0.0, min(1.0, share))

    def _dev_f1(self, n_epochs: int) -> float:
        begin = time.perf_counter()
        found = judge(self.scorer, self.dev, self.settings.rescore if n_epochs >= SECOND_LOOK_FROM else "off")
        self._took("development", begin)
        return found.f1

    def _fingerprint(self) -> str:
        """Return a hash of everything training depends on, so that a checkpoint only resumes the same training."""
        not_part = ("device", "n_threads", "encoder", "threshold", "decode", "patience", "save_precision")
        chosen = {name: value for name, value in vars(self.settings).items() if name not in not_part}
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((sorted(chosen.items(), key=str), self.model.structure.types)).encode())
        for sentences in (self.train, self.dev):
            content = [(sentence.tokens, sentence.doc, sentence.mentions) for sentence in sentences]
            digest.update(repr(content).encode("utf-8", "surrogatepass"))
        digest.update(self.scorer.pieces.tokenizer.to_str().encode())
        for tensor in tensors_of(self.network).values():
            digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()


class _threads(AbstractContextManager[None]):
    """Set torch's number of threads temporarily."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()
        torch.set_num_threads(self._number)

    def __exit__(self, *error: object) -> None:
        torch.set_num_threads(self._before)


def _joined(golds: Sequence[Gold]) -> Gold:
    """Concatenate the gold of several sentences."""
    first_word = np.cumsum([0, *(int(gold.first_word[-1]) for gold in golds)])
    words = [gold.word + first for gold, first in zip(golds, first_word[:-1].tolist(), strict=True)]
    return Gold(first_word, np.concatenate(words), np.concatenate([gold.label for gold in golds]))


def _set(tensors: dict[str, torch.Tensor], arrays: dict[str, NDArray[Any]]) -> None:
    with torch.no_grad():
        for name, array in arrays.items():
            tensors[name].copy_(torch.from_numpy(array))


def _round(network: Network) -> None:
    """Round weights to half precision, so that a model is the same before and after saving."""
    with torch.no_grad():
        for tensor in tensors_of(network).values():
            if tensor.dtype == torch.float32:
                half = tensor.half()
                if bool(torch.isfinite(half).all()):
                    tensor.copy_(half)


register_trainer("neural", train_neural)
