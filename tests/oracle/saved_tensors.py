#!/usr/bin/env python3
"""Asks torch what transformers' models keep for backward, and writes it as a table.

Each model is built from a config.json of tests/data/configs with one and with two layers and empty
weights, so that nothing is downloaded; what the second layer adds to the storages that autograd
saves (torch.autograd.graph.saved_tensors_hooks) in a forward pass on the CPU is one layer's bytes.
Parameters are not counted, dropout is off. test_train_activation holds the program against the table, within one
percent.

  saved_tensors.py > tests/data/saved_tensors.csv
  saved_tensors.py --images > tests/data/saved_images.csv

The second table has convolutional nets: all that one image of their usual size leaves behind, in
fp32. YOLOv5 is ultralytics' (pip install ultralytics), whose last layer is another than the first
release's: the detector's convolutions are left out, their inputs counted.

The last column, `why`, is written by hand: a row that has one is not held against, and says why.

Needs torch 2, transformers and peft; the table says which versions wrote it.
"""
import itertools
import json
import os
import sys

import peft
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(HERE, "..", "data", "configs")

BATCH, LENGTH, RANK = 2, 96, 16

MODELS = ["bert-base-uncased", "bert-large-uncased", "bloom-1b1", "falcon-rw-1b", "flan-t5-base",
          "gemma-2-2b", "gemma-3-1b", "gemma-7b", "gpt2", "gpt2-large", "granite-3.3-8b",
          "llama-3.2-1b", "mistral-7b-v0.3", "mixtral-8x7b", "olmo-2-1b", "opt-1.3b", "phi-1.5",
          "phi-2", "phi-3-mini", "pythia-410m", "qwen2.5-3b", "qwen3-0.6b", "qwen3-1.7b",
          "roberta-large", "smollm2-360m", "smollm3-3b", "stablelm-2-1.6b", "t5-small",
          "vit-base-16-224", "vit-large-16-224"]
METHODS = {"full": None, "checkpointed": None, "lora-qv": ["q_proj", "v_proj"],
           "lora-qkvo": ["q_proj", "k_proj", "v_proj", "o_proj"],
           "lora-all": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                        "down_proj"]}


LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_decoder_layers")


def auto_class(kind):
    if kind in ("t5", "bart"):
        return transformers.AutoModelForSeq2SeqLM
    if kind in ("bert", "roberta", "vit"):
        return transformers.AutoModel
    return transformers.AutoModelForCausalLM


def build(config, layers, attention):
    small = dict(config)
    for key in small:
        if key in LAYERS:
            small[key] = layers
        if "drop" in key and isinstance(small[key], (int, float)):
            small[key] = 0.0
    # configurations leave out what is their default; a mask is one byte more per element
    for key in ("attention_probs_dropout_prob", "hidden_dropout_prob", "attn_pdrop", "embd_pdrop",
                "resid_pdrop", "attention_dropout", "hidden_dropout", "dropout", "dropout_rate"):
        small[key] = 0.0
    if "vocab_size" in small:
        small["vocab_size"] = 512
    for key in ("pad_token_id", "bos_token_id", "eos_token_id"):
        small[key] = 0
    # per-layer lists have to be as long as the model is deep
    if isinstance(small.get("layer_types"), list):
        small["layer_types"] = small["layer_types"][:layers]
    small.pop("architectures", None)
    small.pop("quantization_config", None)
    kind = small.pop("model_type")
    shape = transformers.AutoConfig.for_model(kind, **small)
    with torch.device("meta"):
        model = auto_class(kind).from_config(
            shape, attn_implementation=attention, dtype=torch.bfloat16)
    model.to_empty(device="cpu")
    for value in itertools.chain(model.parameters(), model.buffers()):
        torch.nn.init.zeros_(value)
    return model


