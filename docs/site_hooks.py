"""What the site has beyond the pages in this folder: the files that stand at the root of the project."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files at the root as pages; their links are given as seen from here."""
    root = Path(config.config_file_path).parent
    for source, target in ROOT_PAGES.items():
        text = (root / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, target, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files at the root to the pages made of them."""
    here = page.file.src_uri.count("/") * "../"
    for source, target in ROOT_PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)*{re.escape(source)}(#[^)]*)?\)", rf"]({here}{target}\1)", markdown)
    return markdown
