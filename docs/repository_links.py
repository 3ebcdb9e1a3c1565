"""A preprocessor of mdBook: links out of the book lead to the repository, and links between included files to their pages.

mdBook includes a file as it is, so that links relative to that file would break. This runs before mdBook's own `links`.
"""

import json
import os
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs/src"
INCLUDE = re.compile(r"\{\{#include ([^:}]+)(?::(\d+):)?\}\}")
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")


def chapters(items):
    for item in items:
        if "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def included(pages):
    """The page of the book that includes each file."""
    found = {}
    for page in pages:
        for match in INCLUDE.finditer(page["content"]):
            found[os.path.normpath((SOURCE / page["path"]).parent / match[1])] = page["path"]
    return found


def rewrite(text, folder, page, pages_of, repository):
    """Links of a text in `folder`, as they are written in the book's page."""

    def link(match):
        target, heading = match[1], match[2] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = os.path.normpath(folder / target)
        if not os.path.exists(path):
            sys.exit(f"{page}: the link leads to {target}, which is not there")
        if path in pages_of:
            path = str(SOURCE / pages_of[path])
        if path.startswith(f"{SOURCE}/"):
            return f"]({os.path.relpath(path, (SOURCE / page).parent)}{heading})"
        return f"]({repository}/blob/main/{os.path.relpath(path, ROOT)}{heading})"

    return LINK.sub(link, text)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    repository = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    pages = [page for page in chapters(book.get("items", book.get("sections", []))) if page.get("path")]
    pages_of = included(pages)
    for page in pages:
        folder = (SOURCE / page["path"]).parent

        def include(match):
            path = Path(os.path.normpath(folder / match[1]))
            lines = path.read_text().splitlines()[int(match[2] or 1) - 1 :]
            return rewrite("\n".join(lines), path.parent, page["path"], pages_of, repository)

        text, end = "", 0
        for match in INCLUDE.finditer(page["content"]):
            text += rewrite(page["content"][end : match.start()], folder, page["path"], pages_of, repository)
            text += include(match)
            end = match.end()
        page["content"] = text + rewrite(page["content"][end:], folder, page["path"], pages_of, repository)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
