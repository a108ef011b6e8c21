#!/bin/sh
# Runs every example that --help shows: each must end in 0 or 1 and complain of nothing. README.md and
# docs/cli.md must name every command.
#   examples.sh PROGRAM
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/vramcalc"
top=$(cd "$(dirname "$0")/../.." && pwd)
cp -R "$(dirname "$0")/files" "$scratch/work"
cd "$scratch/work"
export PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent

commands=$(vramcalc --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

{
	vramcalc --help
	for command in $commands; do
		vramcalc "$command" --help
	done
} | sed -n 's/^  \(vramcalc .*\)/\1/p' | sort -u >examples
[ "$(wc -l <examples)" -ge 10 ]

failed=0
for command in $commands; do
	for document in README.md docs/cli.md; do
		grep -q "\`$command\|^#.*\b$command\b" "$top/$document" || {
			echo "$document does not name the command $command"
			failed=1
		}
	done
done
while read -r line; do
	status=0
	sh -c "$line" >output 2>errors </dev/null || status=$?
	if [ "$status" -gt 1 ] || [ -s errors ] || [ ! -s output ]; then
		echo "$line: status $status"
		cat errors
		failed=1
	fi
done <examples
exit "$failed"
