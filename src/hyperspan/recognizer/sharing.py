"""Share models: in a folder with their card, or on a model hub (the extra ``hub``)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hyperspan.errors import MissingExtraError, ModelError
from hyperspan.files import writing
from hyperspan.recognizer.card import CardText, card

if TYPE_CHECKING:
    from hyperspan.recognizer.recognizer import Recognizer

MODEL_FILE = "hyperspan.model"
CARD_FILE = "README.md"

AnyShared = TypeVar("AnyShared", bound="Shared")


class Shared:
    """Share a recognizer: a folder with model and card, to be uploaded to a hub or copied."""

    def card(self: Any, *, repository: str | None = None, **text: str | None) -> str:
        """Return the model card in Markdown: types, settings, data, scores by view, licence and intended use.

        Parameters
        ----------
        repository : str, optional
            Where the model is shared.
        **text
            ``name``, ``data``, ``licence``, ``language`` and ``use`` of `CardText`; what is not given is not stated.
        """
        name = text.pop("name", None) or (repository or "model").rsplit("/", 1)[-1]
        return card(self.summary(), CardText(name, **text), file=MODEL_FILE, repository=repository)

    def save_pretrained(
        self: Any, folder: str | Path, *, with_names: bool = False, repository: str | None = None, **text: str | None
    ) -> None:
        """Write the model and its card to a folder, from which `from_pretrained` reads it.

        Parameters
        ----------
        folder : path
        with_names : bool
            As in `Recognizer.save`, but off by default, since others will read a shared model.
        repository, **text
            As in `card`.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.save(folder / MODEL_FILE, with_names=with_names)
        with writing(folder / CARD_FILE) as file:
            file.write(self.card(repository=repository, **text).encode())

    def push_to_hub(
        self: Any,
        repository: str,
        *,
        private: bool = True,
        token: str | None = None,
        message: str = "Add a model",
        with_names: bool = False,
        api: Any = None,
        **text: str | None,
    ) -> str:
        """Upload the model and its card to the model hub; return the address.

        Parameters
        ----------
        repository : str
            ``"owner/name"``; created if it does not exist.
        private : bool
            Whether a newly created repository is private.
        token : str, optional
            As in ``huggingface_hub``; if not given, the one from ``hf auth login``.
        message : str
            The commit message.
        with_names, **text
            As in `save_pretrained`.
        api : HfApi, optional
            The client for the hub.

        Raises
        ------
        MissingExtraError
            If ``huggingface_hub`` is not installed.
        ModelError
            If the hub rejects the upload, or cannot be reached.
        """
        hub = _hub()
        self._learned()  # fails before anything is created on the hub
        api = hub.HfApi(token=token) if api is None else api
        with tempfile.TemporaryDirectory() as folder:
            self.save_pretrained(folder, with_names=with_names, repository=repository, **text)
            try:
                address = api.create_repo(repository, private=private, exist_ok=True)
                api.upload_folder(repo_id=repository, folder_path=folder, commit_message=message)
            except _failures(hub) as error:
                raise ModelError(
                    f"the hub does not take {repository!r}: {str(error) or type(error).__name__}"
                ) from None
        return str(address)

    @classmethod
    def from_pretrained(
        cls: Any,
        name: str | Path,
        *,
        revision: str | None = None,
        token: str | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        n_threads: int = 2,
    ) -> Recognizer:
        """Load a model from a folder written by `save_pretrained`, or from the model hub.

        Only the model file is downloaded, and no code in it is run.

        Parameters
        ----------
        name : str or path
            A folder, or ``"owner/name"`` on the hub.
        revision, token, cache_dir, local_files_only
            As in ``huggingface_hub.hf_hub_download``.
        n_threads : int
            As in `Recognizer.load`.

        Raises
        ------
        ModelError
            If there is no such model, or the file is not a valid model file.
        """
        folder = Path(name)
        if folder.is_dir():
            if not (folder / MODEL_FILE).is_file():
                raise ModelError(f"{folder} has no {MODEL_FILE!r}; expected a folder written by 'save_pretrained'")
            return cls.load(folder / MODEL_FILE, n_threads=n_threads)  # type: ignore[no-any-return]
        hub = _hub()
        try:
            file = hub.hf_hub_download(
                str(name),
                MODEL_FILE,
                revision=revision,
                token=token,
                cache_dir=cache_dir,
                local_files_only=local_files_only,
                library_name="hyperspan",
            )
        except _failures(hub) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ModelError(
                f"{str(name)!r} is not a folder here, and the hub does not provide {MODEL_FILE!r} of it: {reason}"
            ) from None
        return cls.load(file, n_threads=n_threads)  # type: ignore[no-any-return]


def _hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError:
        raise MissingExtraError("The model hub", "huggingface_hub", "hub") from None
    return huggingface_hub


def _failures(hub: Any) -> tuple[type[Exception], ...]:
    """Return what the hub's client raises: its own errors, and those of its HTTP library, from which they inherit."""
    return (*hub.errors.HfHubHTTPError.__bases__, hub.errors.HFValidationError, OSError)
