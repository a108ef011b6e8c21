#!/usr/bin/env python3
"""Gives what `plan --emit` prints to the readers of the programs that it is for.

    check.py PROGRAM

Which readers there are depends on what is installed: bash, Slurm (Debian: slurm-client, slurmctld), PyYAML,
kubernetes-validate, torch, accelerate, transformers, deepspeed, skypilot, vllm, sglang, llama-server, Megatron-LM.
Those that are missing are named; nothing is passed in their stead. Exit status 1 where a reader refuses something.
"""
import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile

import servers
import slurm

PROGRAM = sys.argv[1]
TRAINING = ["--task", "training", "--precision", "bf16", "--gpu", "A100-80GB-SXM"]
SPEC = {
    "model": {
        "name": "it's \"a\" $(touch x) `id` #/name",
        "architecture": {
            "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        },
    },
}
SERVED = {**SPEC, "workload": {"precision": "bf16", "concurrency": 4, "kv_cache_precision": "fp8"}}
CHECKPOINTED = ["--gradient-checkpointing", "full"]
JOBS = {
    "one": TRAINING + ["--set", "training.method=lora", "--set", "training.lora.modules_to_save=lm_head"],
    "zero-1": TRAINING + ["--set", "parallelism={data: 8, zero_stage: 1}"],
    "zero-2": TRAINING + ["--set", "parallelism={data: 8, zero_stage: 2}"],
    "zero-3": TRAINING + CHECKPOINTED + ["--set", "parallelism={data: 8, zero_stage: 3}"],
    "offload": TRAINING
    + ["--set", "parallelism={data: 8, zero_stage: 3, offload: {optimizer: cpu, parameters: nvme}}"],
    "two nodes": TRAINING + ["--set", "parallelism={data: 16, zero_stage: 3}", "--max-gpus", "16"],
    "ddp": TRAINING + ["--set", "parallelism={data: 4}", "--set", "training.method=qlora",
                       "--quantization", "bnb-nf4"],
    "pure": TRAINING + ["--set", "parallelism={data: 8, zero_stage: 3}", "--set", "training.mixed_precision=none"],
}


def emit(target, options, spec):
    """`spec`: its content, or the path of one."""
    path, content = (spec, None) if isinstance(spec, str) else ("-", json.dumps(spec))
    run = subprocess.run(
        [PROGRAM, "plan", path, "--emit", target, *options], input=content, capture_output=True, text=True,
        check=False)
    if run.returncode != 0:
        raise SystemExit(f"--emit {target} {options}: status {run.returncode}: {run.stderr}")
    return run.stdout


def words_of(script):
    """What a shell makes of a command: its words, one a line of output."""
    run = subprocess.run(
        ["bash", "-c", 'print() { printf "%s\\0" "$@"; }\nprint ' + script.lstrip()],
        capture_output=True, text=True, check=True)
    return run.stdout.split("\0")[:-1]


def command_of(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def line_of(target, folder, options):
    return words_of(command_of(emit(target, options, os.path.join(folder, "config.json"))))


def check_llamacpp():
    return servers.check_llamacpp(line_of)


def check_sglang():
    return servers.check_sglang(line_of)


def check_vllm():
    return servers.check_vllm(line_of)


def run_without(programs, script):
    """The script with these programs as nothing; what it leaves in its folder."""
    stubs = "".join(f"{program}() {{ :; }}\n" for program in programs)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["bash", "-c", stubs + script], check=True, cwd=folder, capture_output=True,
                       env={**os.environ, "SLURM_CPUS_PER_TASK": "1", "SLURM_JOB_NODELIST": "a",
                            "SKYPILOT_NODE_IPS": "a"})
        return {name: open(os.path.join(folder, name), encoding="utf-8").read() for name in os.listdir(folder)}


def check_deepspeed_file():
    """What scripts write for torchrun to read is what --emit deepspeed prints."""
    import yaml
    for name, options in JOBS.items():
        expected = {}
        if name in ("zero-1", "offload"):
            expected = {"ds_config.json": emit("deepspeed", options, SPEC)}
        assert run_without(["srun", "scontrol"], emit("slurm", options, SPEC)) == expected, name
        task = yaml.safe_load(emit("skypilot", options, SPEC))
        assert run_without(["torchrun"], task["run"]) == expected, name
    return len(JOBS)


def check_hub():
    """A revision of a hub's model that lies in this program's own cache."""
    with servers.hub_cache("Org/model", "v2", "llama-3.1-8b") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for target, options, expected in (
                ("vllm", [], ["vllm", "serve", "Org/model", "--revision", "v2"]),
                ("sglang", [], ["sglang.launch_server", "--model-path", "Org/model", "--revision", "v2"]),
                ("vllm", ["--quantization", "awq-int4-g128"], ["vllm", "serve", "MODEL", "--max-model-len"]),
                ("torchrun", TRAINING, ["--model_name_or_path", "Org/model", "--model_revision", "v2"])):
            words = words_of(command_of(emit(target, [*servers.BIG, "--offline", *options], "hf:Org/model@v2")))
            start = words.index(expected[0])
            assert words[start:start + len(expected)] == expected, words
        del os.environ["XDG_CACHE_HOME"]
    return 4


def check_shell():
    for target in ("vllm", "sglang"):
        words = words_of(command_of(emit(target, ["--gpu", "L4"], SERVED)))
        assert SPEC["model"]["name"] in words, words
    for name, options in JOBS.items():
        script = emit("slurm", options, SPEC)
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        assert script.startswith("#!/bin/bash\n#SBATCH "), name
    return 2 + len(JOBS)


# As Slurm's AutoDetect=nvml names GPUs and slices: from batch scripts that people published.
NODES = {
    "a[1-2]": {"nvidia_a100-sxm4-80gb": 8},
    "b": {"nvidia_a100_2g.20gb": 3},
    "c": {"nvidia_h100_80gb_hbm3": 8},
    "d": {"nvidia_h100_80gb_hbm3_3g.40gb": 1, "nvidia_h100_80gb_hbm3_4g.40gb": 1},
    "e": {"nvidia_l40s": 4},
    "f": {"nvidia_a100_80gb_pcie": 4},
    "g": {"tesla_v100-sxm2-32gb": 4},
}
SLICE = ["--mig", "--quantization", "gptq-int8-g128"]
SUBMITTED = [(options, SPEC) for options in JOBS.values()] + [
    (["--gpu", "A100-80GB-SXM", *SLICE], SPEC),
    (["--gpu", "H100-80GB-SXM", "--mig"], SERVED),
    (["--gpu", "H100-80GB-SXM"], SERVED),
    (["--gpu", "L40S"], SERVED),
    (["--gpu", "A100-80GB-PCIe"], SERVED),
    (["--gpu", "V100-32GB", "--precision", "fp16"], SPEC),
]


def check_slurm():
    with slurm.controller(NODES) as sbatch:
        for options, spec in SUBMITTED:
            script = emit("slurm", options, spec)
            status, said = sbatch(script)
            assert status == 0 and " to start at " in said, (options, said)
        status, said = sbatch(script.replace("--gpus-per-node=", "--gpus-per-node=other:"))
        assert status != 0 and "not available" in said, said
        status, said = sbatch(script.replace("--mem=", "--memory="))
        assert status != 0 and "unrecognized option" in said, said
    return len(SUBMITTED)


def check_yaml():
    import yaml
    count = 0
    for options, spec in [(["--gpu", "A10"], SERVED)] + [(o, SPEC) for n, o in JOBS.items() if n != "two nodes"]:
        pod = yaml.safe_load(emit("kubernetes", options, spec))
        template = pod["spec"]["template"]["spec"]
        main = template["containers"][0]
        assert pod["kind"] in ("Deployment", "Job") and main["resources"]["limits"]["nvidia.com/gpu"] >= 1
        assert SPEC["model"]["name"] in main["command"], main["command"]
        count += 1
    for options, spec in [(["--gpu", "L4"], SERVED)] + [(o, SPEC) for o in JOBS.values()]:
        task = yaml.safe_load(emit("skypilot", options, spec))
        assert set(task) <= {"name", "num_nodes", "resources", "run"}, task
        subprocess.run(["bash", "-n"], input=task["run"], text=True, check=True)
        count += 1
    return count


def check_kubernetes():
    import kubernetes_validate
    import yaml
    options = [(["--gpu", "A10"], SERVED), (JOBS["one"], SPEC), (JOBS["zero-3"], SPEC),
               (["--gpu", "A100-80GB-SXM", "--mig", "--quantization", "gptq-int4-g128"], SPEC)]
    for option, spec in options:
        kubernetes_validate.validate(
            yaml.safe_load(emit("kubernetes", option, spec)), kubernetes_validate.latest_version(), strict=True)
    return len(options)


def check_torchrun():
    from torch.distributed.run import get_args_parser
    for options in JOBS.values():
        words = words_of(command_of(emit("torchrun", options, SPEC)))
        parsed = get_args_parser().parse_args(words[1:])
        assert parsed.training_script == "TRAIN.py"
    return len(JOBS)


# Of a job: what the options have to come to. fp32 weights below autocast, frozen ones in 16 bits, all in 16 bits.
EXPECTED = {
    "one": {"dtype": "bfloat16", "bf16": True, "use_peft": True, "load_in_4bit": False, "fsdp": None},
    "zero-1": {"dtype": "float32", "bf16": True, "use_peft": False, "fsdp": None},
    "zero-2": {"dtype": "float32", "bf16": True, "fsdp": True},
    "zero-3": {"dtype": "float32", "bf16": True, "fsdp": True},
    "ddp": {"dtype": "bfloat16", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "use_bnb_nested_quant": False},
    "pure": {"dtype": "bfloat16", "bf16": False, "fsdp": True},
}


def read_trainer(words):
    """TRL's ModelConfig reads what TrainingArguments leaves, where it is installed; DeepSpeed's file is not there."""
    from transformers import HfArgumentParser, TrainingArguments
    readers = [TrainingArguments]
    known = {"--max_length", "--packing"}
    try:
        from trl import ModelConfig
        readers.append(ModelConfig)
    except ImportError:
        known |= {"--model_name_or_path", "--dtype", "--attn_implementation", "--use_peft", "--lora_r",
                  "--lora_target_modules", "--lora_modules_to_save", "--load_in_4bit", "--bnb_4bit_quant_type",
                  "--use_bnb_nested_quant"}
    *read, rest = HfArgumentParser(readers).parse_args_into_dataclasses(
        words[words.index("TRAIN.py") + 1:] + ["--output_dir", "x", "--use_cpu", "True", "--deepspeed", ""],
        return_remaining_strings=True)
    assert {word for word in rest if word.startswith("--")} <= known, rest
    return {key: value for part in read for key, value in vars(part).items()}


def check_trainer():
    for name, options in JOBS.items():
        values = read_trainer(words_of(command_of(emit("torchrun", options, SPEC))))
        for key, value in EXPECTED.get(name, {}).items():
            assert values.get(key, value) == value, (name, key, values[key])
        if values["fsdp"]:
            assert values["fsdp_config"]["reshard_after_forward"] == (name != "zero-2"), (name, values["fsdp_config"])
    return len(JOBS)


MEGATRON = {
    "--set=training.gradient_checkpointing=full": {"recompute_granularity": "full"},
    "--set=training.gradient_checkpointing=selective": {"recompute_granularity": "selective"},
    "--set=parallelism={tensor: 4, pipeline: 2, data: 2, sequence_parallel: true, zero_stage: 1}": {
        "tensor_model_parallel_size": 4, "pipeline_model_parallel_size": 2, "sequence_parallel": True,
        "global_batch_size": 2, "use_distributed_optimizer": True},
    "--set=parallelism={tensor: 2, context: 2, data: 2}": {"context_parallel_size": 2, "micro_batch_size": 1},
}


def check_megatron():
    """Of a checkout of Megatron-LM on PYTHONPATH: no package has its training scripts."""
    from megatron.training.arguments import parse_args
    for option, expected in MEGATRON.items():
        words = words_of(command_of(emit(
            "torchrun", [*TRAINING, "--engine", "megatron", "--max-gpus", "16", option], SPEC)))
        sys.argv[1:], kept = words[words.index("TRAIN.py") + 1:], sys.argv[1:]
        parsed = vars(parse_args())
        sys.argv[1:] = kept
        expected = {"bf16": True, "seq_length": 4096, **expected}
        assert {key: parsed[key] for key in expected} == expected, (option, parsed)
    return len(MEGATRON)


def check_accelerate():
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser
    for name, options in JOBS.items():
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            text = emit("accelerate", options, SPEC)
            file.write(text)
            file.flush()
            config = load_config_from_file(file.name)
        assert config.num_processes >= 1
        words = words_of("\n".join(line[2:] for line in text.splitlines()[text.splitlines().index(
            "# accelerate launch \\"):] if line.startswith("# ") and "HEAD_NODE" not in line))
        launched = launch_command_parser().parse_args(words[2:])
        assert launched.training_script == "TRAIN.py" and launched.config_file == "THIS_FILE", words
        recomputed = getattr(config, "fsdp_config", None) or {}
        values = read_trainer(["TRAIN.py", *launched.training_script_args])
        assert not (recomputed.get("fsdp_activation_checkpointing") and values["gradient_checkpointing"]), name
        assert config.mixed_precision == ("no" if name == "pure" else "bf16"), name
    return len(JOBS)


def check_deepspeed():
    from deepspeed.runtime.precision_config import get_bfloat16_config
    from deepspeed.runtime.zero.config import get_zero_config
    for name, options in JOBS.items():
        config = json.loads(emit("deepspeed", options, SPEC))
        assert get_zero_config(config).stage == config["zero_optimization"]["stage"], name
        bf16 = get_bfloat16_config(config)
        assert bf16.enabled and bf16.bf16_optimizer_states == (name == "pure"), name
        ranks = config["train_batch_size"] // config["train_micro_batch_size_per_gpu"]
        assert ranks // config["gradient_accumulation_steps"] >= 1
    return len(JOBS)


def check_skypilot():
    import sky
    for options, spec in [(["--gpu", "L4"], SERVED)] + [(o, SPEC) for o in JOBS.values()]:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(emit("skypilot", options, spec))
            file.flush()
            sky.Task.from_yaml(file.name)
    return 1 + len(JOBS)


CHECKS = (check_shell, check_deepspeed_file, check_hub, check_slurm, check_llamacpp, check_yaml, check_kubernetes,
          check_torchrun, check_trainer, check_megatron, check_accelerate, check_deepspeed, check_skypilot, check_vllm,
          check_sglang)
DISTRIBUTIONS = {"kubernetes": "kubernetes-validate", "torchrun": "torch", "trainer": "transformers"}


def version_of(name):
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return " " + importlib.metadata.version(DISTRIBUTIONS.get(name, name))
    return ""


def main():
    failed = False
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    for check in CHECKS:
        name = check.__name__[6:]
        try:
            print(f"{name}{version_of(name)}: {check()} read")
        except ImportError as missing:
            print(f"{name}: not checked, {missing}")
        except Exception as refusal:  # a reader's own exceptions are of any kind
            failed = True
            print(f"{name}: {type(refusal).__name__}: {refusal}")
    return failed


sys.exit(main())
