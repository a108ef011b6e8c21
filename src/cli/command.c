/* Every command of the program, in the order in which --help lists them. */
#include "commands.h"
#include "option.h"

static const struct example plan_examples[] = {
	{ "vramcalc plan llama-2-7b", "a bundled model, one request of 4096 tokens" },
	{ "vramcalc plan model.yaml", "your own spec" },
	{ "vramcalc plan llama-2-70b --quantization int4 --concurrency 8",
	  "4-bit weights, eight requests at once" },
	{ "vramcalc plan llama-2-7b --task training --precision bf16 --gpu A100",
	  "full fine-tuning; does it fit an A100?" },
	{ "vramcalc plan llama-2-70b --gpu A100-80GB-SXM --layouts",
	  "every way to lay it out on several GPUs, and why not" },
	{ "vramcalc plan llama-2-70b --instances --cloud aws",
	  "which instances hold it, and what they cost" },
	{ "vramcalc plan llama-2-7b --mig --gpu H100", "which MIG slices hold it" },
	{ "vramcalc plan llama-2-7b --explain", "with every formula and its numbers" },
	{ "vramcalc plan llama-2-7b --json", "for programs" },
	{ NULL, NULL },
};

static const struct example check_examples[] = {
	{ "vramcalc check model.yaml --gpu A100-40GB", "does it fit? the exit status says" },
	{ "vramcalc check model.yaml --max-memory 24GB --markdown",
	  "a comment for a pull request" },
	{ "vramcalc check small.yaml --base model.yaml --max-increase 5%",
	  "has it grown by more than 5 %?" },
	{ NULL, NULL },
};

static const struct example diff_examples[] = {
	{ "vramcalc diff small.yaml model.yaml", "what is the difference, and why?" },
	{ NULL, NULL },
};

static const struct example pack_examples[] = {
	{ "vramcalc pack llama-2-7b:3 bert-base --gpu a100-80gb-sxm",
	  "three servers and an encoder that share GPUs" },
	{ "vramcalc pack llama-2-13b llama-2-7b:2 --gpu a100-80gb-sxm --mig", "in slices" },
	{ NULL, NULL },
};

static const struct example solve_examples[] = {
	{ "vramcalc solve llama-2-7b --gpu A10 --for sequence_length",
	  "how long may a request be on an A10?" },
	{ "vramcalc solve llama-2-7b --gpu a100-80gb-sxm --for concurrency",
	  "how many requests of 4096 tokens at once?" },
	{ NULL, NULL },
};

static const struct example advise_examples[] = {
	{ "vramcalc advise llama-2-7b --task training --gpu a100-40gb-sxm",
	  "full fine-tuning does not fit 40 GB: what would?" },
	{ "vramcalc advise bloomz-7b --task training --gpu A10 --gpus 4", "on four A10" },
	{ NULL, NULL },
};

static const struct example diagnose_examples[] = {
	{ "vramcalc diagnose train.log", "a log that ends in an out-of-memory message" },
	{ "vramcalc diagnose - --spec model.yaml < error.txt",
	  "the message alone, and the job that it is about" },
	{ NULL, NULL },
};

static const struct example verify_examples[] = {
	{ "vramcalc verify llama-3-8b vllm-start.log --gpu h100-80gb-sxm",
	  "what was said, what vLLM logged, and why they differ" },
	{ "vramcalc verify llama-3-8b - --gpu h100-80gb-sxm --json < vllm-start.log",
	  "for a program" },
	{ NULL, NULL },
};

static const struct example compare_examples[] = {
	{ "vramcalc compare llama-2-7b llama-2-13b llama-2-70b", "one row each" },
	{ "vramcalc compare llama-2-7b --vary workload.batch_size=1..64*2 --gpu A100-40GB",
	  "up to which batch does it fit?" },
	{ "vramcalc compare llama-2-7b --vary workload.precision=fp16,int8,int4 "
	  "--vary workload.sequence_length=4Ki,32Ki --csv",
	  "all combinations, for a spreadsheet" },
	{ NULL, NULL },
};

