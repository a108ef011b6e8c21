#!/bin/sh
# A user's story: a repository with specs, a commit that doubles a sequence length, and the gate
# that fails, says why, and passes again when the growth is allowed.
#   run.sh PROGRAM
set -eu
here=$(cd "$(dirname "$0")" && pwd)
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
tr -s ' \n' ' ' <output | grep -q 'workload.sequence_length went from 32768 to 65536'
# 10^9 B are room for 7629 tokens more: so long it may be, and no longer
tr -s ' \n' ' ' <output | grep -q 'workload.sequence_length up to 40397 would pass'
sed -i 's/65536/40397/' specs/chat-32768.yaml
"$program" check specs --base git:HEAD --max-increase 1GB --quiet
sed -i 's/40397/40398/' specs/chat-32768.yaml
status=0
"$program" check specs --base git:HEAD --max-increase 1GB --quiet || status=$?
[ "$status" -eq 1 ]
sed -i 's/40398/65536/' specs/chat-32768.yaml
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
[ -z "$(find . -name 'report.*' ! -name report.xml)" ]
rmdir report

# the hook and the action of docs/ as a user copies them
docs=$(cd "$here/../../docs" && pwd)
mkdir bin
ln -s "$program" bin/vramcalc
PATH=$PWD/bin:$PATH
export PATH
cat >vram-policy.yaml <<EOF
rules:
  - {name: fits an A100, gpu: A100-80GB}
  - {name: no silent growth, max_increase: 1GB}
EOF
install -m 755 "$docs/pre-commit" .git/hooks/pre-commit
git add specs
status=0
git commit -q -m "Twice as long" >hook 2>&1 || status=$?
cat hook
[ "$status" -ne 0 ]
grep -q "no silent growth" hook
git checkout -q HEAD -- specs
sed -n '/^      run: |/,$s/^        //p' "$docs/action.yml" >step.sh
sed -i 's/sequence_length: 32768/sequence_length: 65536/' specs/chat-32768.yaml
status=0
VRAMCALC=vramcalc SPECS=specs ARGUMENTS="--policy vram-policy.yaml" BASE=HEAD MAX_INCREASE=1GB \
	GITHUB_STEP_SUMMARY=$PWD/summary sh step.sh >annotations || status=$?
[ "$status" -eq 1 ]
grep -q '^::error file=specs/chat-32768.yaml' annotations
grep -q '^### GPU memory: some checks failed' summary
git checkout -q HEAD -- specs
VRAMCALC=vramcalc SPECS=specs ARGUMENTS="--policy vram-policy.yaml" BASE=HEAD MAX_INCREASE=1GB \
	GITHUB_STEP_SUMMARY='' sh step.sh
echo "the gate holds"
