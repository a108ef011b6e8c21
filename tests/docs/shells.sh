#!/bin/sh
# The manual page and the completions as far as the shells on this machine can judge them:
#   shells.sh PROGRAM
set -eu
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8

has() {
	command -v "$1" >/dev/null || { echo "no $1 here: not checked"; return 1; }
}

# expect WORD LIST: one of the lines is the word
expect() {
	echo "$2" | grep -qx -- "$1" || { echo "$3: $1 is not offered among: $2"; exit 1; }
}

"$program" help --man >"$scratch/vramcalc.1"
if has mandoc; then
	mandoc -Tlint -Wstyle "$scratch/vramcalc.1"
fi

"$program" help --completion bash >"$scratch/vramcalc.bash"
if has bash; then
	complete_bash() {
		bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vramcalc
			printf "%s\n" "${COMPREPLY[@]}"' "$scratch/vramcalc.bash" "$@"
	}
	expect plan "$(complete_bash vramcalc pl)" bash
	expect --json "$(complete_bash vramcalc plan --js)" bash
	expect bf16 "$(complete_bash vramcalc plan --precision b)" bash
	expect GiB "$(complete_bash vramcalc plan -u G)" bash
	expect GiB "$(complete_bash vramcalc plan --unit = G)" bash
	expect llama-2-7b "$(complete_bash vramcalc plan lla)" bash
	expect t4 "$(complete_bash vramcalc plan --gpu t)" bash
fi

"$program" help --completion zsh >"$scratch/_vramcalc"
if has zsh; then
	zsh -n "$scratch/_vramcalc"
fi

"$program" help --completion fish >"$scratch/vramcalc.fish"
if has fish; then
	complete_fish() {
		HOME=$scratch fish --no-config -c \
			"source $scratch/vramcalc.fish; complete -C '$1'" | cut -f 1
	}
	expect plan "$(complete_fish 'vramcalc pl')" fish
	expect --json "$(complete_fish 'vramcalc plan --js')" fish
	expect bf16 "$(complete_fish 'vramcalc plan --precision b')" fish
	expect llama-2-7b "$(complete_fish 'vramcalc plan lla')" fish
	expect t4 "$(complete_fish 'vramcalc plan --gpu t')" fish
fi
