"""Tables of parameters on the pages of the Python API: each parameter has its own default and type.

Docstrings describe parameters together (``epochs, batch_size : int``) and list choices in any order. Griffe would show
the default and the type of the first parameter for all of them, and the first choice as the default.
"""

from __future__ import annotations

from typing import Any

import griffe


class FromSignature(griffe.Docstring):
    """A docstring whose parameters have the defaults of the signature, and its types where it names none."""

    def parse(self, *args: Any, **options: Any) -> list[griffe.DocstringSection]:
        """Return the sections of the docstring."""
        sections = super().parse(*args, **options)
        known = getattr(self.parent, "parameters", None)
        for section in sections:
            if known is None or section.kind is not griffe.DocstringSectionKind.parameters:
                continue
            for described in section.value:
                if described.name not in known or described.name.startswith("*"):
                    continue
                own = known[described.name]
                described.value = None if own.required else str(own.default)
                if any(described.annotation is each.annotation for each in known):
                    described.annotation = own.annotation
        return sections


class Signatures(griffe.Extension):
    """Replaces the docstrings of functions and classes when they are loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Replace the docstring of one object."""
        if obj.docstring is not None and (obj.is_function or obj.is_class):
            old = obj.docstring
            obj.docstring = FromSignature(
                old.value,
                lineno=old.lineno,
                endlineno=old.endlineno,
                parent=old.parent,
                parser=old.parser,
                parser_options=old.parser_options,
            )
