#!/bin/sh
# verify --calibrate, and what --calibration makes of it:
#   calibrate.sh PROGRAM DATA
set -eu
program=$1
data=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent
file=$scratch/runs.yaml

fail() {
	echo "$1"
	exit 1
}
measured() {
	grep -c '^- ' "$file"
}
"$program" verify phi-4 "$data/vllm-0.6.4-phi-4-gptq.log" --gpu a100-80gb-sxm --calibrate "$file" >"$scratch/out"
[ "$(measured)" = 4 ] || fail "weights, activations, framework and graphs are four figures"
"$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --calibrate "$file" >"$scratch/out"
[ "$(measured)" = 8 ] || fail "a second run adds its four"
cp "$file" "$scratch/before"
"$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --calibrate "$file" >"$scratch/out"
cmp -s "$file" "$scratch/before" || fail "the same run twice is one measurement"
[ "$(find "$scratch" -name 'runs*' | wc -l)" = 1 ] || fail "something temporary was left"

# What is refused leaves the file as it is.
status=0
"$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --gpu-memory-utilization 0.5 \
	--calibrate "$file" >"$scratch/out" 2>"$scratch/errors" || status=$?
[ "$status" = 2 ] || fail "a contradiction is no measurement"
grep -q 'gpu_memory_utilization 0.5 and the log 0.92' "$scratch/errors" || fail "it is named"
cmp -s "$file" "$scratch/before" || fail "nothing is written then"
echo '- {engine: vllm}' >>"$scratch/broken.yaml"
status=0
"$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --calibrate "$scratch/broken.yaml" \
	>"$scratch/out" 2>"$scratch/errors" || status=$?
[ "$status" = 2 ] || fail "a broken file is not written over"
[ "$(cat "$scratch/broken.yaml")" = '- {engine: vllm}' ] || fail "it is kept"

# Weights were 1.00188 and 1.00075 of what was said, so 1.0013 is expected of them.
"$program" plan llama-3-8b --engine vllm --gpu a100-80gb-sxm --method detailed --json \
	--calibration "$file" >"$scratch/json"
grep -q '"code": "calibrated"' "$scratch/json" || fail "a note says so"
grep -q '"formula": "said × residual"' "$scratch/json" || fail "the formula says so"
for command in check solve advise; do
	"$program" "$command" llama-3-8b --engine vllm --gpu a100-80gb-sxm --method detailed \
		--calibration "$file" >"$scratch/with" 2>"$scratch/stated"
	grep -q 'detailed method of vllm is shifted by 8 own measurements' "$scratch/stated" || fail "$command does not state it"
	"$program" "$command" llama-3-8b --engine vllm --gpu a100-80gb-sxm --method detailed \
		>"$scratch/without"
	[ "$command" = advise ] || ! cmp -s "$scratch/with" "$scratch/without" ||
		fail "$command is not shifted"
done
# no run of that engine: nothing is said of it
"$program" plan llama-3-8b --engine sglang --gpu a100-80gb-sxm --method detailed --json \
	--calibration "$file" >"$scratch/json"
! grep -q '"code": "calibrated"' "$scratch/json" || fail "another engine is left alone"
grep -q '"code": "calibration-unused"' "$scratch/json" || fail "it is not said that nothing is shifted"

# A file of another version, without a measurement, and what is no file: each named, none touched.
refused() {
	cp "$scratch/odd.yaml" "$scratch/before"
	status=0
	"$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --calibrate "$scratch/odd.yaml" \
		>"$scratch/out" 2>"$scratch/errors" || status=$?
	[ "$status" = 2 ] || fail "$1 is taken"
	grep -q "$1" "$scratch/errors" || fail "it is not said: $1"
	cmp -s "$scratch/odd.yaml" "$scratch/before" || fail "$1 is written over"
}
printf 'version: 1\nmeasurements: []\n' >"$scratch/odd.yaml"
refused 'odd.yaml:2:15: measurements: is an empty list (at least one entry is expected)'
sed 's/version: 1/version: 2/' "$file" >"$scratch/odd.yaml"
refused 'odd.yaml:3:10: version: is not known here (version 1 is expected)'
status=0
(cd "$scratch" && "$program" verify llama-3.1-8b "$data/vllm-0.31-a100.log" --calibrate -) \
	>"$scratch/out" 2>"$scratch/errors" || status=$?
[ "$status" = 2 ] || fail "- is taken for a file"
[ ! -e "$scratch/-" ] || fail "- is written as a file"
