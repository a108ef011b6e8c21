#!/bin/sh
# Installs what is missing, builds vramcalc and runs it with the arguments given:
#     sh src/run.sh plan models/llama-2-7b.yaml
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/src/packages.sh"

need_packages src/run.sh gcc libc6-dev cmake ninja-build pkg-config \
	libyaml-dev libcyaml-dev libcjson-dev libsmartcols-dev

build=$top/build/release
log=$top/build/release.log
mkdir -p "$build"
if [ ! -f "$build/build.ninja" ]; then
	echo "src/run.sh: building (a minute at most)" >&2
	cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
		>"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
cmake --build "$build" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
exec "$build/vramcalc" "$@"
