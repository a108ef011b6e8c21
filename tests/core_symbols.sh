#!/bin/sh
# The core may ask of the outside only strings and arithmetic. core_symbols.sh LIBRARY
set -eu
allowed='mem(chr|cmp|cpy|move|set)|str(chr|cmp|cspn|len|ncmp|nlen|pbrk|rchr|spn|str)'
allowed="$allowed|__(memcpy|memset|memmove)_chk|__stack_chk_fail"
allowed="$allowed|(ceil|exp|fabs|floor|fma|fmax|fmin|log|log2|pow|round|sqrt)f?|_GLOBAL_OFFSET_TABLE_"
defined=$(mktemp)
trap 'rm -f "$defined"' EXIT
nm --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$defined"
bad=$(nm -u "$1" 2>/dev/null | awk '$1 == "U" { print $2 }' | sort -u | comm -23 - "$defined" |
	grep -vxE "$allowed" || true)
if [ -n "$bad" ]; then
	echo "the core calls what it must not:" >&2
	echo "$bad" >&2
	exit 1
fi
# Mutable state would make calls from two threads unequal.
state=$(nm -f sysv "$1" 2>/dev/null |
	awk -F '|' '$7 ~ /^\.(data|bss|tdata|tbss)/ && $7 !~ /^\.data\.rel\.ro/ || $7 ~ /COM/ { print $1 }')
if [ -n "$state" ]; then
	echo "the core has mutable state:" >&2
	echo "$state" >&2
	exit 1
fi
