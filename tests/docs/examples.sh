#!/bin/sh
# Runs every example that --help shows: each must end in 0 or 1 and complain of nothing.
#   examples.sh PROGRAM
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/vramcalc"
cp -R "$(dirname "$0")/files" "$scratch/work"
cd "$scratch/work"
export PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent

{
	vramcalc --help
	for command in $(vramcalc --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		vramcalc "$command" --help
	done
} | sed -n 's/^  \(vramcalc .*\)/\1/p' | sort -u >examples
[ "$(wc -l <examples)" -ge 10 ]

failed=0
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
