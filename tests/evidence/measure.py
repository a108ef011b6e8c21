#!/usr/bin/env python3
"""Measures GPU memory on the machine at hand and writes one case a line, with every input stated.

A model is built from a Hugging Face config.json with random weights, so nothing is downloaded. Each
point of the grid runs in a process of its own: its peaks are its own, and running out of memory
ends that point only and is a result too ("outcome": "oom").

  measure.py --config llama-3.2-1b.json --out cases.jsonl
  measure.py --config llama-3.2-1b.json --lengths 512,4096 --batches 1,8 --attention sdpa,eager
  measure.py --config llama-3.2-1b.json --task training --methods full,lora,qlora \\
             --checkpointing none,full --optimizers adamw,adamw-8bit --losses eager
  measure.py --config llama-3.2-1b.json --engine vllm --lengths 4096
  measure.py --gguf model.gguf --config config.json --engine llama.cpp --lengths 4096,32768

Needs torch and transformers (training: peft for LoRA, bitsandbytes for QLoRA and 8-bit optimizers);
vLLM, or llama.cpp's llama-cli on the path, for those engines. docs/accuracy.md says how the rows
are used.
"""
import argparse
import itertools
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

GIB = 2**30
MIB = 2**20


# ---- the grid -------------------------------------------------------------------------------


def grid(axes):
    """Every combination of {name: [values]}, as dicts, in a stable order."""
    names = list(axes)
    return [dict(zip(names, values)) for values in itertools.product(*axes.values())]


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def words(text):
    return [part for part in text.split(",") if part]


def spec_of(point, architecture, name):
    """The spec that describes one point, as `vramcalc plan` reads it."""
    spec = {
        "model": {"name": name, "architecture": architecture},
        "workload": {
            "task": point["task"],
            "precision": point["precision"],
            "batch_size": point["batch"],
            "sequence_length": point["length"],
            "attn_implementation": point["attention"],
        },
        "engine": {"name": point["engine"], "version": point.get("engine_version")},
    }
    if point["task"] == "training":
        spec["training"] = {
            "method": point["method"],
            "optimizer": point["optimizer"],
            "optimizer_implementation": point["optimizer_implementation"],
            "mixed_precision": point["mixed_precision"],
            "gradient_checkpointing": point["checkpointing"],
            "loss_implementation": point["loss"],
            "packing": True,  # every sequence of a point has its length
        }
        if point["method"] != "full":
            spec["training"]["lora"] = {"rank": point["rank"], "targets": point["targets"]}
            spec["training"]["adapter_precision"] = "fp32"
        if point["method"] == "qlora":
            spec["workload"]["quantization"] = "bnb-nf4-dq"
            spec["training"]["kbit_preparation"] = True
    return spec


def case_id(point, name):
    parts = [name, point["engine"], point["task"]]
    if point["task"] == "training":
        parts += [point["method"], point["optimizer"], "ckpt-" + point["checkpointing"], point["loss"]]
    parts += [point["precision"], point["attention"], f"b{point['batch']}", f"s{point['length']}"]
    return re.sub(r"[^a-z0-9.]+", "-", "-".join(parts).lower()).strip("-")


def cases_of(point, result, machine, architecture, name):
    """One case per quantity that was measured."""
    group = {"full": "train-full", "lora": "train-lora", "qlora": "train-qlora"}.get(
        point.get("method"), point["engine"])
    base = {
        "group": group,
        "set": "measured-" + machine["gpu"],
        "source": "measured with tests/evidence/measure.py",
        "confidence": "high",
        "gpu": machine["gpu"],
        "gpus": 1,
        "spec": spec_of(point, architecture, name),
        "environment": machine,
    }
    out = []
    for what, value in sorted(result["measured"].items()):
        unit = "value" if what in ("outcome", "kv_tokens") else "bytes"
        out.append({"id": f"{case_id(point, name)}-{what}", **base,
                    "measured": {"what": what, "per_gpu": True, unit: value},
                    "note": result.get("note", "")})
    return out


# ---- the machine ----------------------------------------------------------------------------


def parse_smi_gpu(text):
    """nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader,nounits"""
    name, total, driver = [field.strip() for field in text.strip().splitlines()[0].split(",")]
    return {"name": name, "total_mib": int(total), "driver": driver}


