#!/usr/bin/env bats
# readme: the pages agree with the program and with the CSV files.

# setup() of helpers sets variables; what single quotes hold is for sed.
# shellcheck disable=SC2154,SC2016
load helpers

pages=(README.md docs/*.md)
result_pages=(results/README.md results/*/*.md)

# check WHAT PAGE...: runs pages.py.
check() {
    SCANBENCH=$scanbench python3 -B tests/commands/pages.py "$@"
}

# edited PAGE SED-SCRIPT: makes an edited copy of the page, next to the files it links to.
edited() {
    mkdir -p "$BATS_TEST_TMPDIR/page"
    sed "$2" "$1" >"$BATS_TEST_TMPDIR/page/$(basename "$1")"
    ! cmp -s "$1" "$BATS_TEST_TMPDIR/page/$(basename "$1")"
    echo "$BATS_TEST_TMPDIR/page/$(basename "$1")"
}

# finds WHAT PAGE SED-SCRIPT TEXT...: expects that the check fails for the edited page, and
# prints TEXT.
finds() {
    local page
    page=$(edited "$2" "$3")
    run check "$1" "$page"
    echo "$output"
    [ "$status" -eq 1 ]
    has "$output" "$page: " "${@:4}"
}

# differs SED-SCRIPT FILE TEXT...: expects that transcripts.py says this of the tree in $tree once the file is
# edited, and nothing once it is as before.
differs() {
    local script=$1 file=$2
    cp "$file" "$BATS_TEST_TMPDIR/before"
    sed -i "$script" "$file"
    ! cmp -s "$file" "$BATS_TEST_TMPDIR/before"
    run python3 -B scripts/transcripts.py "$tree"
    echo "$output"
    [ "$status" -eq 1 ]
    has "$output" "${@:3}"
    cp "$BATS_TEST_TMPDIR/before" "$file"
    [ -z "$(python3 -B scripts/transcripts.py "$tree")" ]
}

# record COMMIT: records what is in $tree as taken from it.
record() {
    python3 -B -c 'import sys; sys.path.insert(0, "scripts"); import transcripts
transcripts.write_record(*sys.argv[1:])' "$tree" "$1"
}

# ---- Examples ----

@test "README: each example prints what the page shows" {
    check examples README.md
    [ "$(grep -c '^\$ \./scanbench ' README.md)" -ge 2 ]
}

@test "README: an example that shows something else is found" {
    # Only the last example, which is quick; the others are removed.
    local last='/^## Three/,/^What do comp/d'
    finds examples README.md "$last; s/^op  .* check\$/& more/" 'the page shows'
    finds examples README.md "$last; s/^compact  reduce-then-scan/compact  naive/" 'the page shows'
    finds examples README.md "$last; s/12 kept/13 kept/" 'the page shows'
    finds examples README.md "$last; s/passed\$/failed/" 'the page shows'
    finds examples README.md "$last; s/^\$ .*/\$ .\/scanbench --n=none/; s/^compact\|^sort\|^op\|^  .*put/x/" \
        '--n=none: exit 2'
    finds examples README.md "s/^\`\`\`console/\`\`\`/" 'no examples'
}

# counted PAGE: the examples whose rows have counts alone, which are the same on each machine.
counted() {
    awk '/^\$ .*scanbench .*--counts/ { on = 1 } /^```/ { on = 0 } on' "$1"
}

@test "examples of counts print what their pages show" {
    local page line shown examples=0
    for page in docs/*.md; do
        while IFS= read -r line; do
            case $line in
            '$ '*)
                shown=$(eval "./scanbench ${line#*scanbench}" --format=table --quiet)
                examples=$((examples + 1))
                ;;
            ...) ;;
            *) grep -Fxq -e "$line" <<<"$shown" || { echo "$page: the page shows: $line" && false; } ;;
            esac
        done < <(counted "$page")
    done
    [ "$examples" -ge 3 ]
}

@test "README: numbers with a decimal point and units of time may differ" {
    local page
    page=$(edited README.md '/^## Three/,/^What do comp/d; s/[0-9.]* [mu]s  /12.345 s /')
    check examples "$page"
}

@test "README: what an example says about noise and load may differ" {
    local page said='scanbench: 1 of 2 rows exceeds --max-noise, marked !; try a longer --max-time'
    page=$(edited README.md "/^## Three/,/^What do comp/d; s/^op  .*/scanbench: times may vary: load 3.0\\n&\\n$said/")
    grep -q '^scanbench: 1 of 2 rows' "$page"
    check examples "$page"
}

# ---- Transcripts and pictures ----

