"""The page that lists the API, made from the OpenAPI description, without scripts or third-party hosts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperspan.render.visible import xml_text

_CODE = re.compile(r"``?([^`]+)``?")

STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}"
    "h2{margin:2rem 0 .3rem;font-size:1.1rem}code,pre{font-family:ui-monospace,Menlo,Consolas,monospace}"
    "pre{padding:.6rem;overflow-x:auto;border:1px solid;border-radius:4px}table{border-collapse:collapse}"
    "td,th{text-align:start;padding:.15rem 1rem .15rem 0;vertical-align:top}"
)


def page(description: Mapping[str, Any]) -> str:
    """Return the operations of an OpenAPI description as a page.

    Examples
    --------
    >>> html = page({"info": {"title": "A & B"}, "paths": {"/healthz": {"get": {"summary": "Is it there?"}}}})
    >>> "<h1>A &amp; B</h1>" in html, "GET /healthz" in html
    (True, True)
    """
    title = xml_text(description["info"]["title"])
    body = "\n".join(_operations(description))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="/static/icon.svg">\n'
        f'<link rel="stylesheet" href="/docs/style.css">\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n'
        f"<p>{xml_text(description['info'].get('description', ''))} "
        'The whole description is at <a href="/openapi.json">/openapi.json</a>.</p>\n'
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def _prose(text: str) -> str:
    """Return a text with what is in backticks set as code.

    Examples
    --------
    >>> _prose("With ``a < b``: `c`.")
    'With <code>a &lt; b</code>: <code>c</code>.'
    """
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(
        f"<code>{xml_text(piece)}</code>" if place % 2 else xml_text(piece) for place, piece in enumerate(pieces)
    )


def _operations(description: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"<h2><code>{method.upper()} {xml_text(path)}</code></h2>"
            yield f"<p>{_prose(operation.get('description') or operation.get('summary', ''))}</p>"
            for parameter in operation.get("parameters", ()):
                meaning = _prose(parameter.get("description", ""))
                yield f"<p><code>?{xml_text(parameter['name'])}=</code> {meaning}</p>"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body is not None:
                yield from _body(_resolved(body, description), description)
            statuses = (
                f"<tr><td>{status}</td><td>{_prose(answer.get('description', ''))}</td></tr>"
                for status, answer in sorted(operation.get("responses", {}).items())
            )
            yield f"<table><tr><th>Status</th><th>Answer</th></tr>{''.join(statuses)}</table>"


def _body(schema: Mapping[str, Any], description: Mapping[str, Any]) -> Iterator[str]:
    rows = (
        f"<tr><td><code>{xml_text(name)}</code></td><td>{xml_text(_kind(field, description))}</td>"
        f"<td>{_prose(field.get('description', ''))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    yield f"<table><tr><th>Field</th><th>Kind</th><th>Meaning</th></tr>{''.join(rows)}</table>"
    for example in schema.get("examples", ()):
        yield f"<pre>{xml_text(json.dumps(example, ensure_ascii=False))}</pre>"


def _resolved(schema: Mapping[str, Any], description: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[1]
    found: Mapping[str, Any] = description["components"]["schemas"][name]
    return found


def _kind(schema: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    schema = _resolved(schema, description)
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(each, description) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), description)}"
    if "properties" in schema:
        return f"{{{', '.join(schema['properties'])}}}"
    return str(schema.get("type", "anything"))
