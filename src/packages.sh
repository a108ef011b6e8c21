# shellcheck shell=sh
# Installs Debian packages that are missing; sourced by run.sh here and in tests/.

# need_packages WHO PACKAGE... : returns once all are installed, or leaves with a sentence.
need_packages() {
	who=$1
	shift
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		if usable_without_apt; then
			return
		fi
		echo "$who: this system has no apt-get; please install what Debian calls: $*" >&2
		exit 1
	fi
	missing=
	for package; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0

	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		as_root=sudo
		if ! command -v sudo >/dev/null; then
			echo "$who: please install, as root: apt-get install$missing" >&2
			exit 1
		fi
	fi
	echo "$who: installing with ${as_root:+$as_root }apt-get:$missing" >&2
	apt_log=$(mktemp)
	# Package lists may be missing or stale: they are fetched only when the first try fails.
	if ! apt_install && ! { $as_root apt-get update >"$apt_log" 2>&1 && apt_install; }; then
		cat "$apt_log" >&2
		rm -f "$apt_log"
		echo "$who: apt-get could not install:$missing" >&2
		exit 1
	fi
	rm -f "$apt_log"
}

apt_install() {
	# shellcheck disable=SC2086  # the packages are words
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		$missing >"$apt_log" 2>&1
}

# Elsewhere the tools may be there under other packages' names.
usable_without_apt() {
	command -v cmake >/dev/null && command -v cc >/dev/null &&
		command -v ninja >/dev/null && command -v pkg-config >/dev/null &&
		pkg-config --exists yaml-0.1 libcyaml libcjson smartcols
}
