"""The command lines of inference servers, read by the servers' own parsers.

vLLM and SGLang parse without a GPU; vLLM also holds the options against the model's config.json, as it does before it
loads anything. llama-server parses every option before it obeys --help.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

CONFIGS = os.path.join(os.path.dirname(__file__), "..", "data", "configs")
BIG = ["--gpu", "H200"]
ENGINE = "--set=engine.{}"

# What every server is asked: (model of tests/data/configs, options).
SHARED = [
    ("llama-3.1-8b", []),
    ("llama-3.1-8b", ["--precision", "bf16", "--concurrency", "16", "--sequence-length", "32768"]),
    ("llama-3.1-8b", ["--precision", "fp32"]),
    ("llama-3.1-8b", ["--precision", "bf16", "--tensor-parallel", "4"]),
    ("llama-3.1-8b", ["--set", "workload.attn_implementation=eager"]),
    ("gpt2", ["--precision", "bf16"]),
    ("qwen3-30b-a3b", ["--precision", "bf16"]),
    ("gemma-2-9b", ["--precision", "bf16", "--batch-size", "4"]),
]
# What vLLM and SGLang both know.
PAGED = [
    ("llama-3.1-8b", ["--precision", "fp8"]),
    ("llama-3.1-8b", ["--quantization", "fp8", "--kv-cache-precision", "fp8"]),
    ("llama-3.1-8b", ["--quantization", "gptq-int8-g128"]),
    ("llama-3.1-8b", ["--quantization", "awq-int4-g128"]),
    ("llama-3.1-8b", [ENGINE.format("max_num_seqs=64"), ENGINE.format("max_num_batched_tokens=8192"),
                      ENGINE.format("gpu_memory_utilization=0.875"), ENGINE.format("enforce_eager=true")]),
    ("llama-3.1-8b", [ENGINE.format("max_loras=4"), ENGINE.format("max_lora_rank=12")]),
    ("llama-3.1-8b", ["--set", "parallelism={tensor: 2, pipeline: 2}"]),
    ("llama-3.1-8b", ["--data-parallel", "2"]),
    ("glm-4.5", ["--precision", "fp8", ENGINE.format("speculative_tokens=2")]),
    ("qwen3-30b-a3b", ["--precision", "bf16", "--set", "parallelism={tensor: 4, expert: 4}"]),
]
DRAFT = ("llama-3.1-8b", [ENGINE.format("speculative_tokens=3"), ENGINE.format("draft_params=1000000000")])
GGUF = [("llama-3.1-8b", ["--quantization", name]) for name in ("q4_k_m", "q8_0", "iq4_xs")] + [
    ("llama-3.1-8b", ["--kv-cache-precision", name])
    for name in ("fp32", "fp16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "int8", "int4")
] + [
    ("qwen3-30b-a3b", [ENGINE.format("cpu_moe_layers=8"), ENGINE.format("ubatch_size=4096")]),
    ("llama-3.1-8b", [ENGINE.format("gpu_layers=20")]),
    ("llama-3.1-8b", ["--gpu", "RTX-4090", "--gpu", "RTX-3090", "--set", "parallelism={pipeline: 2}"]),
]


def refuse(message):
    raise ValueError(message)


@contextlib.contextmanager
def folder_of(model):
    """A checkpoint's folder with nothing but its configuration."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(CONFIGS, model + ".json"), os.path.join(folder, "config.json"))
        yield folder


@contextlib.contextmanager
def hub_cache(model, revision, config):
    """This program's cache with one model of the hub: src/io/hub_cache.c."""
    commit = "a" * 40
    with tempfile.TemporaryDirectory() as cache:
        folder = os.path.join(cache, "vramcalc", "hub", "huggingface.co", model.replace("/", "--"))
        os.makedirs(os.path.join(folder, commit))
        shutil.copy(os.path.join(CONFIGS, config + ".json"), os.path.join(folder, commit, "config.json"))
        for name, text in ((f"ref-{revision}", commit), (f"{commit}/.whole", "")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        yield cache


def check_llamacpp(line_of):
    program = shutil.which("llama-server")
    if not program:
        raise ImportError("no llama-server")
    for model, options in SHARED + GGUF:
        with folder_of(model) as folder:
            words = line_of("llama.cpp", folder, [*BIG, *options])
        assert words[:3] == ["llama-server", "--model", "MODEL"], words
        run = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True, check=False)
        assert run.returncode == 0, (words, run.stderr)
        assert "--ctx-size" in run.stdout, run.stdout
    run = subprocess.run([program, "--model", "MODEL", "--n-gpu-layer-count", "1", "--help"], capture_output=True,
                         text=True, check=False)
    assert run.returncode != 0 and "--n-gpu-layer-count" in run.stderr, run.stderr
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    print(re.search("version.*", version.stderr + version.stdout)[0])
    return len(SHARED + GGUF)


def check_sglang(line_of):
    from sglang.srt.server_args import ServerArgs
    parser = argparse.ArgumentParser(exit_on_error=False)
    ServerArgs.add_cli_args(parser)
    parser.error = refuse
    for model, options in [*SHARED, *PAGED, DRAFT]:
        with folder_of(model) as folder:
            words = line_of("sglang", folder, [*BIG, *options])
        assert words[:3] == ["python3", "-m", "sglang.launch_server"], words
        parsed = parser.parse_args(words[3:])
        assert parsed.model_path in (folder, "MODEL") and parsed.context_length, words
    return len(SHARED + PAGED) + 1


def vllm_parser():
    import vllm.platforms
    from vllm.platforms.cpu import CpuPlatform

    class Anywhere(CpuPlatform):
        """What needs no device is asked; what a GPU supports is not."""

        @classmethod
        def check_and_update_config(cls, vllm_config):
            pass

        @classmethod
        def verify_quantization(cls, quant):
            pass

        @classmethod
        def device_count(cls):
            return 8

    vllm.platforms._current_platform = Anywhere()
    from vllm.entrypoints.common.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    parser = make_arg_parser(FlexibleArgumentParser())
    parser.error = refuse
    return parser


def check_vllm(line_of):
    os.environ.update({"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"})
    parser = vllm_parser()
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.entrypoints.common.cli_args import validate_parsed_serve_args
    for model, options in [*SHARED, *PAGED, DRAFT]:
        with folder_of(model) as folder:
            words = line_of("vllm", folder, [*BIG, *options])
            assert words[:2] == ["vllm", "serve"] and words[2] in (folder, "MODEL"), words
            parsed = parser.parse_args(words[2:])
            validate_parsed_serve_args(parsed)
            if "DRAFT_MODEL" in " ".join(words):
                assert json.loads(words[-1])["num_speculative_tokens"] == 3, words
                continue
            parsed.model = folder
            config = AsyncEngineArgs.from_cli_args(parsed).create_engine_config()
            positions = {"gpt2": 1024}.get(model, 32768 if "32768" in options else 4096)
            assert config.model_config.max_model_len == positions, words
    return len(SHARED + PAGED) + 1