def inputs_of(config):
    if config["model_type"] == "vit":
        size = config.get("image_size", 224)
        return {"pixel_values": torch.zeros((BATCH, 3, size, size), dtype=torch.bfloat16)}
    ids = torch.zeros((BATCH, LENGTH), dtype=torch.long)
    if config["model_type"] in ("t5", "bart"):
        return {"input_ids": ids, "decoder_input_ids": ids, "use_cache": False}
    if config["model_type"] in ("bert", "roberta"):
        return {"input_ids": ids}
    return {"input_ids": ids, "use_cache": False}


def saved_bytes(model, inputs):
    weights = {p.untyped_storage()._cdata
               for p in itertools.chain(model.parameters(), model.buffers())}
    seen = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in weights:
            seen[storage._cdata] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        hidden = model(**inputs)
    del hidden
    return sum(size for size, _ in seen.values())


def layer_bytes(config, attention, method, targets):
    """What the second layer adds; of an encoder-decoder, of one layer of each."""
    sizes = []
    for layers in (1, 2):
        model = build(config, layers, attention)
        model.train()
        if targets:
            model = peft.get_peft_model(
                model, peft.LoraConfig(r=RANK, target_modules=targets, lora_dropout=0.0))
        if method == "checkpointed":
            model.gradient_checkpointing_enable({"use_reentrant": True})
            model.enable_input_require_grads()
        sizes.append(saved_bytes(model, inputs_of(config)))
    return sizes[1] - sizes[0]


RESNETS = {"resnet-18": [64, 128, 256, 512], "resnet-34": [64, 128, 256, 512],
           "resnet-101": [256, 512, 1024, 2048], "resnet-152": [256, 512, 1024, 2048]}
YOLOS = ("yolov5n", "yolov5s", "yolov5m", "yolov5x")


def resnet_bytes(name):
    with open(os.path.join(CONFIGS, name + ".json"), encoding="utf-8") as file:
        config = json.load(file)
    kind = config.pop("model_type")
    config.pop("architectures", None)
    config["hidden_sizes"] = RESNETS[name]
    shape = transformers.AutoConfig.for_model(kind, **config)
    model = transformers.AutoModelForImageClassification.from_config(shape).train()
    return saved_bytes(model, {"pixel_values": torch.zeros((1, 3, 224, 224))})


def yolo_bytes(name):
    from ultralytics.nn.tasks import DetectionModel

    model = DetectionModel(name + ".yaml", verbose=False).train()
    detector = model.model[-1]

    class Inputs(torch.nn.Module):
        """Keeps its inputs, as convolutions would."""
        def __init__(self, like):
            super().__init__()
            self.i, self.f, self.type = like.i, like.f, like.type
            self.weight = torch.nn.Parameter(torch.ones(()))

        def forward(self, tensors):
            return [tensor * self.weight for tensor in tensors]

    model.model[-1] = Inputs(detector)
    return saved_bytes(model, {"x": torch.zeros((1, 3, 640, 640))})


def images():
    print("# torch %s, transformers %s; one image in fp32" %
          (torch.__version__, transformers.__version__))
    print("config,bytes")
    for name in RESNETS:
        print("%s,%d" % (name, resnet_bytes(name)), flush=True)
    for name in YOLOS:
        print("%s,%d" % (name, yolo_bytes(name)), flush=True)


def main():
    if sys.argv[1:] == ["--images"]:
        images()
        return
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    print("# torch %s, transformers %s, peft %s; batch %d, length %d, rank %d" %
          (torch.__version__, transformers.__version__, peft.__version__, BATCH, LENGTH, RANK))
    print("config,attention,method,bytes,why")
    for name in sys.argv[1:] or MODELS:
        path = os.path.join(CONFIGS, name + ".json")
        if not os.path.exists(path):
            print("no such config:", name, file=sys.stderr)
            continue
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        for attention in ("eager", "sdpa"):
            for method, targets in METHODS.items():
                try:
                    size = layer_bytes(config, attention, method, targets)
                except (RuntimeError, TypeError, AttributeError, KeyError, ValueError) as why:
                    print(name, attention, method, type(why).__name__, why, file=sys.stderr)
                    continue
                print("%s,%s,%s,%d," % (name, attention, method, size), flush=True)


if __name__ == "__main__":
    main()
