"""Every relative link of the documents leads somewhere, anchors too, and every page can be reached;
so does every docs/PAGE.md#HEADING in comments, and tests/unit has the tests that documents name.

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


def mentions(top):
    """docs/PAGE.md#HEADING in comments of the sources."""
    for folder in ("src", "include", "tests"):
        for file in sorted((top / folder).rglob("*.[ch]")):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                # without a heading it may be a path in another project
                for match in re.finditer(r"\b(docs/[\w./-]+\.md)#([\w-]+)", line):
                    yield f"{file.relative_to(top)}:{number}", top / match.group(1), match.group(2)


def unknown_tests(top, document):
    """Rows of a table "Where it is tested" that name a test function which no test has."""
    text = document.read_text(encoding="utf-8").partition("## Where it is tested")[2]
    tests = "".join(f.read_text(encoding="utf-8") for f in (top / "tests/unit").glob("*.c"))
    for name in re.findall(r"\b[a-z]+(?:_[a-z0-9]+){2,}\b", text.split("\n## ")[0]):
        if not re.search(rf"\b{name}\b|test_{name}\.c", tests):
            if not (top / f"tests/unit/test_{name}.c").exists():
                yield f"{document.relative_to(top)}: no test is called {name}"


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
    for where, file, heading in mentions(top):
        if not file.exists() or heading not in set(anchors(file)):
            wrong.append(f"{where}: {file.relative_to(top)}#{heading}: not there")
    for document in documents:
        wrong += unknown_tests(top, document)
    print("\n".join(wrong) or f"{count} links in {len(documents)} documents")
    assert wrong or count > 20, "the links were not found"
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
