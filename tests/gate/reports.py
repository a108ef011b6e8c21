#!/usr/bin/env python3
"""What `check` writes for other programs, held against what those programs ask for.

usage: reports.py PROGRAM

JUnit XML: the elements and attributes that Jenkins' xunit plugin and GitLab document. SARIF: the
parts of the OASIS standard 2.1.0 that the file uses, with what its sections require; a URI is one by
RFC 3986. The names of the specs are made to hurt. Where junitparser (PyPI) and sarif-multitool (npm,
@microsoft/sarif-multitool) are there, they read the files as well.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as ElementTree

import jsonschema

TEXT = {"type": "string", "minLength": 1}
URI = {"type": "string", "pattern": r"^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}


def thing(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required,
            "properties": properties}


def each(item):
    return {"type": "array", "items": item}


MESSAGE = thing(["text"], text=TEXT)                                            # 3.11
LOCATION = thing(["physicalLocation"], physicalLocation=thing(                  # 3.28, 3.29
    ["artifactLocation", "region"], artifactLocation=thing(["uri"], uri=URI),   # 3.4
    region=thing(["startLine"], startLine={"type": "integer", "minimum": 1},  # 3.30
                 startColumn={"type": "integer", "minimum": 1})))
RESULT = thing(["ruleId", "level", "message", "locations"], ruleId=TEXT,        # 3.27
               level={"enum": ["none", "note", "warning", "error"]}, message=MESSAGE,
               locations={"type": "array", "items": LOCATION, "maxItems": 1, "minItems": 1})
DRIVER = thing(["name"], name=TEXT, version=TEXT,                               # 3.19
               rules=each(thing(["id"], id=TEXT, shortDescription=MESSAGE)))    # 3.49
SARIF = thing(["version", "runs"], version={"const": "2.1.0"},                  # 3.13
              runs=each(thing(["tool", "columnKind", "results"], tool=thing(["driver"], driver=DRIVER),
                              columnKind={"const": "unicodeCodePoints"},
                              results=each(RESULT))))                           # 3.14
SARIF["properties"]["$schema"] = TEXT

NAMES = ["plain.yaml", "a <b>&\"c\" 'd'.yaml", "percent%20#1?.yaml", "ümlaut.yaml", "c:d.yaml"]


def check(what, good):
    if not good:
        sys.exit(f"{what}: wrong")


def junit(path, specs):
    suite = ElementTree.parse(path).getroot()
    cases = suite.findall("testcase")
    check("testsuite", suite.tag == "testsuite" and suite.get("name") and len(cases) == len(suite))
    check("tests", int(suite.get("tests")) == len(cases))
    for kind, attribute in (("failure", "failures"), ("error", "errors")):
        check(attribute, int(suite.get(attribute)) == len(suite.findall("testcase/" + kind)))
    for case in cases:
        check("testcase", set(case.attrib) == {"classname", "name"} and len(case) <= 1)
        for child in case:
            check(child.tag, child.tag in ("failure", "error") and child.get("message"))
            check(child.tag, set(child.attrib) == {"message", "type"})
    check("names", {case.get("classname") for case in cases} == set(specs))
    try:
        import junitparser
    except ImportError:
        print("junitparser: not there")
        return
    (read,) = junitparser.JUnitXml.fromfile(path)
    check("junitparser", (read.tests, read.failures) == (len(cases), len(suite.findall("testcase/failure"))))
    print("junitparser: reads it")


def sarif(path, failed):
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    jsonschema.Draft202012Validator(SARIF).validate(log)
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    named = set()
    for result in log["runs"][0]["results"]:
        check("ruleId", result["ruleId"] in rules)
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        name = urllib.parse.unquote(uri)
        named.add(name)
        region = result["locations"][0]["physicalLocation"]["region"]
        check("region", region == ({"startLine": 2, "startColumn": 18} if name == "wrong.yaml" else {"startLine": 1}))
    check("uris", named == set(failed))
    tool = shutil.which("sarif-multitool")  # npm: @microsoft/sarif-multitool
    if tool:
        done = subprocess.run([tool, "validate", path], capture_output=True, check=False, text=True,
                              env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"})
        check(done.stdout, done.returncode == 0 and "): error " not in done.stdout)
    print("sarif-multitool:", "no error" if tool else "not there")


def github(output, failed):
    lines = output.decode().splitlines()
    check("annotations", len(lines) == len(failed))
    for line in lines:
        check(line, re.fullmatch(r"::error file=[^,:]+,title=[^,:]+::.+", line))
        name = line.split("=", 1)[1].split(",", 1)[0]
        check(line, urllib.parse.unquote(name) in failed)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(NAMES):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(f"model: {{params: {'70B' if i else '1B'}}}\n")
        with open(os.path.join(folder, "wrong.yaml"), "w", encoding="ascii") as file:
            file.write("# one line before\nmodel: {params:  7Q}\n")
        command = [program, "check", *NAMES, "missing.yaml", "wrong.yaml", "--gpu", "A10"]
        for extra in (["--junit", "j.xml", "--sarif", "s.sarif", "--quiet"], ["--github"]):
            done = subprocess.run(command + extra, cwd=folder, capture_output=True, check=False)
            check("status", done.returncode == 2)
        junit(os.path.join(folder, "j.xml"), NAMES + ["missing.yaml", "wrong.yaml"])
        sarif(os.path.join(folder, "s.sarif"), NAMES[1:] + ["missing.yaml", "wrong.yaml"])
        github(done.stdout, NAMES[1:] + ["missing.yaml", "wrong.yaml"])
    print("the reports hold")


if __name__ == "__main__":
    main()
