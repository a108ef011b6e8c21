#!/usr/bin/env python3
"""Holds vramcalc's parameter counts against an independent oracle: transformers' own model code.

Each model_type of Hugging Face transformers is built with its default configuration on torch's
meta device, which allocates nothing; its parameters are counted (tied ones once, buffers not) and
compared with `model.parameters` of `vramcalc plan CONFIG --json`.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install torch transformers
    /tmp/oracle/bin/python tests/oracle/transformers_defaults.py --program build/vramcalc

Exit status 1 when a type differs that tests/oracle/differences.csv does not explain. With --write
the configurations and counts that agree go to a file that the ordinary tests replay without torch.
"""

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))

# The head that a published checkpoint of the type carries, in this order; an encoder is counted
# without a head.
TASKS = [
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
]


# Keys that every configuration has and that size nothing.
IGNORED = {
    "_name_or_path", "chunk_size_feed_forward", "id2label", "label2id", "output_attentions",
    "output_hidden_states", "problem_type", "return_dict", "transformers_version", "use_cache",
    "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "rope_parameters",
}


TUNING = ("eps", "drop", "std", "initializer", "theta", "loss", "alpha", "momentum", "scale_value")


def sizes_nothing(key, value):
    tuning = isinstance(value, float) and any(word in key for word in TUNING)
    return key in IGNORED or value is None or tuning


def essential(tree):
    """Without what sizes nothing, to keep the replayed file small."""
    if not isinstance(tree, dict):
        return tree
    return {
        key: essential(value)
        for key, value in tree.items()
        if not sizes_nothing(key, value)
    }


def class_names(auto, model_type):
    masked = model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    for task in TASKS:
        if masked and task == "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES":
            continue
        name = getattr(auto, task, {}).get(model_type)
        if name:
            yield name if isinstance(name, str) else name[0]


def on_alarm(signum, frame):
    raise TimeoutError("took too long")


def build(model_type):
    """The default configuration as a checkpoint's config.json has it, and its parameter count."""
    import torch
    import transformers
    from transformers.models.auto import configuration_auto, modeling_auto

    error = "no model class"
    for name in class_names(modeling_auto, model_type):
        signal.alarm(120)
        try:
            config = configuration_auto.CONFIG_MAPPING[model_type]()
            with torch.device("meta"):
                model = getattr(transformers, name)(config)
            model.tie_weights()
            count = sum(p.numel() for p in model.parameters())
            tree = json.loads(config.to_json_string(use_diff=False))
            tree["architectures"] = [name]
            return {"model_type": model_type, "class": name, "parameters": count, "config": tree}
        except Exception as reason:  # many defaults do not build: no size, an optional package
            error = f"{type(reason).__name__}: {reason}"
        finally:
            signal.alarm(0)
    return {"model_type": model_type, "error": error.splitlines()[0][:100]}


def ask(program, row, folder):
    path = os.path.join(folder, "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(row["config"], file)
    run = subprocess.run([program, "plan", path, "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return None, run.stderr.strip().replace(path, "config.json")
    answer = json.loads(run.stdout)
    notes = {note["code"] for note in answer["notes"]}
    return answer["model"]["parameters"], "unknown" if "family-unknown" in notes else ""


def judge(row, answer, remark, differences):
    if "error" in row:
        return "not built"
    if answer == row["parameters"]:
        return "agrees"
    if row["model_type"] in differences:
        return "explained"
    if answer is None:
        return "refused"
    return "noted" if remark == "unknown" else "differs"


def read_differences():
    with open(os.path.join(HERE, "differences.csv"), encoding="utf-8") as file:
        return {row["model_type"] for row in csv.DictReader(file)}


def rows_of(arguments):
    if arguments.read:
        with open(arguments.read, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file)
        return
    import transformers
    from transformers.models.auto import configuration_auto

    transformers.logging.set_verbosity_error()
    for model_type in sorted(configuration_auto.CONFIG_MAPPING_NAMES):
        if not arguments.types or model_type in arguments.types:
            yield build(model_type)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--types", nargs="*", help="only these model types")
    parser.add_argument("--read", help="rows that --write kept, instead of building")
    parser.add_argument("--write", help="keep the rows here, one JSON object a line")
    parser.add_argument("--agreeing", action="store_true", help="keep only rows that agree")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGALRM, on_alarm)
    differences = read_differences()
    tally, kept = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows_of(arguments):
            built = "error" not in row
            answer, remark = ask(arguments.program, row, folder) if built else (None, row["error"])
            verdict = judge(row, answer, remark, differences)
            tally[verdict] = tally.get(verdict, 0) + 1
            if built:
                row["config"] = essential(row["config"])
            if built and (verdict == "agrees" or not arguments.agreeing):
                kept.append(row)
            if verdict != "agrees":
                print(f"{verdict:10} {row['model_type']:32} {row.get('parameters', '')} "
                      f"{answer} {remark[:120]}")
    if arguments.write:
        with open(arguments.write, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in kept)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(tally.items())))
    return 1 if tally.get("differs") else 0


if __name__ == "__main__":
    sys.exit(main())
