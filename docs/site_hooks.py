"""What the site has beyond the pages in this folder: the files at the root of the project, and the order of search."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
LINKS_TO_SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:benchmarks|examples|requirements|src|tests)/[^)]*\)")
"""Links to files that only a checkout has: on the site their text stays."""

SOURCE_BELOW = re.compile(r"^<!-- source: (\S+\.py) -->$", re.MULTILINE)
"""Where a page on the site shows a file that only a checkout has."""

CODE_IN_TABLE = re.compile(r"(?<=[ (])`[^`\n]*\\\|[^`\n]*`(?=.*\|$)", re.MULTILINE)
"""Code in a row of a table with a bar: GitHub wants it escaped, MkDocs shows the backslash."""

CODE_WITH_OPTION = re.compile(r"<code>(?=[^<\n]{,32}</code>)(?=[^<]*--\w)")
"""Short code that a browser would break after the hyphens of an option."""

SEARCH_BOOSTS = {"howto/": 4, "get-started.md": 2, "api/": 0.5, "cli.md": 0.5, "changelog.md": 0.5}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files at the root as pages; their links are given as seen from here."""
    root = Path(config.config_file_path).parent
    for source, target in ROOT_PAGES.items():
        text = (root / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, target, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to the pages made of files at the root, show source files, and let search prefer answers."""
    for folder, boost in SEARCH_BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {})["boost"] = boost
    here = page.file.src_uri.count("/") * "../"
    for source, target in ROOT_PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)*{re.escape(source)}(#[^)]*)?\)", rf"]({here}{target}\1)", markdown)
    root = Path(config.config_file_path).parent
    markdown = SOURCE_BELOW.sub(lambda found: f"```python\n{(root / found[1]).read_text('utf-8')}```", markdown)
    markdown = CODE_IN_TABLE.sub(lambda found: found[0].replace("\\|", "|"), markdown)
    return LINKS_TO_SOURCE.sub(r"\1", markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark short code with options, which the style sheet keeps on one line."""
    return CODE_WITH_OPTION.sub('<code class="option">', html)
