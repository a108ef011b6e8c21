#!/bin/sh
# `compare -` as a stream: rows leave before the input ends, threads change nothing, a reader that
# goes away ends it quietly, and --output leaves nothing half written.
#   streaming.sh PROGRAM
set -u
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
	echo "$1"
	exit 1
}

# A row comes out while the input is still open.
for jobs in 1 3; do
	rm -f "$scratch/in" "$scratch/out"
	mkfifo "$scratch/in" "$scratch/out"
	"$program" compare - --json --jobs $jobs <"$scratch/in" >"$scratch/out" &
	exec 3>"$scratch/in" 4<"$scratch/out"
	for params in 7B 70B; do
		echo "{\"model\": {\"params\": \"$params\"}}" >&3
		read -r row <&4 || fail "jobs $jobs: no row"
		case $row in
		*'"recommended_bytes": '*) ;;
		*) fail "jobs $jobs: $row" ;;
		esac
	done
	exec 3>&- 4<&-
	wait $! || fail "jobs $jobs: status $?"
done

# Any number of threads writes the same, errors in their places included.
i=0
while [ $i -lt 3000 ]; do
	i=$((i + 1))
	case $((i % 7)) in
	0) echo "{\"model\": {\"params\": \"${i}Q\"}}" ;;
	1) echo ;;
	2) echo "{\"model\": {\"architecture\": {\"model_type\": \"llama\", \"hidden_size\": 1024,
		\"num_hidden_layers\": $((i % 90 + 1)), \"num_attention_heads\": 16,
		\"intermediate_size\": 4096, \"vocab_size\": 1000}}}" | tr -d '\n\t' && echo ;;
	*) echo "{\"model\": {\"params\": \"${i}M\"}, \"workload\": {\"batch_size\": $i}}" ;;
	esac
done >"$scratch/specs"
for format in json csv; do
	"$program" compare - --$format --gpu T4 <"$scratch/specs" >"$scratch/one" 2>"$scratch/one.err"
	[ $? -eq 2 ] || fail "$format: not status 2"
	"$program" compare - --$format --gpu T4 --jobs 4 <"$scratch/specs" >"$scratch/four" \
		2>"$scratch/four.err"
	[ $? -eq 2 ] || fail "$format, four jobs: not status 2"
	cmp "$scratch/one" "$scratch/four" || fail "$format: four jobs differ"
	cmp "$scratch/one.err" "$scratch/four.err" || fail "$format: four jobs complain otherwise"
	[ "$(wc -l <"$scratch/one")" -ge 2571 ] || fail "$format: rows are missing"
done

# A mistake in a file that a line names is at that file's line; one of the line at the stream's.
printf '{\n "model_type": "llama",\n "hidden_size": -4\n}\n' >"$scratch/wrong.json"
printf '{"model": {"config": "%s"}}\n{"model": {"config": "%s"}}\n{"model": {"params": "7Q"}}\n' \
	"$scratch/wrong.json" "$scratch/wrong.json" >"$scratch/named"
"$program" compare - --json <"$scratch/named" >"$scratch/one"
[ "$(grep -c 'wrong.json", "line": 3, "column": 17,' "$scratch/one")" -eq 2 ] || fail "model.config: wrong lines"
grep -q '"file": "-", "line": 3, "column": 22,' "$scratch/one" || fail "model.params: wrong line"

# A reader that has seen enough.
"$program" compare - --json <"$scratch/specs" 2>"$scratch/errors" | head -n 1 >/dev/null
[ -s "$scratch/errors" ] && fail "a closed pipe is not quiet"

# Stopped half-way: neither the file nor what was to become it.
mkdir "$scratch/folder"
mkfifo "$scratch/open"
"$program" compare - --csv --output "$scratch/folder/rows.csv" <"$scratch/open" &
exec 3>"$scratch/open"
echo '{"model": {"params": "7B"}}' >&3
while [ -z "$(ls "$scratch/folder")" ]; do
	sleep 0.1
done
[ -e "$scratch/folder/rows.csv" ] && fail "the file has its name too early"
kill -TERM $!
wait $!
exec 3>&-
[ -z "$(ls "$scratch/folder")" ] || fail "left behind: $(ls "$scratch/folder")"

"$program" compare llama-2-7b --csv --output "$scratch/folder/rows.csv" || fail "--output: status $?"
[ "$(wc -l <"$scratch/folder/rows.csv")" -eq 2 ] || fail "--output: wrong rows"
exit 0
