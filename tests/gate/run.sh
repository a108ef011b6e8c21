#!/bin/sh
# A user's story: a repository with specs, a commit that doubles a sequence length, and the gate
# that fails, says why, and passes again when the growth is allowed.
#   run.sh PROGRAM
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null XDG_CONFIG_HOME=/nonexistent LC_ALL=C.UTF-8
git init -q .
git config user.email somebody@example.org
git config user.name Somebody
mkdir specs
for length in 1024 2048 4096 8192 16384 32768; do
	cat >specs/chat-$length.yaml <<EOF
model:
  architecture: {model_type: llama, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,
    num_key_value_heads: 8, intermediate_size: 14336, vocab_size: 128256}
workload: {sequence_length: $length}
EOF
done
git add specs
git commit -q -m "Six specs"
"$program" check specs --base git:HEAD --gpu A100-80GB
sed -i 's/sequence_length: 32768/sequence_length: 65536/' specs/chat-32768.yaml
status=0
"$program" check specs --base git:HEAD --max-increase 1GB --junit report.xml >output || status=$?
cat output
[ "$status" -eq 1 ]
# 2 x 32768 more tokens' worth: 131,072 B a token, 4.29 GB to 8.59 GB of cache
grep -q '^FAIL  specs/chat-32768.yaml' output
tr '\n' ' ' <output | grep -q 'workload.sequence_length went from 32768 *to 65536'
[ "$(grep -c '<failure' report.xml)" -eq 1 ]
[ "$(grep -c '<testcase' report.xml)" -eq 6 ]
"$program" check specs --base git:HEAD --max-increase 5GB --quiet
status=0
"$program" check specs --base git:no-such-revision >/dev/null 2>errors || status=$?
[ "$status" -eq 2 ]
grep -q 'git does not have it' errors
# what cannot be written leaves nothing behind
mkdir report
status=0
"$program" check specs --max-memory 80GB --junit report >/dev/null 2>errors || status=$?
[ "$status" -eq 2 ]
[ -z "$(find . -name '*.tmp')" ]
echo "the gate holds"