static const struct example gpus_examples[] = {
	{ "vramcalc gpus", "the whole catalog" },
	{ "vramcalc gpus A100 H100", "all sizes of two families" },
	{ "vramcalc gpus --csv", "for a spreadsheet" },
	{ NULL, NULL },
};

static const struct example models_examples[] = {
	{ "vramcalc models", "what plan takes by name" },
	{ "vramcalc models llama-2", "those that have llama-2 in their name" },
	{ NULL, NULL },
};

static const struct example import_examples[] = {
	{ "vramcalc import llama-2-7b", "a bundled model's spec, to be changed" },
	{ "vramcalc import config.json", "a spec of your own model" },
	{ NULL, NULL },
};

static const struct example offers_examples[] = {
	{ "vramcalc offers --gpu A10", "who rents it, the cheapest GPU first" },
	{ "vramcalc offers --spot --max-price 2", "spot instances up to $2 an hour" },
	{ NULL, NULL },
};

static const struct example platforms_examples[] = {
	{ "vramcalc platforms", "five platforms over six criteria" },
	{ "vramcalc platforms --weights memory=3,billing=1", "ranked by what matters to you" },
	{ "vramcalc platforms --slicing mig --explain", "with the evidence" },
	{ NULL, NULL },
};

static const struct example engines_examples[] = {
	{ "vramcalc engines", "engines, and the versions that are modelled" },
	{ NULL, NULL },
};

static const struct example precisions_examples[] = {
	{ "vramcalc precisions", "element types and quantizations" },
	{ NULL, NULL },
};

static const struct example schema_examples[] = {
	{ "vramcalc schema", "of the spec, for editors" },
	{ "vramcalc schema plan", "of what plan --json prints" },
	{ NULL, NULL },
};

static const struct example help_examples[] = {
	{ "vramcalc help plan", "the same as vramcalc plan --help" },
	{ "vramcalc help --completion bash", "a script for ~/.bash_completion" },
	{ NULL, NULL },
};

const struct example program_examples[] = {
	{ "vramcalc plan llama-2-7b", "how much memory, and which GPUs hold it" },
	{ "vramcalc plan model.yaml --explain", "your own spec, with every formula" },
	{ "vramcalc gpus A100", "what the catalog knows of a GPU" },
	{ NULL, NULL },
};

enum {
	ANY_NUMBER = 1 << 30
};