def parse_smi_process(text, pid):
    """MiB of a process out of --query-compute-apps=pid,used_memory --format=csv,noheader,nounits;
    None when the driver does not say (containers, WSL)."""
    used = 0
    seen = False
    for line in text.strip().splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 2 and fields[0] == str(pid) and fields[1].isdigit():
            used += int(fields[1])
            seen = True
    return used * MIB if seen else None


def parse_smi_used(text):
    """Bytes in use on the whole GPU out of --query-gpu=memory.used."""
    return int(text.strip().splitlines()[0]) * MIB


def smi(*query):
    return subprocess.run(["nvidia-smi", *query, "--format=csv,noheader,nounits"], check=True,
                          capture_output=True, text=True).stdout


def gpu_slug(name):
    """A catalog id is a GPU's name in lower case with dashes; vramcalc resolves aliases."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("nvidia", "")).strip("-")


def describe_machine(gpu):
    import torch
    import transformers
    card = parse_smi_gpu(smi("--query-gpu=name,memory.total,driver_version"))
    return {
        "gpu": gpu or gpu_slug(card["name"]),
        "gpu_name": card["name"],
        "driver_total_bytes": card["total_mib"] * MIB,
        "cuda_total_bytes": torch.cuda.get_device_properties(0).total_memory,
        "driver": card["driver"],
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }


# ---- logs of engines ------------------------------------------------------------------------


def parse_vllm_log(text):
    """What a vLLM start-up log states, in bytes. Engines print GiB, whatever they call it."""
    out = {}
    patterns = {
        "weights": r"[Mm]odel loading took ([\d.]+) Gi?B",
        "kv_pool": r"Available KV cache memory: ([\d.]+) Gi?B",
        "cuda_graphs": r"[Gg]raph capturing finished in .*?took ([\d.]+) Gi?B",
        "activation_peak": r"PyTorch activation peak memory takes ([\d.]+) ?Gi?B",
        "non_torch": r"non_torch_memory takes ([\d.]+) ?Gi?B",
    }
    for what, pattern in patterns.items():
        found = re.search(pattern, text)
        if found:
            out[what] = round(float(found.group(1)) * GIB)
    found = re.search(r"GPU KV cache size: ([\d,]+) tokens", text)
    if found:
        out["kv_tokens"] = int(found.group(1).replace(",", ""))
    if re.search(r"CUDA out of memory|No available memory for the cache blocks|larger than the "
                 r"maximum number of tokens", text):
        out["outcome"] = "oom"
    return out


def parse_llamacpp_log(text):
    """Sums the device buffers of a llama.cpp log, in bytes; host buffers are left out."""
    names = {"weights": "model buffer size", "kv_cache": "KV buffer size",
             "compute_buffer": "compute buffer size"}
    out = {}
    for what, name in names.items():
        found = re.findall(r"(\S+)\s+%s\s*=\s*([\d.]+) MiB" % name, text)
        device = [float(mib) for backend, mib in found
                  if re.match(r"(CUDA|ROCm|Vulkan|SYCL|Metal)\d*$", backend)]
        if device:
            out[what] = round(sum(device) * MIB)
    if re.search(r"failed to allocate (CUDA|ROCm)\d* buffer|out of memory", text):
        out["outcome"] = "oom"
    return out


# ---- one point, in a process of its own -----------------------------------------------------


def torch_dtype(name):
    import torch
    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[name]


def build(point, architecture):
    import torch
    import transformers
    config = transformers.AutoConfig.for_model(**architecture)
    config._attn_implementation = {"flash": "flash_attention_2"}.get(point["attention"], point["attention"])
    held = "fp32" if point.get("mixed_precision") == "amp" else point["precision"]
    with torch.device("cuda"):
        previous = torch.get_default_dtype()
        torch.set_default_dtype(torch_dtype(held))
        try:
            return transformers.AutoModelForCausalLM.from_config(config)
        finally:
            torch.set_default_dtype(previous)


def quantize(point, architecture):
    """NF4 with double quantization: weights have to pass through a checkpoint."""
    import torch
    import transformers
    with tempfile.TemporaryDirectory() as folder:
        build({**point, "mixed_precision": "none"}, architecture).save_pretrained(folder)
        torch.cuda.empty_cache()
        return transformers.AutoModelForCausalLM.from_pretrained(
            folder, device_map={"": 0}, attn_implementation=point["attention"],
            quantization_config=transformers.BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                bnb_4bit_compute_dtype=torch_dtype(point["precision"])))


def add_adapters(model, point):
    import peft
    if point["method"] == "qlora":
        model = peft.prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=point["checkpointing"] == "full")
    targets = "all-linear" if point["targets"] == ["all-linear"] else point["targets"]
    return peft.get_peft_model(model, peft.LoraConfig(
        r=point["rank"], target_modules=targets, task_type="CAUSAL_LM"))


def make_optimizer(model, point):
    import torch
    trained = [p for p in model.parameters() if p.requires_grad]
    kind = point["optimizer"]
    flags = {"foreach": {"foreach": True}, "fused": {"fused": True}, "for-loop": {"foreach": False}}[
        point["optimizer_implementation"]]
    if kind == "adamw":
        return torch.optim.AdamW(trained, **flags)
    if kind == "sgd":
        return torch.optim.SGD(trained, lr=1e-4, **flags)
    if kind == "sgd-momentum":
        return torch.optim.SGD(trained, lr=1e-4, momentum=0.9, **flags)
    if kind == "adafactor":
        return torch.optim.Adafactor(trained)
    import bitsandbytes
    return {"adamw-8bit": bitsandbytes.optim.AdamW8bit, "paged-adamw-8bit":
            bitsandbytes.optim.PagedAdamW8bit, "paged-adamw": bitsandbytes.optim.PagedAdamW,
            "lion": bitsandbytes.optim.Lion}[kind](trained)


class Peaks:
    """Allocated peaks phase by phase: reset at each mark, the greatest is the run's."""

    def __init__(self):
        import torch
        self.cuda = torch.cuda
        self.phases = {}
        self.cuda.synchronize()
        self.cuda.reset_peak_memory_stats()

    def mark(self, phase):
        self.cuda.synchronize()
        peak = self.cuda.max_memory_allocated()
        self.phases[phase] = max(peak, self.phases.get(phase, 0))
        self.cuda.reset_peak_memory_stats()


