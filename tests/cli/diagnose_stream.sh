#!/bin/sh
# `diagnose` in little memory: a long line, many lines, a FIFO whose writer comes late.
#   diagnose_stream.sh PROGRAM
set -eu
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

message='torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.87 GiB. GPU 0 has a total capacity of 39.39 GiB of which 19.75 MiB is free. Of the allocated memory 38.10 GiB is allocated by PyTorch, and 310.20 MiB is reserved by PyTorch but unallocated.'

# answer FILE: the cause, found within 32 MiB of address space
answer() {
	(
		# shellcheck disable=SC3045  # dash and bash have it
		ulimit -v 32768
		"$program" diagnose "$1" --json
	) | grep -q '"cause": "capacity"' || {
		echo "$1: not found"
		exit 1
	}
}

# 100 MB without a line end, then the message
{
	head -c 100000000 /dev/zero | tr '\0' x
	echo " $message"
} | answer -

# 2,000,000 lines around it
{
	echo "$message"
	yes 'step 1 loss 2.31 {"a": [1, 2' | head -n 2000000
} | answer -

mkfifo "$scratch/fifo"
{
	sleep 0.2
	echo "$message"
} >"$scratch/fifo" &
answer "$scratch/fifo"
wait
