#!/bin/sh
# The picture that README.md shows is what the program draws now; with UPDATE_GOLDEN set it is drawn
# again.
#   picture.sh PROGRAM FILE.svg
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
XDG_CONFIG_HOME=/nonexistent "$1" plan llama-3.1-8b --engine vllm --method detailed --concurrency 16 \
	--gpu T4 --gpu L4 --gpu A10 --gpu A100-40GB-SXM --quiet --svg "$scratch/picture.svg"
if [ -n "${UPDATE_GOLDEN-}" ]; then
	cp "$scratch/picture.svg" "$2"
else
	cmp "$2" "$scratch/picture.svg"
fi