def run_training(point, architecture):
    import contextlib
    import torch
    model = quantize(point, architecture) if point["method"] == "qlora" else build(point, architecture)
    if point["method"] != "full":
        model = add_adapters(model, point)
    if point["checkpointing"] == "full":
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    model.train()
    model.config.use_cache = False
    weights = torch.cuda.memory_allocated()
    optimizer = make_optimizer(model, point)
    tokens = torch.randint(0, model.config.vocab_size, (point["batch"], point["length"]), device="cuda")
    amp = (torch.autocast("cuda", torch_dtype(point["precision"]))
           if point["mixed_precision"] == "amp" else contextlib.nullcontext())
    peaks = Peaks()
    for _ in range(3):  # the second step has optimizer states from its start
        with amp:
            loss = model(input_ids=tokens, labels=tokens).loss
        peaks.mark("forward")
        loss.backward()
        peaks.mark("backward")
        del loss
        optimizer.step()
        peaks.mark("optimizer-step")
        optimizer.zero_grad(set_to_none=True)
    return {"weights": weights, "static": torch.cuda.memory_allocated(),
            "total_allocated": max(peaks.phases.values())}, peaks.phases


def run_inference(point, architecture):
    import torch
    model = build(point, architecture).eval()
    weights = torch.cuda.memory_allocated()
    tokens = torch.randint(0, model.config.vocab_size, (point["batch"], point["length"] - 8), device="cuda")
    peaks = Peaks()
    with torch.inference_mode():
        model(input_ids=tokens, use_cache=True)
        peaks.mark("prefill")
        model.generate(input_ids=tokens, max_new_tokens=8, min_new_tokens=8, do_sample=False)
        peaks.mark("generate")
    return {"weights": weights, "total_allocated": max(peaks.phases.values())}, peaks.phases


def run_point(point, architecture):
    """In the child: one measurement, or an outcome."""
    import torch
    try:
        run = run_training if point["task"] == "training" else run_inference
        measured, phases = run(point, architecture)
    except torch.cuda.OutOfMemoryError:
        return {"measured": {"outcome": "oom"}, "note": "torch ran out of memory"}
    measured["total_reserved"] = torch.cuda.max_memory_reserved()
    process = parse_smi_process(smi("--query-compute-apps=pid,used_memory"), os.getpid())
    if process is None:  # containers hide processes: the GPU is ours alone, so its use is ours
        process = parse_smi_used(smi("--query-gpu=memory.used"))
    measured["process_nvidia_smi"] = process
    measured["outcome"] = "fits"
    return {"measured": measured, "note": "peaks by phase, bytes: " + json.dumps(phases)}


