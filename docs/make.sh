#!/usr/bin/env bash
# Makes the pictures of the documents and the output in README.md again, and the book where mdbook is there. It needs MariaDB and
# chromium, and about two minutes.
#
#     docs/make.sh [PATH-OF-DYNO] [FOLDER]      the folder of README.md and docs/, else this one
#
# LOAD_TIME=1s in the environment makes the loads short, as the test of this command does.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dyno=$(realpath "${1:-$here/../target/release/dyno}")
to=$(realpath "${2:-$here/..}")
work=$(mktemp -d)
# What `dyno up` keeps up for the user is not stopped below.
export XDG_STATE_HOME=$work
trap '"$dyno" down mariadb > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
cd "$work"

# A picture of a page: FILE, PAGE, HEIGHT.
picture() {
    chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --window-size="1200,$3" \
        --run-all-compositor-stages-before-draw --user-data-dir="$work/profile" --virtual-time-budget=5000 \
        --screenshot="$1" "file://$2" > /dev/null 2>&1
}

"$dyno" run "$here/../plans/quickstart.toml" --quiet --out quick ${LOAD_TIME:+--set load.time=$LOAD_TIME --set repetitions=1} > /dev/null
page=$(realpath quick/latest/report.html)
picture "$to/docs/report.png" "$page" 900
# The same page with numbers on it.
sed "/<\/body>/e cat '$here/marks.html'" "$page" > marked.html
picture "$to/docs/reading.png" "$work/marked.html" 1080

# The example of README.md, on a server of its own in the place of the reader's.
shown='dyno bench oltp_read_write --system mysql://root@127.0.0.1/test --tables 4 --table-size 10000 --clients 1,4,16 --time 9'
"$dyno" up mariadb --detach > up
server=$(< "$(sed -n 's/^ *login *\([^ ]*\).*/\1/p' up)")
command=${shown#dyno }
command=${command/mysql:\/\/root@127.0.0.1\/test/$server}
[[ -z ${LOAD_TIME:-} ]] || command=${command/--time 9/--time $LOAD_TIME --repetitions 3}
{
    printf '```console\n$ %s\n' "$shown"
    # shellcheck disable=SC2086
    COLUMNS=100 "$dyno" $command 2> /dev/null
    printf '```\n'
} > output
sed -i -e '/^<!-- what follows is printed by/,/^<!-- end -->/{//!d}' -e '/^<!-- what follows is printed by/r output' "$to/README.md"

# The book, where its maker is there.
if command -v mdbook > /dev/null; then
    mdbook build "$here" --dest-dir "$to/target/book"
fi
