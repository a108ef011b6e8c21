#!/bin/sh
# Output that cannot be written is noticed: a full disk with a message, a reader that has gone away
# without one.
#   writing.sh PROGRAM
# shellcheck disable=SC2086 # a command is several words
set -u
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
	echo "$1"
	cat "$scratch/errors"
	exit 1
}

for command in "plan llama-2-7b" "plan llama-2-7b --json" "gpus --csv" "plan llama-2-7b --html -" "--help" "--version" \
	"help --man"; do
	"$program" $command >/dev/full 2>"$scratch/errors"
	[ $? -eq 2 ] || fail "$command >/dev/full: not status 2"
	grep -q 'standard output: cannot write: ' "$scratch/errors" ||
		fail "$command >/dev/full: no message"
	[ "$(wc -l <"$scratch/errors")" -eq 1 ] || fail "$command >/dev/full: not one line"
done

# Without a standard output a file is written all the same, and holds nothing else.
for command in "plan llama-2-7b -o" "compare llama-2-7b -o" "plan llama-2-7b --html" "gpus -o"; do
	"$program" $command "$scratch/with" >"$scratch/output" 2>"$scratch/errors"
	"$program" $command "$scratch/without" >&- 2>"$scratch/errors"
	case $command in
	*-o) [ ! -s "$scratch/errors" ] || fail "$command FILE >&-: a message" ;;
	*) grep -q 'standard output: cannot write: ' "$scratch/errors" || fail "$command FILE >&-: no message" ;;
	esac
	[ ! -e "$scratch/with" ] || cmp -s "$scratch/with" "$scratch/without" ||
		fail "$command FILE >&-: not the same file"
	rm -f "$scratch/with" "$scratch/without"
done

# A file's name drives no terminal either.
escape=$(printf '\033')
for command in "diagnose" "verify llama-2-7b"; do
	"$program" $command "$scratch/${escape}[31m" >/dev/null 2>"$scratch/errors"
	! grep -q "$escape" "$scratch/errors" || fail "$command: a name reaches the terminal as it is"
	grep -q 'expected a log' "$scratch/errors" || fail "$command: no message"
done

# A device is written into, not replaced by a file of its name; a link to it stands in for it here.
ln -s /dev/full "$scratch/device"
for command in "compare llama-2-7b -o" "check llama-2-7b --max-memory 80GB --quiet --junit" \
	"plan llama-2-7b --quiet --svg" "plan llama-2-7b --quiet --html"; do
	"$program" $command "$scratch/device" >/dev/null 2>"$scratch/errors"
	[ $? -eq 2 ] || fail "$command DEVICE: not status 2"
	grep -q 'device: cannot write: ' "$scratch/errors" || fail "$command DEVICE: no message"
	[ -c "$scratch/device" ] || fail "$command DEVICE: it was replaced"
done

# A disk that is full and a program that is stopped leave neither the file nor a part of it.
mkdir "$scratch/folder"
mkfifo "$scratch/in"
for command in "compare llama-2-7b" "plan llama-2-7b" "plan llama-2-7b --json" \
	"check llama-2-7b --gpu T4" "check llama-2-7b --gpu T4 --markdown" "schema" "import llama-2-7b"; do
	(
		trap '' XFSZ
		ulimit -f 0
		"$program" $command -o "$scratch/folder/out" 2>/dev/null
		[ $? -eq 2 ]
	) || fail "$command -o FILE, no room: not status 2"
	[ -z "$(ls "$scratch/folder")" ] || fail "$command -o FILE, no room: left $(ls "$scratch/folder")"
	"$program" $command -o "$scratch/folder/out" 2>"$scratch/errors"
	[ $? -le 1 ] || fail "$command -o FILE: status 2"
	"$program" $command >"$scratch/printed" 2>/dev/null
	cmp "$scratch/printed" "$scratch/folder/out" || fail "$command -o FILE: another text"
	rm "$scratch/folder/out"
done
for command in "plan -" "check - --gpu T4"; do
	"$program" $command -o "$scratch/folder/out" <"$scratch/in" &
	exec 3>"$scratch/in"
	while [ -z "$(ls "$scratch/folder")" ]; do
		sleep 0.1
	done
	kill -TERM $!
	wait $!
	exec 3>&-
	[ -z "$(ls "$scratch/folder")" ] || fail "$command, stopped: left $(ls "$scratch/folder")"
done

# The reader is gone before the program starts, and a signal is not what ends it.
mkfifo "$scratch/pipe"
for command in "plan llama-2-7b" "gpus --json"; do
	(
		trap '' PIPE
		exec 3<>"$scratch/pipe"
		exec 4>"$scratch/pipe"
		exec 3<&-
		"$program" $command >&4 2>"$scratch/errors"
		echo $? >"$scratch/status"
	)
	[ "$(cat "$scratch/status")" -ne 0 ] || fail "$command into a closed pipe: status 0"
	[ -s "$scratch/errors" ] && fail "$command into a closed pipe: not quiet"
done
exit 0