def run_vllm(point, architecture):
    """vLLM with random weights, from its own log."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(architecture, file)
        program = ("import vllm; vllm.LLM(%r, load_format='dummy', skip_tokenizer_init=True, "
                   "dtype=%r, max_model_len=%d)" % (
                       folder, {"bf16": "bfloat16", "fp16": "float16"}[point["precision"]], point["length"]))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              env={**os.environ, "VLLM_LOGGING_LEVEL": "DEBUG"})
    measured = parse_vllm_log(done.stdout + done.stderr)
    if not measured:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return {"measured": measured, "note": "from the engine's log, printed to 0.01 GiB"}


def run_llamacpp(point, gguf):
    done = subprocess.run(["llama-cli", "-m", gguf, "-c", str(point["length"]), "-ngl", "999", "-n", "1",
                           "-no-cnv", "-p", "a", "-fa", "on" if point["attention"] == "flash" else "off"],
                          capture_output=True, text=True)
    measured = parse_llamacpp_log(done.stdout + done.stderr)
    if not measured:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return {"measured": measured, "note": "from the engine's log"}


# ---- the program ----------------------------------------------------------------------------


def points_of(args):
    axes = {
        "task": [args.task], "engine": [args.engine], "precision": words(args.precisions),
        "attention": words(args.attention), "batch": numbers(args.batches), "length": numbers(args.lengths),
    }
    if args.task == "training":
        axes.update({
            "method": words(args.methods), "optimizer": words(args.optimizers),
            "optimizer_implementation": words(args.optimizer_implementations),
            "mixed_precision": words(args.mixed_precision), "checkpointing": words(args.checkpointing),
            "loss": words(args.losses), "rank": [args.rank], "targets": [words(args.targets)],
        })
    return grid(axes)


def measure(point, args, architecture):
    if args.engine == "vllm":
        return run_vllm(point, architecture)
    if args.engine == "llama.cpp":
        return run_llamacpp(point, args.gguf)
    child = subprocess.run([sys.executable, os.path.abspath(__file__), "--config", args.config,
                            "--one", json.dumps(point)], capture_output=True, text=True)
    if child.returncode != 0:
        return {"error": (child.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(child.stdout.strip().splitlines()[-1])


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="a Hugging Face config.json")
    parser.add_argument("--name", help="the model's name; default: the file's")
    parser.add_argument("--out", help="append cases to this file; default: standard output")
    parser.add_argument("--gpu", help="the catalog's id of this GPU; default: from its name")
    parser.add_argument("--engine", default="transformers", choices=["transformers", "vllm", "llama.cpp"])
    parser.add_argument("--task", default="inference", choices=["inference", "training"])
    parser.add_argument("--gguf", help="the file for llama.cpp")
    parser.add_argument("--lengths", default="512,2048,8192")
    parser.add_argument("--batches", default="1,4")
    parser.add_argument("--precisions", default="bf16")
    parser.add_argument("--attention", default="sdpa", help="of eager, sdpa, flash")
    parser.add_argument("--methods", default="full", help="of full, lora, qlora")
    parser.add_argument("--optimizers", default="adamw")
    parser.add_argument("--optimizer-implementations", default="foreach")
    parser.add_argument("--mixed-precision", default="none", help="of none, amp")
    parser.add_argument("--checkpointing", default="none,full")
    parser.add_argument("--losses", default="eager")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--targets", default="q_proj,v_proj")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.engine == "llama.cpp" and not args.gguf:
        parser.error("--engine llama.cpp needs --gguf FILE")
    return args


def main(arguments):
    args = parse_arguments(arguments)
    with open(args.config, encoding="utf-8") as file:
        architecture = json.load(file)
    if args.one:
        print(json.dumps(run_point(json.loads(args.one), architecture)))
        return 0
    name = args.name or os.path.splitext(os.path.basename(args.config))[0]
    machine = describe_machine(args.gpu)
    points = points_of(args)
    failed = 0
    with open(args.out, "a", encoding="utf-8") if args.out else os.fdopen(os.dup(1), "w") as out:
        for number, point in enumerate(points, 1):
            result = measure(point, args, architecture)
            print(f"{number}/{len(points)} {case_id(point, name)}: {result.get('error') or result['measured']}",
                  file=sys.stderr)
            if "error" in result:
                failed += 1
                continue
            for case in cases_of(point, result, machine, architecture, name):
                out.write(json.dumps(case) + "\n")
            out.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
