#!/usr/bin/env python3
"""The logic of measure.py, without a GPU: grids, specs, and what logs say."""
import unittest

import measure

# Lines as vLLM 0.10 prints them.
VLLM = """
INFO [gpu_model_runner.py:2392] Model loading took 14.9889 GiB and 3.2 seconds
INFO [gpu_worker.py:276] Available KV cache memory: 56.21 GiB
INFO [kv_cache_utils.py:864] GPU KV cache size: 460,496 tokens
INFO [gpu_model_runner.py:3118] Graph capturing finished in 21 secs, took 0.59 GiB
"""

# Lines as llama.cpp prints them.
LLAMACPP = """
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
load_tensors:   CPU_Mapped model buffer size =   281.81 MiB
llama_kv_cache_unified:      CUDA0 KV buffer size =   512.00 MiB
llama_context:      CUDA0 compute buffer size =   258.50 MiB
llama_context:  CUDA_Host compute buffer size =    16.01 MiB
"""


class Grid(unittest.TestCase):
    def test_every_combination_once(self):
        args = measure.parse_arguments(["--config", "c.json", "--lengths", "1,2", "--batches", "3,4,5",
                                        "--attention", "eager,sdpa"])
        points = measure.points_of(args)
        self.assertEqual(len(points), 12)
        self.assertEqual(len({measure.case_id(p, "m") for p in points}), 12)

    def test_training_axes(self):
        args = measure.parse_arguments(["--config", "c.json", "--task", "training", "--methods",
                                        "full,lora,qlora", "--lengths", "8", "--batches", "1"])
        points = measure.points_of(args)
        self.assertEqual(len(points), 3 * 2)
        spec = measure.spec_of(points[-1], {"model_type": "llama"}, "m")
        self.assertEqual(spec["training"]["method"], "qlora")
        self.assertTrue(spec["training"]["kbit_preparation"])
        self.assertTrue(spec["training"]["packing"])
        self.assertEqual(spec["workload"]["quantization"], "bnb-nf4-dq")
        self.assertEqual(spec["training"]["lora"], {"rank": 16, "targets": ["q_proj", "v_proj"]})
        self.assertNotIn("lora", measure.spec_of(points[0], {}, "m")["training"])

    def test_llamacpp_wants_a_file(self):
        with self.assertRaises(SystemExit):
            measure.parse_arguments(["--config", "c.json", "--engine", "llama.cpp"])


class Cases(unittest.TestCase):
    def test_one_case_per_quantity(self):
        point = measure.points_of(measure.parse_arguments(["--config", "c", "--lengths", "8", "--batches", "1"]))[0]
        result = {"measured": {"weights": 10, "total_allocated": 12, "outcome": "fits"}}
        cases = measure.cases_of(point, result, {"gpu": "t4"}, {"model_type": "llama"}, "m")
        self.assertEqual([c["measured"]["what"] for c in cases], ["outcome", "total_allocated", "weights"])
        self.assertEqual(cases[0]["measured"]["value"], "fits")
        self.assertEqual(cases[1]["measured"]["bytes"], 12)
        self.assertEqual(len({c["id"] for c in cases}), 3)
        self.assertEqual(cases[0]["group"], "transformers")


class Logs(unittest.TestCase):
    def test_vllm(self):
        got = measure.parse_vllm_log(VLLM)
        self.assertEqual(got["weights"], round(14.9889 * 2**30))
        self.assertEqual(got["kv_pool"], round(56.21 * 2**30))
        self.assertEqual(got["kv_tokens"], 460496)
        self.assertEqual(got["cuda_graphs"], round(0.59 * 2**30))
        self.assertNotIn("outcome", got)
        self.assertEqual(measure.parse_vllm_log("ValueError: No available memory for the cache blocks."),
                         {"outcome": "oom"})
        self.assertEqual(measure.parse_vllm_log("nothing"), {})

    def test_llamacpp_leaves_the_host_out(self):
        got = measure.parse_llamacpp_log(LLAMACPP)
        self.assertEqual(got["weights"], round(4403.49 * 2**20))
        self.assertEqual(got["kv_cache"], 512 * 2**20)
        self.assertEqual(got["compute_buffer"], round(258.50 * 2**20))

    def test_nvidia_smi(self):
        self.assertEqual(measure.parse_smi_gpu("NVIDIA A10, 23028, 550.90.07\n"),
                         {"name": "NVIDIA A10", "total_mib": 23028, "driver": "550.90.07"})
        self.assertEqual(measure.parse_smi_process("11, 5\n12, 700\n12, 1\n", 12), 701 * 2**20)
        self.assertIsNone(measure.parse_smi_process("12, [N/A]\n", 12))
        self.assertIsNone(measure.parse_smi_process("", 12))
        self.assertEqual(measure.parse_smi_used("530\n"), 530 * 2**20)
        self.assertEqual(measure.gpu_slug("NVIDIA A100-SXM4-80GB"), "a100-sxm4-80gb")


if __name__ == "__main__":
    unittest.main()
