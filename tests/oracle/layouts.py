#!/usr/bin/env python3
"""Holds `plan --layouts` against the rule's formulas and the order of layouts, worked out here again.

usage: layouts.py PROGRAM

Every layout of 200 jobs: which there are, what each needs, why it is ruled out, and which is taken.
The numbers of the models are those of the Llama 2 paper (arxiv.org/abs/2307.09288) and its configs.
"""
import csv
import io
import random
import subprocess
import sys

# parameters, layers, heads, key/value heads, head size, hidden size
MODELS = {
    "llama-2-70b": (68976648192, 80, 64, 8, 128, 8192),
    "llama-2-13b": (13015864320, 40, 40, 40, 128, 5120),
}
# marketed bytes, GPUs that find each other without a network
GPUS = {
    "t4": (16 * 10**9, 8),
    "a10": (24 * 10**9, 8),
    "a100-80gb-sxm": (80 * 10**9, 8),
    "gb200-186gb": (186 * 10**9, 72),
}


def up(a, b):
    return -(-a // b)


def power_of_two(n):
    return n & (n - 1) == 0


class Job:
    def __init__(self, chance):
        self.model = chance.choice(sorted(MODELS))
        self.gpu = chance.choice(sorted(GPUS))
        self.requests = chance.choice([1, 3, 16, 64, 200])
        self.tokens = chance.choice([512, 4096, 20000])
        self.most = chance.choice([1, 2, 3, 4, 6, 7, 8, 12, 16])
        self.memory, self.node = GPUS[self.gpu]

    def rows(self, program):
        command = [program, "plan", self.model, "--gpu", self.gpu, "--layouts", "--csv",
                   "--concurrency", str(self.requests), "--sequence-length", str(self.tokens),
                   "--max-gpus", str(self.most)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return list(csv.DictReader(io.StringIO(run.stdout)))

    def total(self, tensor, pipeline, data):
        params, layers, _, keys, size, _ = MODELS[self.model]
        weights = up(params * 2, tensor * pipeline)
        cache = (2 * up(self.requests, data) * self.tokens * up(keys, tensor) * size
                 * up(layers, pipeline) * 2)
        return weights + cache + up(weights * 2, 10)

    def judge(self, tensor, pipeline, data):
        """Reason without what depends on the choice, need and verdict."""
        _, layers, heads, _, _, _ = MODELS[self.model]
        if heads % tensor or pipeline > layers:
            return "architecture", None, ""
        if tensor > self.node:
            return "tensor-across-nodes", None, ""
        total = self.total(tensor, pipeline, data)
        need = up(12 * (total + 2 * 10**9), 10)
        if self.memory >= need:
            return "fits", need, "fits"
        return "memory", need, "tight" if self.memory >= total + 2 * 10**9 else "no"

    def choice(self, fitting):
        """The first of those that fit: usual, then few GPUs, then little between nodes, then wide."""
        _, _, heads, keys, _, hidden = MODELS[self.model]

        def usual(tensor, pipeline, data):
            gpus = tensor * pipeline * data
            return power_of_two(gpus) or (tensor == gpus and heads % gpus == keys % gpus == 0)

        def between_nodes(tensor, pipeline, data):
            crosses = pipeline > 1 and tensor * pipeline * data > self.node
            return self.tokens * hidden * 2 if crosses else 0

        last = 1 << (self.most.bit_length() - 1)
        left = [one for one in fitting if usual(*one)]
        left = left or [one for one in fitting if one[0] * one[1] * one[2] > last]
        return min(left, default=None, key=lambda one: (one[0] * one[1] * one[2],
                                                        between_nodes(*one), -one[0], one[2]))


def check(job, program):
    rows, fitting, chosen = job.rows(program), [], None
    layouts = {(t, p, gpus // t // p) for gpus in range(1, job.most + 1)
               for t in range(1, gpus + 1) if gpus % t == 0
               for p in range(1, gpus // t + 1) if gpus // t % p == 0}
    for row in rows:
        layout = tuple(int(row[key]) for key in ("tensor", "pipeline", "data"))
        reason, need, verdict = job.judge(*layout)
        layouts.remove(layout)
        if row["verdict"] != verdict or row["need_bytes"] != str(need if need else ""):
            return f"{layout}: {row}, expected {need} and {verdict}"
        if reason == "fits":
            fitting.append(layout)
            chosen = layout if row["reason"] == "chosen" else chosen
        elif row["reason"] != reason:
            return f"{layout}: {row['reason']}, expected {reason}"
    if layouts:
        return f"never seen: {sorted(layouts)}"
    if chosen != job.choice(fitting):
        return f"chose {chosen}, expected {job.choice(fitting)}"
    return None


def main():
    chance = random.Random(20261130)
    for _ in range(200):
        job = Job(chance)
        problem = check(job, sys.argv[1])
        if problem:
            sys.exit(f"{vars(job)}: {problem}")


if __name__ == "__main__":
    main()
