"""Serve models with a web page and a JSON API, based on FastAPI and uvicorn (the extra ``serve``).

Examples
--------
>>> from hyperspan import Mention, Recognizer, Sentence
>>> sentences = [Sentence("blood in stomach".split(), [Mention("Finding", [(0, 3)])])] * 10
>>> app = create_app({"tiny": Recognizer(max_components=2).fit(sentences)})
>>> [*app.openapi()["paths"]]
['/healthz', '/api/model', '/api/predict', '/api/explain', '/api/export', '/api/read-brat', '/api/brat']
"""

from importlib.util import find_spec

from hyperspan.errors import MissingExtraError

for _package in ("fastapi", "uvicorn"):
    if find_spec(_package) is None:
        raise MissingExtraError("The server", _package, "serve")

from hyperspan.server.app import create_app  # noqa: E402
from hyperspan.server.authentication import Token  # noqa: E402
from hyperspan.server.limits import Limits  # noqa: E402
from hyperspan.server.running import open_socket, serve  # noqa: E402

__all__ = ["Limits", "Token", "create_app", "open_socket", "serve"]