@test "transcripts and pictures are those that make pictures took, from one clean commit" {
    python3 -B scripts/transcripts.py
}

@test "that commit is an ancestor of this one" {
    local commit
    # Any repository around such a tree is another one.
    ! grep -q '^[0-9a-f]' scripts/commit.txt || skip "this tree was made by git archive"
    git rev-parse --quiet --verify HEAD >/dev/null || skip "no git history here"
    [ "$(git rev-parse --is-shallow-repository)" = false ] || skip "the git history here is not whole"
    commit=$(awk '$1 == "commit" { print $2 }' docs/pictures/taken.txt)
    git merge-base --is-ancestor "${commit#g}" HEAD
}

@test "a transcript or picture from elsewhere is found" {
    local tree=$BATS_TEST_TMPDIR/tree page=$BATS_TEST_TMPDIR/tree/README.md
    local taken=$tree/docs/pictures/taken.txt
    mkdir -p "$tree/docs/pictures"
    echo a picture >"$tree/docs/pictures/page.png"
    printf '%s\n' Text. '```console' '$ ./scanbench --n=1' 'scanbench v0.2.0 g1234567, a CPU' 'serial  4.1 us   0.9 %  passed' \
        '```' '```console' '$ ./scanbench --n=2' 'scanbench v0.2.0 g1234567, emulator' '```' >"$page"
    run python3 -B scripts/transcripts.py "$tree"
    [ "$status" -eq 1 ]
    has "$output" 'taken.txt: no such file'
    record g1234567
    python3 -B scripts/transcripts.py "$tree"
    # By hand, whichever commit the text names.
    differs 's/4\.1 us/3.1 us/' "$page" 'README.md: its transcripts are not'
    differs 's/a picture/another/' "$tree/docs/pictures/page.png" 'page.png: the picture is not'
    differs 's/^\$ .*n=2/$ ls/' "$page" 'README.md: its transcripts are not'
    differs 's/g1234567/g7654321/' "$taken" 'a transcript of g1234567, where'
    # Text around the transcripts is free.
    sed -i 's/^Text/Other text/' "$page"
    python3 -B scripts/transcripts.py "$tree"

    # Taken, but from two commits, from changed sources, or on a busy machine.
    local edit
    for edit in '9s/g1234567/g7654321/' 's/g1234567/&-dirty/' 's/0.9 %/&!/' '4s/^/scanbench: times may vary: load 3.2\n/' \
        '6s/^/scanbench: 1 of 1 rows exceeds --max-noise, marked !\n/'; do
        cp "$page" "$BATS_TEST_TMPDIR/good"
        sed -i "$edit" "$page"
        ! cmp -s "$page" "$BATS_TEST_TMPDIR/good"
        record g1234567
        run python3 -B scripts/transcripts.py "$tree"
        echo "$edit: $output"
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        has "$output" 'README.md: a transcript of '
        cp "$BATS_TEST_TMPDIR/good" "$page"
    done
    for edit in g1234567-dirty anyway ''; do
        record "$edit"
        run python3 -B scripts/transcripts.py "$tree"
        [ "$status" -eq 1 ]
        has "$output" "taken.txt: "
    done
}

# ---- Figures ----

# Changes how many times as fast as CUB a scan is at least, whatever was measured.
other_least='s/1\.[0-9]* times\( = min over n=2^12..2^29: .*cold\)/9.99 times\1/; s/\(at least\) 1\.[0-9]* times\( as fast as CUB cold\)/\1 9.99 times\2/'

# Puts BOUNDS as the range of scans of i32, whatever was measured.
other_range='s/[0-9.]* to [0-9.]*\( = range over\)/BOUNDS\1/; s/^| scan of i32 | [0-9.]* to [0-9.]* /| scan of i32 | BOUNDS /'

@test "each figure of the pages is the one in the row it comes from" {
    check figures "${pages[@]}" "${result_pages[@]}"
    [ "$(grep -c '^<!-- figures results/' README.md docs/*.md | awk -F: '{ n += $2 } END { print n }')" -ge 5 ]
}

