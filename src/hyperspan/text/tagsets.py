"""Convert the part-of-speech tags of taggers to those of Universal Dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PENN = {
    "ADJ": "JJ JJR JJS AFX",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "CCONJ": "CC",
    "DET": "DT PDT WDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "TO POS",
    "PRON": "PRP PRP$ WP WP$ EX",
    "PROPN": "NNP NNPS",
    "PUNCT": ". , : ( ) `` '' -LRB- -RRB- HYPH NFP",
    "SYM": "SYM $ #",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "AUX": "MD",
    "X": "FW LS XX ADD",
}

_CLAWS5 = {
    "ADJ": "AJ0 AJC AJS ORD",
    "ADP": "PRP PRF AVP",
    "ADV": "AV0 AVQ",
    "AUX": "VM0 VBB VBD VBG VBI VBN VBZ",
    "CCONJ": "CJC",
    "DET": "AT0 DT0 DTQ",
    "INTJ": "ITJ",
    "NOUN": "NN0 NN1 NN2 ZZ0",
    "NUM": "CRD",
    "PART": "POS TO0 XX0",
    "PRON": "DPS PNI PNP PNQ PNX EX0",
    "PROPN": "NP0",
    "PUNCT": "PUN PUL PUR PUQ",
    "SCONJ": "CJS CJT",
    "VERB": "VVB VVD VVG VVI VVN VVZ VDB VDD VDG VDI VDN VDZ VHB VHD VHG VHI VHN VHZ",
    "X": "UNC",
}


def _inverted(table: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({tag: universal for universal, tags in table.items() for tag in tags.split()})


TO_UNIVERSAL: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"penn": _inverted(_PENN), "claws5": _inverted(_CLAWS5)}
)
"""Maps tagset and tag to the universal tag. Auxiliaries become verbs if the tagset does not distinguish them."""
