#!/usr/bin/env python3
"""How fast specs stream through `compare`, how that grows, and what others take for the same.

    tests/bench/stream.py build/vramcalc                 # the stream
    tests/bench/stream.py build/vramcalc --lines 1000000 # as many specs
    tests/bench/stream.py build/vramcalc --peer 'python3 tests/bench/accelerate_estimate.py CONFIG'
    tests/bench/stream.py build/vramcalc --gguf FILE --peer './parser FILE'

Prints lines a second of processor time by both methods, for one model and for an architecture that
changes from line to line; the largest memory, which includes what this script hands on; and the exponent b of time = a x size^b over lines,
variations and layers (1: linear). A peer is run as often as this program, in turns, for one estimate
from start to end; its time is given as a ratio. Peers that install from a registry and work without
the hub: accelerate (PyPI), and a program of a few lines around github.com/gpustack/gguf-parser-go (Go);
hf-mem (PyPI) asks the hub for every model, so its time would be the network's.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

ARCHITECTURE = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
                "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
                "vocab_size": 128256}
RUNS = 3


def write_specs(path, count, layers=None, changing=False):
    with open(path, "w", encoding="ascii") as file:
        for i in range(count):
            architecture = dict(ARCHITECTURE)
            if layers:
                architecture["num_hidden_layers"] = layers
            elif changing:
                architecture["num_hidden_layers"] = 1 + i % 80
            if changing or layers:
                architecture["intermediate_size"] = 64 * (1 + i % 977)
            file.write(json.dumps({"model": {"architecture": architecture},
                                   "workload": {"batch_size": 1 + i % 64}}) + "\n")


def run(command, path=None):
    """Processor seconds, and the most memory of any run so far in bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path or os.devnull, "rb") as file:
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            after.ru_maxrss * 1024)


def best(command, path=None):
    return min(run(command, path)[0] for _ in range(RUNS))


def exponent(points):
    """The slope of a line through the logarithms, by least squares."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(time_taken) for _, time_taken in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - mx) * (y - my) for x, y in zip(xs, ys)) /
            sum((x - mx) ** 2 for x in xs))


def stream(program, lines, folder):
    path = os.path.join(folder, "specs")
    for what, changing in (("one model", False), ("an architecture per line", True)):
        write_specs(path, lines, changing=changing)
        for method in ("rule", "detailed"):
            seconds, memory = run([program, "compare", "-", "--json", "--method", method], path)
            print(f"{what}, {method}: {lines / seconds:,.0f} lines a second and core, "
                  f"{memory * 1e-6:.1f} MB at most")


def growth(program, folder):
    path = os.path.join(folder, "specs")
    compare = [program, "compare", "-", "--json", "--method", "detailed"]
    points = []
    for lines in (10000, 20000, 40000, 80000):
        write_specs(path, lines, changing=True)
        points.append((lines, best(compare, path)))
    print(f"lines: time grows as lines^{exponent(points):.2f}")
    points = []
    for count in (10000, 20000, 40000, 80000):
        vary = ["--vary", f"workload.sequence_length=1..{count // 100}",
                "--vary", "workload.batch_size=1..100"]
        points.append((count, best([program, "compare", "llama-2-7b", "--json", *vary])))
    print(f"variations: time grows as variations^{exponent(points):.2f}")
    points = []
    for layers in (64, 128, 256, 512):
        write_specs(path, 4000, layers=layers)
        points.append((layers, best(compare, path)))
    print(f"layers: time grows as layers^{exponent(points):.2f}")


def compare_peers(program, peers, gguf, folder):
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump(ARCHITECTURE, file)
    ours = [program, "plan", gguf or config, "--json"]
    for peer in peers:
        theirs = ["sh", "-c", peer.replace("CONFIG", config).replace("FILE", gguf or config)]
        times = {"ours": [], "theirs": []}
        for _ in range(RUNS):
            for who, command in (("ours", ours), ("theirs", theirs)):
                start = time.perf_counter()
                result = subprocess.run(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, check=False).returncode
                times[who].append(time.perf_counter() - start)
                if who == "theirs" and result:
                    sys.exit(f"{peer}: status {result}")
        mine, other = sorted(times["ours"])[RUNS // 2], sorted(times["theirs"])[RUNS // 2]
        print(f"{other / mine:9.1f} times as long ({other * 1e3:.0f} ms, {mine * 1e3:.1f} ms): "
              f"{peer}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--lines", type=int, default=100000)
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--gguf")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        if options.peer:
            compare_peers(program, options.peer, options.gguf, folder)
        else:
            stream(program, options.lines, folder)
            growth(program, folder)


if __name__ == "__main__":
    main()