const struct command command_table[] = {
	{ .name = "plan",
	  .bit = ON_PLAN,
	  .run = plan_command,
	  .operands = "SPEC...",
	  .least = 1,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_MODELS,
	  .summary = "estimate a job's GPU memory and rank the GPUs that hold it",
	  .description =
	          "A SPEC is a YAML or JSON file that describes the model and the workload, a "
	          "Hugging Face config.json or the folder that holds one, the name of a bundled "
	          "model (vramcalc models lists them), or - for standard input. The estimate is "
	          "shown line by line, with the memory to look for and the GPUs that offer it, the "
	          "cheapest first. The exit status is 0 when a listed GPU holds the job, 1 when "
	          "none "
	          "does, 2 when the command line or a spec is wrong.",
	  .examples = plan_examples },
	{ .name = "compare",
	  .bit = ON_COMPARE,
	  .run = compare_command,
	  .operands = "SPEC...",
	  .least = 1,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_MODELS,
	  .summary = "print one row per spec and combination of varied fields",
	  .description =
	          "A SPEC is what plan takes; a folder without a config.json stands for the .yaml, "
	          ".yml and .json files in it, a pattern such as 'specs/*.yaml' for what it "
	          "matches, "
	          "and - for standard input with one spec in JSON per line. --gpu adds a column "
	          "that "
	          "tells whether it fits; the detailed estimate is for the first of those GPUs. "
	          "--json and --csv print each row as soon as it is ready. A spec that is wrong is "
	          "reported in its row, and the exit status is 2 in the end.",
	  .examples = compare_examples },
	{ .name = "check",
	  .bit = ON_CHECK,
	  .run = check_command,
	  .operands = "SPEC...",
	  .least = 1,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_MODELS,
	  .summary = "fail what does not fit or has grown: the gate for CI",
	  .description =
	          "Holds each spec against the GPUs that --gpu or the spec names (all of "
	          "them, one GPU of each unless --max-gpus or the spec allows more), against "
	          "--max-memory and --max-price, and against an earlier version of itself. A "
	          "folder stands for the specs in it. The exit status is 0 when everything "
	          "passes, 1 when something fails, 2 when an input is wrong.",
	  .examples = check_examples },
	{ .name = "diff",
	  .bit = ON_DIFF,
	  .run = diff_command,
	  .operands = "OLD NEW",
	  .least = 2,
	  .most = 2,
	  .completion = COMPLETE_FILES,
	  .summary = "show two versions of a spec side by side, and why memory changed",
	  .description = "Compares the two ledgers component by component and names the fields "
	                 "that differ. OLD is a spec, a folder that holds a file of NEW's name, or "
	                 "git:REV for NEW as it was in that revision.",
	  .examples = diff_examples },
	{ .name = "pack",
	  .bit = ON_PACK,
	  .run = pack_command,
	  .operands = "SPEC[:N]...",
	  .least = 1,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_MODELS,
	  .summary = "put several jobs on the cheapest or fewest GPUs or MIG slices",
	  .description =
	          "Each SPEC is a job, SPEC:N is N of them. Jobs share GPUs as processes, or "
	          "with --mig each gets an instance of its own, placed as the driver allows. "
	          "The cheapest kind of GPU is chosen, or with --sort memory the one that "
	          "takes fewest. The exit status is 1 when a job fits nowhere.",
	  .examples = pack_examples },
	{ .name = "solve",
	  .bit = ON_SOLVE,
	  .run = solve_command,
	  .operands = "SPEC",
	  .least = 1,
	  .most = 1,
	  .completion = COMPLETE_MODELS,
	  .summary = "find the largest batch, length or concurrency that fits a GPU",
	  .description = "Searches the estimate for the last value that still fits, and shows what "
	                 "one more would need. The exit status is 1 when not even the smallest "
	                 "value fits.",
	  .examples = solve_examples },
	{ .name = "advise",
	  .bit = ON_ADVISE,
	  .run = advise_command,
	  .operands = "SPEC",
	  .least = 1,
	  .most = 1,
	  .completion = COMPLETE_MODELS,
	  .summary = "say which few changes make a job fit a GPU",
	  .description =
	          "Tries the usual measures alone and together, from a smaller batch to more "
	          "GPUs, and lists the plans that fit, the easiest first, with what each "
	          "step saves here, what it costs, and the field to set. The exit status is "
	          "0 when the job fits as it is or some plan makes it fit, 1 when none does.",
	  .examples = advise_examples },
	{ .name = "diagnose",
	  .bit = ON_DIAGNOSE,
	  .run = diagnose_command,
	  .operands = "FILE...",
	  .least = 1,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_FILES,
	  .summary = "tell why memory ran out, from an error message or a log",
	  .description =
	          "Reads out-of-memory messages of PyTorch, JAX, TensorFlow, vLLM, SGLang, TGI, "
	          "llama.cpp, CUDA and the host, torch.cuda.memory_summary(), memory "
	          "statistics and snapshots as JSON, and nvidia-smi's tables, CSV logs and "
	          "monitors, in any mixture and with anything between them, and says whether "
	          "it is capacity, fragmentation, a leak or another process, how sure that "
	          "is, and what to set. With --spec it shows which changes make the job fit. - "
	          "is standard input.",
	  .examples = diagnose_examples },
	{ .name = "verify",
	  .bit = ON_VERIFY,
	  .run = verify_command,
	  .operands = "SPEC LOG...",
	  .least = 2,
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_FILES,
	  .summary = "hold an estimate against what a run's log says",
	  .description =
	          "Reads the start-up log of vLLM, SGLang or llama.cpp, "
	          "torch.cuda.memory_summary(), memory statistics as JSON, or nvidia-smi's CSV, "
	          "and shows component by component what the detailed method says, what was "
	          "measured, and what explains the gap. Several logs are of one run. What the "
	          "spec leaves open is taken from the log; where they contradict each other is "
	          "named. The exit status is 0 when the figures lie in the estimate's range, 1 "
	          "when one does not.",
	  .examples = verify_examples },
	{ .name = "gpus",
	  .bit = ON_GPUS,
	  .run = gpus_command,
	  .operands = "[GPU...]",
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_GPUS,
	  .summary = "list the catalog of GPUs",
	  .description =
	          "Shows the marketed size, what the driver reports, what a process can use, the "
	          "links, and the cheapest on-demand hour that is known, with its date. A GPU is "
	          "named by its id, an alias, or a family (A100) for all its sizes. --local lists "
	          "the GPUs of this machine instead, with what is free of them: NVIDIA's by NVML, "
	          "AMD's by sysfs. Elsewhere --gpu local means all of them, --gpu local-0 the "
	          "first; what is free counts.",
	  .examples = gpus_examples },
	{ .name = "models",
	  .bit = ON_MODELS,
	  .run = models_command,
	  .operands = "[WORD...]",
	  .most = ANY_NUMBER,
	  .completion = COMPLETE_MODELS,
	  .summary = "list the bundled models",
	  .description = "Their names are taken wherever a SPEC is. A WORD lists those whose name "
	                 "contains it, or whose family it is.",
	  .examples = models_examples },
	{ .name = "import",
	  .bit = ON_IMPORT,
	  .run = import_command,
	  .operands = "SOURCE",
	  .least = 1,
	  .most = 1,
	  .completion = COMPLETE_MODELS,
	  .summary = "write a commented spec from a model's own files",
	  .description = "SOURCE is a Hugging Face config.json or the folder that holds one, a "
	                 "weight file, or the name of a bundled model. The spec goes to standard "
	                 "output; planned as it is, it gives what SOURCE itself gives.",
	  .examples = import_examples },
	{ .name = "offers",
	  .bit = ON_OFFERS,
	  .run = offers_command,
	  .operands = "",
	  .summary = "list instance types with GPUs and their prices",
	  .description =
	          "Prices are of the whole instance for an hour, and of one of its GPUs. What is "
	          "not known is empty; no price is made up and no currency converted: each "
	          "currency is ranked by itself, the cheapest GPU first.",
	  .examples = offers_examples },
	{ .name = "platforms",
	  .bit = ON_PLATFORMS,
	  .run = platforms_command,
	  .operands = "",
	  .summary = "compare rental platforms by six criteria of a decision matrix",
	  .description =
	          "Scores from 0 to 1 stand for documented facts; what is not known is left "
	          "empty and leaves a weighted sum. Nothing is ranked without --weights, which "
	          "are yours: a criterion that is not named has none.",
	  .examples = platforms_examples },
	{ .name = "engines",
	  .bit = ON_ENGINES,
	  .run = engines_command,
	  .operands = "",
	  .summary = "list the engines that the detailed method knows",
	  .description = "Where an engine changed between versions, --engine-version decides; the "
	                 "newest one that is modelled is the default.",
	  .examples = engines_examples },
	{ .name = "precisions",
	  .bit = ON_PRECISIONS,
	  .run = precisions_command,
	  .operands = "",
	  .summary = "list element types and quantizations",
	  .description = "Shows the bytes per element of each, scales included, and which "
	                 "field of a spec takes it.",
	  .examples = precisions_examples },
	{ .name = "schema",
	  .bit = ON_SCHEMA,
	  .run = schema_command,
	  .operands = "[NAME]",
	  .most = 1,
	  .summary = "print a JSON Schema of the spec or of an output",
	  .description = "Of the spec when no name is given; an editor that is pointed to the file "
	                 "completes and checks fields. NAME is spec or a command whose --json "
	                 "output is meant.",
	  .examples = schema_examples },
	{ .name = "help",
	  .bit = ON_HELP,
	  .run = help_command,
	  .operands = "[COMMAND]",
	  .most = 1,
	  .completion = COMPLETE_COMMANDS,
	  .summary = "explain a command; print the manual page or completions",
	  .description = "",
	  .examples = help_examples },
	{ .name = NULL },
};
