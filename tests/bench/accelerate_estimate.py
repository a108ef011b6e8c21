#!/usr/bin/env python3
"""What `accelerate estimate-memory` computes, of a config.json instead of a name on the hub.

usage: accelerate_estimate.py CONFIG    (with accelerate, transformers and torch from PyPI)
"""
import sys

from accelerate import init_empty_weights
from accelerate.utils import calculate_maximum_sizes
from transformers import AutoConfig, AutoModelForCausalLM

with init_empty_weights():
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(sys.argv[1]))
print(calculate_maximum_sizes(model))
