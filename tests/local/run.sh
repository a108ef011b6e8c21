#!/bin/sh
# This machine's GPUs by NVML, which a library of this test stands in for:
#   run.sh PROGRAM FOLDER-OF-THE-LIBRARY
# Each block of expected.txt is a scene and a command line, with what comes out and the exit status;
# UPDATE_GOLDEN=1 rewrites it.
set -eu
program=$1
export LD_LIBRARY_PATH="$2" LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent
unset NO_COLOR COLUMNS LC_CTYPE VRAMCALC_SYSFS || true
expected=$(dirname "$0")/expected.txt
got=$(mktemp)
trap 'rm -f "$got"' EXIT

sed -n 's/^\$ //p' "$expected" | while read -r scene line; do
	printf '$ %s %s\n' "$scene" "$line"
	status=0
	# shellcheck disable=SC2086 # a command line
	FAKE_NVML=$scene "$program" $line 2>&1 || status=$?
	echo "=> $status"
done >"$got"
if [ -n "${UPDATE_GOLDEN-}" ]; then
	cp "$got" "$expected"
else
	diff -u "$expected" "$got"
fi
