"""A tiny encoder with random weights and its tokenizer, made on the spot: no network, no downloads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def make_tiny_encoder(folder: Path, words: Iterable[str], *, size: int = 64, n_layers: int = 2) -> str:
    """Write a small BERT and a tokenizer of characters and whole words; return the folder's name."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    known = sorted({word.lower() for word in words})
    characters = sorted({character for word in known for character in word})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *characters, *(f"##{each}" for each in characters), *known])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=n_layers,
        num_attention_heads=4,
        intermediate_size=2 * size,
        max_position_embeddings=66,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    BertModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)
    return str(folder)
