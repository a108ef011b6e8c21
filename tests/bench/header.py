#!/usr/bin/env python3
"""How long a large GGUF header takes, here and elsewhere.

    tests/bench/header.py build/vramcalc
    tests/bench/header.py build/vramcalc 'node hf.mjs FILE' './parser FILE'

Writes a header with a vocabulary of 262144 tokens and 514906 merges (the tensors are a hole that
takes no space), runs each command on it several times, FILE replaced, and prints the processor time
and the ratio to the first. Other readers: @huggingface/gguf from npm, gguf-parser-go from
github.com/gpustack.
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile

TOKENS, MERGES, LAYERS, RUNS = 262144, 514906, 32, 9


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def header():
    pairs = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    for key, value in [("block_count", LAYERS), ("context_length", 8192),
                       ("embedding_length", 4096), ("feed_forward_length", 14336),
                       ("attention.head_count", 32), ("attention.head_count_kv", 8)]:
        pairs.append(text("llama." + key) + struct.pack("<II", 4, value))
    arrays = [("tokens", 8, [text(f"token{i}") for i in range(TOKENS)]),
              ("scores", 6, [bytes(4)] * TOKENS), ("token_type", 5, [bytes(4)] * TOKENS),
              ("merges", 8, [text(f"ab {i}") for i in range(MERGES)])]
    for key, kind, items in arrays:
        pairs.append(text("tokenizer.ggml." + key) +
                     struct.pack("<IIQ", 9, kind, len(items)) + b"".join(items))
    tensors = [("token_embd", [4096, TOKENS]), ("output", [4096, TOKENS])]
    for layer in range(LAYERS):
        for name, shape in [("attn_q", [4096, 4096]), ("attn_k", [4096, 1024]),
                            ("attn_v", [4096, 1024]), ("attn_output", [4096, 4096]),
                            ("ffn_gate", [4096, 14336]), ("ffn_up", [4096, 14336]),
                            ("ffn_down", [14336, 4096])]:
            tensors.append((f"blk.{layer}.{name}", shape))
    table, offset = b"", 0
    for name, shape in tensors:
        table += text(name + ".weight") + struct.pack("<IQQIQ", 2, *shape, 1, offset)
        offset += shape[0] * shape[1] * 2
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + table
    return start + bytes(-len(start) % 32), offset


def processor_time(command):
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(times)[RUNS // 2]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocabulary.gguf")
        start, data = header()
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(len(start) + data)
        commands = [sys.argv[1] + " plan --quiet FILE"] + sys.argv[2:]
        times = [processor_time(command.replace("FILE", path)) for command in commands]
    for command, time in zip(commands, times):
        print(f"{time * 1000:9.1f} ms  {time / times[0]:7.1f}  {command}")


if __name__ == "__main__":
    main()
