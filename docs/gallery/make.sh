#!/usr/bin/env bash
# Makes this folder again: runs the plans of the five reports at a size that two cores allow, with the question what holds
# them back, and takes a picture of each first screen. It needs chromium, and about ten minutes.
#
#     docs/gallery/make.sh [PATH-OF-DYNO]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
dyno=$(realpath "${1:-../../target/release/dyno}")
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

cat > README.md <<'END'
# What the reports asked, and what dyno answers

Five reports of engineers, repeated at a size that two cores allow, each with the question that its authors could not answer.
The pictures are the first screens of dyno's pages, from one machine on one day; `make.sh` makes this folder again.

END

# A name, a heading, the question of the report, and what dyno is asked.
ask() {
    local name=$1 heading=$2 question=$3
    shift 3
    (cd ../.. && "$dyno" "$@" --quiet --out "$results/$name" > /dev/null)
    local run=$results/$name/latest
    chromium --headless --no-sandbox --hide-scrollbars --run-all-compositor-stages-before-draw --window-size=1200,900 --virtual-time-budget=5000 \
        --screenshot="$name.png" "file://$run/report.html" > /dev/null 2>&1
    {
        printf '## %s\n\n*%s*\n\n`dyno %s`\n\n' "$heading" "$question" "$*"
        "$dyno" report "$run" --format markdown | sed -n '/^- What holds/{s/ (\[figures\](#[a-z-]*))//;p}'
        printf '\n![The first screen of the report](%s.png)\n\n' "$name"
    } >> README.md
}

ask board 'TiDB on a board of 64 cores' \
    'Why does TiDB on 64 cores of RISC-V reach a third of what it reaches on x86-64, with most cores idle?' \
    why plans/tidb-sg2042-revyos.toml --set load.clients=4 --set load.time=5s --set load.prewarm=3s --set repetitions=1
ask one-core 'Builds of TiDB compared, on one core for its scheduler' \
    'All builds stop at the same throughput: what would have to be faster?' \
    bench sysbench/oltp_point_select --tables 4 --table-size 10k --system tidb --system-option env.GOMAXPROCS=1 \
    --clients 12 --time 5s --why=60s
ask three-nodes 'A cluster of three nodes' \
    'The stores are not equally busy, and neither CPU nor disk nor network is full: what is the limit?' \
    bench sysbench/oltp_update_index --tables 4 --table-size 10k --system tidb --clients 32 --time 5s --why=60s
ask ycsb 'YCSB on a cluster of six nodes' \
    'More clients bring nothing beyond 64: what do they wait for?' \
    bench ycsb/a -o recordcount=10000 --system tidb --clients 64 --time 5s --why=60s
ask echo 'An echo service' \
    'What keeps a service of eight cores at half a million calls a second?' \
    bench rpc -o hex=0a0568656c6c6f -o connections=100 --system trpc-echo --clients 100 --time 5s --why=60s
