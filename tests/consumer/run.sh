#!/bin/sh
# Installs a build to a scratch prefix and builds a program against it, with pkg-config and with
# find_package. run.sh BUILD_DIR
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cp "$here/main.c" "$here/CMakeLists.txt" "$scratch"
pc=$(find "$scratch/prefix" -name vramcalc.pc)
# The file names the prefix of the configured build; the copy here is somewhere else.
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$scratch/prefix" \
	--cflags --libs vramcalc)
# shellcheck disable=SC2086  # flags are words
${CC:-cc} -std=c11 -Wall -Wextra -Werror -o "$scratch/by-pkg-config" "$scratch/main.c" $flags
"$scratch/by-pkg-config"
if command -v c++ >/dev/null; then
	printf '#include <vramcalc/vramcalc.h>\nint main() { return vc_dtype_info(VC_DTYPE_FP16) == 0; }\n' \
		>"$scratch/main.cc"
	# shellcheck disable=SC2086
	c++ -Wall -Wextra -Werror -o "$scratch/by-c++" "$scratch/main.cc" $flags
	"$scratch/by-c++"
fi

cmake -S "$scratch" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/consumer"

for file in bin/vramcalc include/vramcalc/vramcalc.h share/man/man1/vramcalc.1 \
	share/bash-completion/completions/vramcalc share/zsh/site-functions/_vramcalc \
	share/fish/vendor_completions.d/vramcalc.fish; do
	[ -s "$scratch/prefix/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done
"$scratch/prefix/bin/vramcalc" --version >/dev/null
