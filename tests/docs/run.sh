#!/bin/sh
# Runs the command lines of a document and compares what it shows with what comes out:
#   run.sh PROGRAM DOCUMENT.md
# A command line is a line "$ ..." of a ```console block; what follows it is its output. With
# UPDATE_GOLDEN set the document is rewritten instead. Commands run where the files of
# tests/docs/files lie.
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
document=$2
files=$(cd "$(dirname "$0")" && pwd)/files
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/work"
ln -s "$program" "$scratch/bin/vramcalc"
cp -R "$files/." "$scratch/work"

run() {
	(
		cd "$scratch/work"
		unset NO_COLOR COLUMNS LC_CTYPE
		export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent PATH="$scratch/bin:$PATH"
		sh -c "$1" 2>&1 </dev/null
	) >"$scratch/output" || true
	# what ends without a newline would swallow the line behind it
	awk 1 "$scratch/output"
}

in_block=no
while IFS= read -r line || [ -n "$line" ]; do
	case $in_block:$line in
	no:'```console') in_block=yes ;;
	yes:'```') in_block=no ;;
	yes:'$ '*)
		printf '%s\n' "$line"
		run "${line#??}"
		continue
		;;
	yes:*) continue ;;
	esac
	printf '%s\n' "$line"
done <"$document" >"$scratch/document"

if [ -n "${UPDATE_GOLDEN-}" ]; then
	cp "$scratch/document" "$document"
else
	diff -u "$document" "$scratch/document"
fi
