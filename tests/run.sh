#!/bin/sh
# Installs what is missing, then builds and checks everything there is. Ends with ctest's summary.
#     sh tests/run.sh
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. src/packages.sh

need_packages tests/run.sh gcc g++ libc6-dev cmake ninja-build pkg-config \
	libyaml-dev libcyaml-dev libcjson-dev libsmartcols-dev libcmocka-dev \
	clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev \
	cppcheck shellcheck mandoc valgrind ccache git python3-jsonschema python3-yaml \
	slurm-client slurmctld

started=$(date +%s)
failed=
jobs=$(nproc)
mkdir -p build

# step NAME COMMAND... : a heading, the time it took, its output where it fails.
step() {
	name=$1
	shift
	before=$(date +%s)
	if "$@" >"build/$name.log" 2>&1; then
		result=ok
	else
		result=FAILED
		failed="$failed $name"
	fi
	printf '%-10s %-6s %4d s\n' "$name" "$result" $(($(date +%s) - before))
	[ $result = ok ] || tail -n 60 "build/$name.log"
}

# configure DIR COMPILER FLAGS BUILD_TYPE
configure() {
	cmake -S . -B "build/$1" -G Ninja -DCMAKE_BUILD_TYPE="$4" -DCMAKE_C_COMPILER="$2" \
		-DCMAKE_C_FLAGS="$3" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
		-DCMAKE_C_COMPILER_LAUNCHER=ccache
}

sources() {
	find include src tests -name '*.[ch]' | sort
}

with_gcc() {
	configure gcc gcc '' Release && cmake --build build/gcc
}

# clang's own warnings and the sanitizers share one build.
with_clang() {
	configure clang clang-14 \
		'-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' Debug &&
		cmake --build build/clang &&
		ctest --test-dir build/clang -j "$jobs" -LE 'slow|once' --output-on-failure
}

# Unit tests directly, golden runs through the same test with valgrind before the program.
# shellcheck disable=SC2016  # $0 is the inner shell's
with_valgrind() {
	mkdir -p build/valgrind
	find build/gcc/tests -maxdepth 1 -name 'test_*' -type f | sort |
		xargs -P "$jobs" -n 1 sh -c \
			'log=build/valgrind/$(basename "$0")
			valgrind -q --leak-check=full --error-exitcode=99 "$0" >"$log" 2>&1 ||
				{ cat "$log"; exit 255; }' &&
		VRAMCALC_UNDER='valgrind;-q;--leak-check=full;--error-exitcode=99' \
			ctest --test-dir build/gcc -j "$jobs" -R '^cli/' --output-on-failure
}

format() {
	sources | xargs clang-format-14 --dry-run -Werror
}

# Files whose text, headers and rules have passed before are not looked at again.
# shellcheck disable=SC2016  # $0 is the inner shell's
tidy() {
	mkdir -p build/tidy
	rules=$(sources | grep '\.h$' | xargs cat .clang-tidy CMakeLists.txt | cksum | tr -d ' ')
	for file in $(sources | grep '\.c$'); do
		stamp=build/tidy/$(cksum <"$file" | tr -d ' ')-$rules-$(echo "$file" | tr / -)
		[ -e "$stamp" ] || echo "$file $stamp"
	done | xargs -r -P "$jobs" -n 2 sh -c \
		'clang-tidy-14 --quiet -p build/clang "$0" 2>/dev/null && touch "$1"'
}

cppcheck_sources() {
	cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j "$jobs" \
		--enable=warning,performance,portability --suppress=missingIncludeSystem \
		--suppress=zerodivcond --suppress=uninitvar --suppress=memleak --suppress=duplicateAssignExpression \
		-I include -I src/core -I src/io -I src/cli src
}

scripts() {
	find src tests -name '*.sh' -exec shellcheck -x {} + && shellcheck .ci/run
}

step gcc with_gcc
step format format
step scripts scripts
step cppcheck cppcheck_sources
step sanitizers with_clang
step tidy tidy
step valgrind with_valgrind
echo "the tests of the gcc build:"
ctest --test-dir build/gcc -j "$jobs" --output-on-failure >build/ctest.log 2>&1 ||
	failed="$failed ctest"
if [ -n "$failed" ]; then
	grep -vE ' Passed |^ *Start ' build/ctest.log || true
	echo "failed:$failed ($(($(date +%s) - started)) s)"
	exit 1
fi
grep -hE '^(peak memory|start-up|estimates): ' build/gcc/Testing/Temporary/LastTest.log || true
tail -n 12 build/ctest.log
echo "everything passed ($(($(date +%s) - started)) s)"
