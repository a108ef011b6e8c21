#!/bin/sh
# Files of the user's in the configuration folder: every command that uses the catalog takes them and
# says so, for people and for programs, and refuses a broken one at its line and column.
#   user_files.sh PROGRAM
# shellcheck disable=SC2086 # a command is several words
set -u
program=$1
files=$(dirname "$0")/../docs/files
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME="$scratch" LC_ALL=C.UTF-8
own=$scratch/vramcalc
mkdir "$own"
cat >"$scratch/job.yaml" <<END
model: {params: 3B}
END

fail() {
	echo "$1"
	cat "$scratch/output"
	exit 1
}

# Each is about the GPU that a file adds.
commands="plan@$scratch/job.yaml --gpu lab-card
plan@$scratch/job.yaml
plan@$scratch/job.yaml --instances
compare@$scratch/job.yaml --gpu lab-card
check@$scratch/job.yaml --gpu lab-card
check@$scratch/job.yaml --gpu lab-card --max-price 0.02
solve@$scratch/job.yaml --gpu lab-card --for batch_size
advise@$scratch/job.yaml --gpu lab-card
pack@$scratch/job.yaml
diagnose@$scratch/error.txt --spec $scratch/job.yaml --gpu lab-card
verify@llama-3-8b $files/vllm-start.log --gpu lab-card
diff@llama-2-7b llama-3-8b --method detailed --gpu lab-card
gpus@lab-card
offers@--gpu lab-card
platforms@--weights memory=1"

cat >"$scratch/error.txt" <<END
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 19.55 GiB of which 10.00 MiB is free. Including non-PyTorch memory, this process has 19.54 GiB memory in use. Of the allocated memory 19.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.
END

run_all() {
	echo "$commands" | while IFS=@ read -r command arguments; do
		"$program" $command $arguments $2 >"$scratch/output" 2>&1
		"$1" "$command $arguments" $? || exit 1
	done || exit 1
}

holds() {
	tr -d '\n' <"$scratch/output" | tr -s ' ' | grep -qF -e "$1" || fail "$2: no $1"
}

# What decides is named with its line: the GPU everywhere, its price where a price chooses.
is_taken() {
	[ "$2" -lt 2 ] || fail "$1: status $2"
	case $1 in
	platforms*) holds our-cluster "$1" && holds gpus.yaml:4 "$1" ;;
	offers*) holds lab-card "$1" && holds prices.csv:2 "$1" ;;
	gpus* | plan* | pack* | *max-price*)
		holds lab-card "$1" && holds gpus.yaml:2 "$1" && holds prices.csv:2 "$1" &&
			holds 2026-11-01 "$1"
		;;
	*) holds lab-card "$1" && holds gpus.yaml:2 "$1" ;;
	esac
}

is_told_to_programs() {
	[ "$2" -lt 2 ] || fail "$1: status $2"
	case $1 in
	platforms*) holds "\"origin\": \"$own/gpus.yaml:4\"" "$1" ;;
	offers*) holds "\"origin\": \"$own/prices.csv:2\"" "$1" ;;
	*)
		holds "\"origin\": \"$own/gpus.yaml:2\"" "$1"
		holds "\"as_of\": \"2026-11-01\", \"origin\": \"$own/prices.csv:2\"" "$1"
		;;
	esac
}

is_refused() {
	[ "$2" -eq 2 ] || fail "$1: status $2 with a broken $broken"
	grep -q "^$own/$broken:$place: " "$scratch/output" || fail "$1: no place of $broken"
}

cat >"$own/gpus.yaml" <<END
gpus:
  - {id: lab-card, memory_gb: 20}
platforms:
  - {id: our-cluster, kind: own}
END
cat >"$own/prices.csv" <<END
cloud,instance,gpu,on_demand,as_of
lab,box,lab-card,0.01,2026-11-01
END
run_all is_taken ""
run_all is_told_to_programs --json

# Results outlive the catalog in another currency.
cat >"$scratch/euro.yaml" <<END
model: {params: 3B}
budget: {currency: EUR}
END
"$program" check "$scratch/job.yaml" "$scratch/euro.yaml" --gpu lab-card --json >"$scratch/output" 2>&1
[ "$(grep -c '"gpu": "lab-card"' "$scratch/output")" -eq 2 ] || fail "check in two currencies"

broken=broken.yaml
printf 'gpus:\n  - {id: t4, tdp_watts: much}\n' >"$own/$broken"
place=2:25
run_all is_refused ""
printf 'platforms:\n- {id: volcano, kind: none}\n' >"$own/$broken"
place=2:23
run_all is_refused ""
rm "$own/$broken"
broken=broken.csv
printf 'cloud,instance,gpu,on_demand\nlab,box,lab-crad,1\n' >"$own/$broken"
place=2:9
run_all is_refused ""
rm "$own/$broken"

# Every file with an ending of a catalog is read, in whatever case; others are not.
printf 'gpus: [{id: second-card, memory_gb: 8}]\n' >"$own/more.yml"
printf '{"gpus": [{"id": "third-card", "memory_gb": 8}]}\n' >"$own/more.json"
printf 'cloud,instance,gpu,on_demand\nlab,last,third-card,1\n' >"$own/Z.CSV"
printf 'nothing to read\n' >"$own/notes.txt"
"$program" gpus second-card third-card --csv >"$scratch/output" 2>&1 || fail "other endings"
holds ',lab last,' "other endings"

# Nothing of the folder is left out in silence.
i=0
while [ $i -lt 256 ]; do
	i=$((i + 1))
	: >"$own/$i.csv"
done
"$program" gpus >"$scratch/output" 2>&1 && fail "more files than are read"
holds "$own: holds too many catalog files (at most 256)" "more files than are read"
rm -r "$own"
: >"$own"
"$program" gpus >"$scratch/output" 2>&1 && fail "a file for a folder"
holds "$own: cannot be read" "a file for a folder"
rm "$own"
ln -s vramcalc "$own"
"$program" gpus >"$scratch/output" 2>&1 && fail "a loop for a folder"
rm "$own"
"$program" gpus >"$scratch/output" 2>&1 || fail "no folder"