@test "a figure that is wrong, of no row, or of several rows is found" {
    long_test
    finds figures README.md 's/^| `naive` | [0-9.]* /| `naive` | 1.234 /' '"1.234" is 32.'
    finds figures README.md 's/^| `naive` /| `naiv` /' 'naiv' '0 rows'
    finds figures README.md 's/ n=2^29 cache=cold$/ n=2^29/' '2 rows'
    finds figures README.md 's/^algo= | time_ms/algo= | time_mz/' 'time_mz'
    local percent
    percent=$(sed -n 's/^\([0-9.]*\) % = 100.*algo=memcpy,cache=dirty.*/\1/p' docs/measuring.md)
    finds figures docs/measuring.md "s/${percent//./\\.} % slower/99.1 % slower/" "\"$percent %\" is not in the text" \
        '"99.1 %" comes from nowhere'
    finds figures docs/measuring.md "s/^${percent//./\\.} % = 100/$percent % = 200/" "\"$percent %\" is "
    finds figures results/nvidia-h200/README.md "$other_least" '"9.99 times" is 1.3'
    # Both bounds of a range, both times of a change; sums over rows; the least and the most of several runs.
    finds figures results/nvidia-h200/README.md "${other_range//BOUNDS/9.98 to 9.99}" '"9.98" is 1.' '"9.99" is 1.'
    finds figures results/nvidia-h200/README.md "${other_range//BOUNDS/9.98}" '"9.98" is not NUMBER to NUMBER'
    finds figures results/nvidia-h200/TUNING.md 's/^| `naive` | [0-9.]* | [0-9.]* | [0-9]* |/| `naive` | 99.7 | 99.8 | 99 |/' \
        '"99.7" is 32.' '"99.8" is 31.' '"99" is 8'
    finds figures results/nvidia-h200/TUNING.md 's/sum(gpu__time_duration.sum\[launch=\*\])/sum(gpu__time_duration.sum)/' '"4" is 100'
    finds figures results/nvidia-h200/TUNING.md 's/^| `lookback` | 1\.[0-9]* /| `lookbac` | 1.40 /' 'sum(gpu__time_duration.sum): no rows'
    finds figures results/nvidia-h200/README.md 's/^| `memcpy` | [0-9.]* /| `memcpy` | 9.97 /' '"9.97" is 3.'
    finds figures results/nvidia-h200/TUNING.md 's/8\.99 -> 7\.07/8.98 -> 7.06/g' '"8.98" is 8.9' '"7.06" is 7.0'
    finds figures results/nvidia-h200/README.md \
        's/^\(| `auto` | [0-9.]* |\) [0-9.]* |\( [0-9.]* | [0-9.]* |\)$/\1 9.99 |\2/' '"9.99" is '
}

@test "a figure that says nothing of where it comes from is found" {
    finds figures README.md 's/^MIT licence/It takes 1.5 ms/' '"1.5 ms" comes from nowhere'
    finds figures README.md 's/^MIT licence/It is 40 % faster/' '"40 %" comes from nowhere'
    local number # the first of a table
    number=$(sed -n '/^<!-- figures .*\/sort.csv/,/^$/s/^| `[^|]*| \([0-9.]*\) .*/\1/p' docs/algorithms.md | head -n 1)
    finds figures docs/algorithms.md '/^<!-- figures .*\/sort.csv/,/^-->/d' "\"$number\" comes from nowhere"
}

@test "update writes the figures of the rows into the pages" {
    local page name percent range
    percent=$(sed -n 's/^\([0-9.]*\) % = 100.*algo=memcpy,cache=dirty.*/\1/p' docs/measuring.md)
    range=$(sed -n 's/^\([0-9.]* to [0-9.]*\) = range over .*/\1/p' results/nvidia-h200/README.md | head -n 1)
    for name in README.md docs/measuring.md docs/algorithms.md results/nvidia-h200/README.md results/nvidia-h200/TUNING.md; do
        # Percent, a range and "1.xx times" in words, and cells with three or with four decimals.
        page=$(edited "$name" "$other_least; s/${percent//./\\.} %/1.1 %/; s/${range//./\\.}/2.34 to 5.67/g"'; s/8\.99 -> 7\.07/1.11 -> 2.22/g; s/^| `naive` | [0-9]*\.[0-9]\{3\} /| `naive` | 1.234 /; s/^| 2^12 | 0\.[0-9]\{4\} /| 2^12 | 7.1111 /')
        run check figures "$page"
        [ "$status" -eq 1 ]
        check update "$page"
        diff "$name" "$page"
    done
    # What has no row stays as it is.
    page=$(edited README.md 's/^| `naive` | \([0-9.]*\) /| `naiv` | \1 /')
    cp "$page" "$page.before"
    run check update "$page"
    [ "$status" -eq 1 ]
    has "$output" '0 rows with' "'naiv'"
    diff "$page.before" "$page"
}

@test "CUB and Thrust are named with their version" {
    local page
    for page in "${pages[@]}" "${result_pages[@]}"; do
        ! grep -qE '\b(CUB|Thrust)\b' "$page" || has "$(tr '\n' ' ' <"$page")" 3.0.1
    done
    # Which is CUDA 13.0's.
    [ "$(read_csv results/nvidia-h200/scan.csv cuda | sort -u)" = cuda_13.0 ]
}

