"""What running text says is true: `plan --html FILE` and the like name commands and options that
there are, `engine.max_num_seqs` a field, and lines of shell blocks are run as far as they are this
program's.

    mentions.py PROGRAM DOCUMENT...
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())


def output(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def options(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", text))


def known():
    """The options of every command."""
    listed = re.search(r"^Commands:\n(.*?)\n\n", output("--help"), re.M | re.S).group(1)
    return {name: options(output(name, "--help"))
            for name in re.findall(r"^  ([a-z]+) ", listed, re.M)}


def fields(schema, path=""):
    """Paths of the spec's fields, from its schema; a mapping with free keys ends in a dot."""
    for name, entry in schema.get("properties", {}).items():
        yield path + name
        yield from fields(entry, path + name + ".")
    if "object" in schema.get("type", ()) and "properties" not in schema:
        yield path


def field_is_wrong(span, paths):
    sections = "|".join({path.split(".")[0] for path in paths if "." in path})
    match = re.fullmatch(rf"((?:{sections})\.[a-z_.]+)(?:[:=] ?\S.*)?", span)
    if not match or match.group(1).endswith((".gguf", ".yaml", ".json", ".safetensors")):
        return None
    path = match.group(1).rstrip(".")
    free = any(path.startswith(known) for known in paths if known.endswith("."))
    return None if path in paths or free else "no such field"


def parts(document):
    """Code spans with their line, and lines of ```sh blocks."""
    block = None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            block = None if block is not None else fence.group(1)
        elif block is None:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, "span", span
        elif block == "sh":
            yield number, "sh", line


def span_is_wrong(span, commands):
    words = span.removeprefix("vramcalc ").split()
    if span.startswith("vramcalc ") and words[0].islower() and words[0].isalpha() and (
            words[0] not in commands):
        return "no such command"
    if not words or words[0] not in commands or (len(words) < 2 and "vramcalc" not in span):
        return None
    missing = options(span) - commands[words[0]]
    return f"{words[0]} has no {' '.join(sorted(missing))}" if missing else None


def line_fails(line, folder):
    if not re.search(r"(^|\W)vramcalc ", line) or "src/run.sh" in line:
        return None
    command = re.sub(r"\s+#.*", "", line)
    # what reads the output is another program's business
    command = re.sub(r"^source <\((.*)\)$", r"\1", command).split(" | ")[0]
    result = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True,
                            check=False)
    return f"status {result.returncode}: {result.stderr}" if result.returncode else None


def main():
    commands, wrong, looked_at = known(), [], 0
    paths = set(fields(json.loads(output("schema"))))
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(PROGRAM, os.path.join(folder, "vramcalc"))
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]
        for name in sys.argv[2:]:
            for number, kind, text in parts(pathlib.Path(name)):
                if kind == "span":
                    fault = span_is_wrong(text, commands)
                    if not name.endswith("json.md"):  # its fields are those of outputs
                        fault = fault or field_is_wrong(text, paths)
                    looked_at += text.removeprefix("vramcalc ").split(" ")[0] in commands
                else:
                    fault = line_fails(text, folder)
                    looked_at += 1
                if fault:
                    wrong.append(f"{name}:{number}: {text}: {fault}")
    print("\n".join(wrong) or f"{looked_at} mentions")
    assert wrong or looked_at > 50, "the mentions were not found"
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
