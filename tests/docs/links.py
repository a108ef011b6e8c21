"""Every relative link of the documents leads somewhere, anchors too, and every page can be reached.

    links.py TOP DOCUMENT...
"""
import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def prose(path):
    """The lines outside fenced blocks, without code spans."""
    fence = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and line.strip().startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def anchor(heading):
    """As GitHub makes it: lower case, no punctuation but hyphens, hyphens for blanks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(path):
    seen = {}
    for _, line in prose(path):
        heading = HEADING.match(line)
        if heading:
            name = anchor(heading.group(1))
            count = seen.get(name, 0)
            seen[name] = count + 1
            yield f"{name}-{count}" if count else name


def links(path):
    for number, line in prose(path):
        line = re.sub(r"`[^`]*`", "", line)
        for pattern in (LINK, IMAGE):
            for match in pattern.finditer(line):
                yield number, match.group(1)


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    documents = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    wrong = []
    leads_to = {}
    count = 0
    for document in documents:
        leads_to[document] = set()
        for number, target in links(document):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            name, _, fragment = target.partition("#")
            file = (document.parent / name).resolve() if name else document
            where = f"{document.relative_to(top)}:{number}: {target}"
            if not file.exists():
                wrong.append(f"{where}: no such file")
            elif not file.is_relative_to(top):
                wrong.append(f"{where}: leaves the project")
            elif fragment and fragment not in set(anchors(file)):
                wrong.append(f"{where}: no such heading")
            leads_to[document].add(file)
    reached, todo = set(), [top / "README.md"]
    while todo:
        document = todo.pop()
        if document not in reached:
            reached.add(document)
            todo += leads_to.get(document, ())
    wrong += [f"{d.relative_to(top)}: no link from README.md leads here"
              for d in documents if d not in reached]
    print("\n".join(wrong) or f"{count} links in {len(documents)} documents")
    assert wrong or count > 20, "the links were not found"
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
