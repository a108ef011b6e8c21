"""The pictures of `plan --svg` and `--html`: well formed, self-contained, and true to `--json`.

    pictures.py PROGRAM
"""
import html.parser
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

PROGRAM = sys.argv[1]
HOSTILE = ('model: {name: "<img src=x onerror=alert(1)>\\e[0m\\uFFFE\\u202E&amp;]]>", '
           'params: 7B}\n').encode()
JOBS = {
    "rule": ["llama-2-7b"],
    "serving": ["llama-2-70b", "--engine", "vllm", "--method", "detailed"],
    "training": ["llama-2-7b", "--task", "training", "--precision", "bf16", "--engine", "deepspeed",
                 "--method", "detailed"],
    "offload": ["llama-2-7b", "--task", "training", "--zero-stage", "3", "--set",
                "parallelism.offload.optimizer=cpu"],
    "lists": ["llama-3.1-8b", "--layouts", "--mig", "--instances", "--gpu", "A100"],
    "nothing fits": ["llama-2-70b", "--gpu", "T4", "--max-gpus", "1"],
    "everything": ["deepseek-v3", "--all", "--unit", "GiB"],
    "images": ["vit-large", "--unit", "MiB"],
    "bytes": ["bert-base", "--unit", "B", "--sort", "memory"],
    "no architecture": ["-", "--gpu", "A10"],
    "one of each": ["llama-2-7b", "bert-base", "--gpu", "A100", "--method", "detailed"],
}
SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br", "link", "img", "input", "hr"}


def plan(arguments):
    result = subprocess.run([PROGRAM, "plan", *arguments], input=HOSTILE, capture_output=True,
                            check=False, env={"LC_ALL": "C", "XDG_CONFIG_HOME": "/nonexistent"})
    assert result.returncode in (0, 1) and not result.stderr, result.stderr
    return result.stdout.decode("utf-8")


class Page(html.parser.HTMLParser):
    """Tags in balance, ids unique, nothing fetched, nothing run."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.uses, self.text = [], [], [], []
        self.headings, self.tags = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open
        assert len(self.ids) == len(set(self.ids)), "ids are not unique"
        missing = [use for use in self.uses if use not in self.ids]
        assert not missing, missing

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert tag not in ("script", "img", "link", "iframe", "object"), tag
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "style"), name
            assert name != "href" or value.startswith("#"), value
            if name == "id":
                self.ids.append(value)
            if name in ("aria-labelledby", "aria-describedby"):
                self.uses += value.split()
            if name == "href":
                self.uses.append(value[1:])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)


def percent(text):
    return float(text.rstrip("%"))


def widths(element, name):
    """Of the rectangles of a class, in order of the bars."""
    return [r for r in element.iter(SVG + "rect") if name in r.get("class", "").split()]


def check_bars(root, entries):
    """Each bar's GPU and mark are as long as the JSON says, as far as two decimals tell."""
    rooms = [percent(r.get("width")) for r in widths(root, "room") if r.get("width")[-1] == "%"]
    needs = [percent(line.get("x1")) for line in root.iter(SVG + "line")
             if line.get("class") == "need"]
    shown = [gpu for plan in entries for gpu in plan["gpus"][:12]]
    assert len(rooms) == len(needs) == len(shown), (len(rooms), len(needs), len(shown))
    for room, need, gpu in zip(rooms, needs, shown):
        ratio = gpu["need_bytes"] / gpu["have_bytes"]
        assert abs(need - room * ratio) < 0.01 * (1 + ratio), gpu["id"]
    return len(shown)


def check_parts(root, entries):
    """The parts of a bar end where its sum does."""
    if len(entries) > 1:
        return
    bars = {}
    for rect in root.iter(SVG + "rect"):
        if "edge" in rect.get("class", "").split() and rect.get("width")[-1] == "%":
            end = percent(rect.get("x")) + percent(rect.get("width"))
            bars[rect.get("y")] = max(bars.get(rect.get("y"), 0), end)
    rooms = {r.get("y"): percent(r.get("width")) for r in widths(root, "room")
             if r.get("width")[-1] == "%"}
    for (y, end), gpu in zip(sorted(bars.items(), key=lambda bar: float(bar[0])),
                             entries[0]["gpus"]):
        # parts below a hundredth of a percent are not drawn
        assert abs(end - rooms[y] * gpu["total_bytes"] / gpu["have_bytes"]) < 0.2, gpu["id"]
    assert bars


def check(name, arguments):
    entries = json.loads(plan([*arguments, "--json"]))
    entries = entries if isinstance(entries, list) else [entries]
    # a picture has no tables, and is refused where one is asked for
    drawn = [word for word in arguments if word not in ("--layouts", "--mig", "--instances")]
    picture, page = plan([*drawn, "--svg", "-"]), plan([*arguments, "--html", "-"])
    assert picture == plan([*drawn, "--svg", "-"]), "not the same twice"

    root = ElementTree.fromstring(picture)
    assert root.tag == SVG + "svg" and root.get("role") == "img"
    about = root.find(SVG + "desc").text
    assert root.find(SVG + "title").text and about
    for entry in entries:
        assert all(gpu["name"] in about for gpu in entry["gpus"][:12])
    names = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(names) == len(set(names))
    assert not [e for e in root.iter() if e.tag == SVG + "script"]
    assert "http" not in picture.replace('xmlns="http://www.w3.org/2000/svg"', "")
    bars = check_bars(root, entries)
    check_parts(root, entries)

    read = Page(page)
    text = "".join(read.text)
    assert "http" not in page and "@import" not in page and "url(" in page
    assert read.headings[0] == 1 and read.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(read.headings, read.headings[1:])), read.headings
    assert read.tags.count("desc") >= len(entries)
    for entry in entries:
        for gpu in entry["gpus"]:
            assert gpu["name"] in text, gpu["name"]
        for key, heading in (("layouts", "Layouts"), ("slices", "MIG slices"),
                             ("instances", "Instances")):
            assert (f"{heading}\n" in text) == (key in entry), key
        for note in entry["notes"]:
            # sizes in notes follow --unit, so only the others are the same word for word
            assert "GB" in note["text"] or note["text"] in text, note
    print(f"{name}: {bars} bars")


for job, words in JOBS.items():
    check(job, words)
