#!/usr/bin/env python3
"""Holds specs and outputs against the schemas that the program prints, with a public validator.

usage: validate.py PROGRAM ROOT
"""
import glob
import json
import os
import subprocess
import sys

import jsonschema
import yaml

program, root = os.path.abspath(sys.argv[1]), sys.argv[2]
files = os.path.join(root, "tests", "docs", "files")
failed = 0


def run(*arguments):
    return subprocess.run([program, *arguments], cwd=files, capture_output=True, check=False).stdout


def schema(*name):
    document = json.loads(run("schema", *name))
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def check(what, validator, instance, valid=True):
    global failed
    errors = list(validator.iter_errors(instance))
    if bool(errors) == valid:
        failed += 1
        print(what, errors[0].json_path + ": " + errors[0].message[:200] if errors else "is taken")


def unknown(rules, instance, path="$"):
    """Fields of an output that its schema does not have; where it says nothing, anything goes."""
    if isinstance(instance, list):
        return [u for item in instance for u in unknown(rules.get("items", {}), item, path + "[]")]
    if not isinstance(instance, dict) or "properties" not in rules:
        return []
    return [u for key, value in instance.items()
            for u in (unknown(rules["properties"][key], value, path + "." + key)
                      if key in rules["properties"] else [path + "." + key])]


def check_output(what, validator, output):
    global failed
    check(what, validator, output)
    for path in sorted(set(unknown(validator.schema, output))):
        failed += 1
        print(what, path + ": is not in the schema")


spec = schema()
specs = sorted(glob.glob(os.path.join(root, "models", "*.yaml")) + glob.glob(os.path.join(files, "*.yaml")))
for path in (p for p in specs if not os.path.basename(p).startswith("policy")):
    with open(path, encoding="utf-8") as file:
        check(path, spec, yaml.safe_load(file))
for wrong in (
    {"workload": {}},
    {"model": {"params": "7Q"}},
    {"model": {"params": -1}},
    {"model": {"params": "7B"}, "workload": {"batch": 1}},
    {"model": {"params": "7B"}, "workload": {"batch_size": 0}},
    {"model": {"params": "7B"}, "workload": {"task": "inferense"}},
):
    check(json.dumps(wrong), spec, wrong, valid=False)

tried = set()
for command in (
    ("plan", "llama-2-7b"),
    ("plan", "llama-3-8b", "--engine", "vllm", "--gpu", "a10", "--method", "detailed", "--explain"),
    ("plan", "llama-2-70b", "--layouts", "--mig", "--instances", "--hours", "3"),
    ("plan", "llama-2-7b", "--task", "training", "--data-parallel", "4", "--zero-stage", "3",
     "--set", "parallelism.offload.optimizer=cpu"),
    ("plan", os.path.join("..", "..", "cli", "plan-grpo", "policy.yaml"), "--method", "detailed"),
    ("plan", "llama-2-7b", "--task", "training", "--set", "training.method=qlora"),
    ("solve", "model.yaml", "--gpu", "A10", "--for", "concurrency"),
    ("solve", "llama-2-70b", "--gpu", "A10"),
    ("advise", "llama-2-70b", "--gpu", "T4"),
    ("diff", "llama-2-7b", "llama-2-13b", "--method", "detailed", "--gpu", "A10"),
    ("pack", "model.yaml", "llama-2-70b", "--gpu", "A10"),
    ("check", "model.yaml", "nothing.yaml", "--base", "small.yaml", "--max-increase", "5%"),
    ("check", "model.yaml", "--policy", "policy.yaml"),
    ("check", "llama-2-7b", "--gpu", "A10", "--engine", "vllm", "--method", "detailed"),
    ("plan", "model.yaml", "--gpu", "T4"),
    ("plan", "llama-2-7b", "--task", "training", "--method", "detailed", "--all"),
    ("solve", "llama-2-7b", "--gpu", "A10"),
    ("advise", "llama-2-7b", "--task", "training", "--gpu", "a100-40gb-sxm"),
    ("diagnose", "train.log"),
    ("diagnose", "error.txt", "--spec", "llama-2-7b", "--task", "training"),
    ("diagnose", "llama-server.log", "--spec", "llama-2-70b", "--engine", "llama.cpp",
     "--quantization", "q4_k_m"),
    ("diagnose", "vllm.log", "--spec", "model.yaml"),
    ("verify", "llama-3-8b", "vllm-start.log", "--gpu", "h100-80gb-sxm"),
    ("verify", "llama-2-7b", "nvidia-smi.csv", "--gpu", "rtx-3090"),
    ("diff", "small.yaml", "model.yaml"),
    ("pack", "model.yaml", "small.yaml:2", "--gpu", "a100-80gb-sxm", "--mig"),
    ("check", "model.yaml", "--gpu", "T4", "--max-memory", "24GB"),
    ("gpus",),
    ("models",),
    ("engines",),
    ("offers", "--hours", "12"),
    ("platforms", "--weights", "memory=3,billing=1"),
    ("platforms", "--catalog", "catalog/cluster.yaml"),
    ("precisions",),
):
    tried.add(command[0])
    check_output(" ".join(command), schema(command[0]), json.loads(run(*command, "--json")))
takers = [line.split()[0] for line in run("--help").decode().split("Commands:")[1].splitlines()[1:]
          if line.startswith("  ") and not line.startswith("   ")]
takers = [name for name in takers[:takers.index("help") + 1]
          if b"--json" in run(name, "--help").split(b"Output:")[-1]]
for name in takers:
    if name not in tried | {"compare"}:
        failed += 1
        print(name, "takes --json, but none of its outputs is held against a schema")
os.environ["VRAMCALC_SYSFS"] = "sysfs"
check_output("gpus --local", schema("local"), json.loads(run("gpus", "--local", "--json")))
compare = ("compare", "llama-2-7b", "model.yaml", "nothing.yaml", "--gpu", "A100", "--vary",
           "workload.batch_size=1,2")
rows = run(*compare, "--json").splitlines()
for row in rows:
    check_output(" ".join(compare), schema("compare"), json.loads(row))
if len(rows) != 6:
    failed += 1
    print("compare:", len(rows), "rows")
print(f"{len(specs)} specs, {failed} faults")
sys.exit(1 if failed or len(specs) < 12 else 0)