# ---- What else can go stale ----

@test "links lead somewhere" {
    local every
    mapfile -t every < <(find . -name '*.md' -not -path './build/*' -not -path './.*')
    [ "${#every[@]}" -gt 20 ]
    check links "${every[@]}"
    finds links README.md 's,^MIT licence,[gone](gone.md) [none](#no-such-heading),' \
        'gone.md: no such file' '#no-such-heading: no such heading'
}

@test "each flag that a page names is one of the program or of a script" {
    local named known
    named=$(grep -hv pkg-config "${pages[@]}" | grep -oE -- '--[a-z][a-z-]+' | LC_ALL=C sort -u)
    known=$({ "$scanbench" --help && cat scripts/*.sh scripts/*.py examples/course/*.sh; } | grep -oE -- '--[a-z][a-z-]+' | LC_ALL=C sort -u)
    [ "$(wc -l <<<"$named")" -gt 20 ]
    LC_ALL=C run comm -23 <(echo "$named") <(echo "$known")
    echo "$output"
    [ -z "$output" ]
}

@test "what the program prints of itself is not copied" {
    local line
    while read -r line; do
        [ "${#line}" -lt 30 ] || ! grep -qF -- "$line" "${pages[@]}" || {
            echo "copied: $line"
            return 1
        }
    done < <("$scanbench" --help && "$scanbench" --list-columns && "$scanbench" --list)
}

@test "the ladder has every GPU scan of ours" {
    local name names
    names=$("$scanbench" --list | awk '/^scan/ && $3 == "gpu" && $4 == "own" && $5 != "several" { print $2 }')
    [ "$(wc -w <<<"$names")" -gt 10 ]
    for name in $names; do
        grep -qF "\`$name\`" README.md || {
            echo "no $name"
            return 1
        }
    done
}

@test "README and docs/algorithms.md name the largest arrays of cluster and one-wave in the results" {
    local algo largest
    for algo in cluster one-wave; do
        largest=$(read_csv results/nvidia-h200/scan.csv algo n check | awk -v algo="$algo" \
            '$1 == algo && $3 == "passed" && $2 > n { n = $2 }
             END { k = int(log(n) / log(2) + 0.5); print n == 2 ^ k ? "2^" k : n }')
        # Other numbers than powers of two have digits in groups of three.
        largest=$(sed -E ':a; s/([0-9])([0-9]{3})( |$)/\1 \2\3/; ta' <<<"$largest")
        has "$(tr '\n' ' ' <README.md)" "\`$algo\`" "$largest"
        has "$(tr '\n' ' ' <docs/algorithms.md)" "$largest"
    done
}

@test "the map of the sources has every folder" {
    local folder
    for folder in */; do
        [ "$folder" = build/ ] || grep -q "^| \`$folder\` |" docs/adding.md || {
            echo "no $folder"
            return 1
        }
    done
    # And no other.
    while read -r folder; do
        [ -d "$folder" ]
    done < <(sed -nE 's,^\| `([a-z]+/)` \|.*,\1,p' docs/adding.md)
}

@test "each file of the repository that a page names is there" {
    local name missing=0 named=0
    # Words in capitals stand for any name; two files are the reader's to write, and one folder make's.
    while read -r name; do
        [ -d "${name%%/*}" ] || continue
        named=$((named + 1))
        [ -e "$name" ] || { echo "no $name" && missing=1; }
    done < <(cat README.md CONTRIBUTING.md docs/*.md results/*.md results/*/*.md | grep -oE '`[a-z]+/[a-zA-Z0-9_./-]+`' |
        tr -d '`' | grep -vE '[A-Z]{2}|^kernels/classic/scan_one_thread\.cu$|^cpu/scan_plain\.c$|^build/|^results/local/' | LC_ALL=C sort -u)
    [ "$named" -gt 60 ]
    [ "$missing" -eq 0 ]
}

@test "docs/promises.md has the exit codes of the program, and no others" {
    local promised
    promised=$(sed -n 's/^| `\([0-9]*\)` |.*/\1/p' docs/promises.md)
    [ "$(wc -w <<<"$promised")" -gt 5 ]
    [ "$promised" = "$("$scanbench" --generate=man | sed -n '/^\.SH EXIT STATUS/,/^\.SH EXAMPLES/s/^\\fB\([0-9]*\)\\fR$/\1/p')" ]
}

@test "README is a front door, not a book" {
    [ "$(wc -l <README.md)" -le 200 ]
}
