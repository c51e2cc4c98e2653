#!/usr/bin/env bats
# Several devices that share an array: emulators in one process, and processes under mpirun.

# setup() of helpers sets variables, and `run` of bats sets others, in a function as well.
# shellcheck disable=SC2030,SC2031,SC2154
load helpers

# The build with MPI; tests that need it are skipped where there is none.
mpi=build/mpi/scanbench

# ranks N FLAG...: runs N processes on the processors there are.
ranks() {
    local count=$1
    shift
    timeout 120 mpirun --allow-run-as-root --oversubscribe -np "$count" "$mpi" --samples=1 --quiet "$@"
}

# columns NAME...: these columns of the rows, separated by commas.
columns() {
    read_csv "$rows" "$@" | tr '\t' ,
}

needs_mpi() {
    if ! [ -x "$mpi" ] || ! command -v mpirun >/dev/null; then
        skip "no build with MPI (make deps MPI=1)"
    fi
}

@test "one to five emulators, every operation, at sizes below and above their number" {
    local op
    for op in scan compact sort; do
        quick --device=emulator --op=$op --algo=peer --gpus="${LONG:+1,2,4,}3,5" --type="i32${LONG:+,f64}" \
            --n=0,1,3,4,5,4099 --output="$rows"
        [ "$(columns algo engine check reason | sort -u)" = "peer,peer,passed," ]
        [ "$(columns n gpus | sort -u | wc -l)" -eq $((6 * (2 + 0${LONG:+3}))) ]
        rm "$rows"
    done
}

@test "every type, kind and input, with several seeds of block order" {
    quick --device=emulator --gpus=3 --algo=peer --kind=exclusive,inclusive --seed=2 --max=5 \
        --type="$(share i32 u64 f32 u32 i64 f64 u8 | paste -sd,)" --n=2,9001 --output="$rows"
    [ "$(columns check | sort -u)" = passed ]
    rm "$rows"
    local input inputs=(special)
    [ -z "${LONG-}" ] || inputs+=(sorted ones zeros alternating reversed signed)
    for input in "${inputs[@]}"; do
        quick --device=emulator --gpus=4 --op=sort,compact --algo=peer --input="$input" --seed=3 \
            --type=i32,f64 --max=2^20 --n=1,4099 --output="$rows"
        [ "$(columns check | sort -u)" = passed ]
        rm "$rows"
    done
    quick --device=emulator --gpus=4 --op=sort --algo=peer --type=i32,u64 --max=2^31-1 --seed=4 \
        --n=20011 --output="$rows"
    [ "$(columns check | sort -u)" = passed ]
}

@test "a scan of three levels in every slice" {
    long_test
    quick --device=emulator --gpus=2 --algo=peer --type=f64 --n=2200000 --output="$rows"
    [ "$(columns check)" = passed ]
}

@test "slices that registers hold, and those that shared memory holds as well" {
    quick --device=emulator --gpus=3 --algo=peer --n=40007,700001 --seed=5 --output="$rows"
    [ "$(columns check | sort -u)" = passed ]
}

@test "so many devices that digits are narrower" {
    quick --device=emulator --gpus=17 --op=sort --algo=peer --input=few --n=2053 --output="$rows"
    [ "$(columns check reason | sort -u)" = passed, ]
}

@test "as many devices as there can be: every operation, in seconds" {
    long_test
    # Each of them found every cut from the histograms of all: a sort took minutes.
    timeout 60 "$scanbench" --quiet --samples=1 --device=emulator --gpus=64 --op=scan,compact,sort --algo=peer --n=65 \
        --output="$rows"
    [ "$(columns op check | paste -sd' ')" = "scan,passed compact,passed sort,passed" ]
}

@test "sorts of many devices: cuts at equal keys, and slices without keys" {
    quick --device=emulator --gpus=17 --op=sort --algo=peer --input=ones --type=u32 --n=16,2053 --output="$rows"
    [ "$(columns check reason | sort -u)" = passed, ]
    long_test
    quick --device=emulator --gpus=33 --op=sort --algo=peer --type=f64 --n=0,1,20011 --max=2^20 --append \
        --output="$rows"
    [ "$(columns check reason | sort -u)" = passed, ]
}

@test "keys that share all digits with a cut, or all but the last" {
    local max
    for max in 4097 ${LONG:+1 2^20}; do
        quick --device=emulator --gpus=5 --op=sort --algo=peer --max="$max" --type=u32,i64 --n=20011 \
            --output="$rows"
        [ "$(columns check | sort -u)" = passed ]
        rm "$rows"
    done
}

@test "the columns of several devices, and the time of auto on one of them" {
    quick --device=emulator --op=sort --gpus=1,2 --algo=auto,peer,memcpy --n=5000 --output="$rows"
    [ "$(columns algo gpus ranks nodes engine check)" = "auto,1,1,1,,passed
peer,1,1,1,peer,passed
memcpy,1,1,1,,passed
peer,2,1,1,peer,passed
memcpy,2,1,1,,passed" ]
    columns algo gpus exchange_ms imbalance_pct efficiency_pct | grep '^peer,2' |
        awk -F, '{ if (!($3 > 0 && $4 >= 0 && $5 > 0)) exit 1 }'
    # A single device exchanges nothing.
    [ "$(columns algo gpus exchange_ms | grep '^peer,1')" = peer,1, ]
    # Without --gpus=1 it is measured for the comparison alone.
    rm "$rows"
    quick --device=emulator --gpus=2 --algo=peer --n=5000 --output="$rows"
    [ "$(columns algo gpus)" = peer,2 ]
    [ "$(columns efficiency_pct)" != '' ]
    # Blocks exchange totals themselves, which cannot be told from their work.
    [ "$(columns exchange_ms)" = '' ]
}

@test "on one GPU, every operation launches what auto launches, and exchanges nothing" {
    local n op
    for op in scan compact sort; do
        for n in 1 20011; do
            rm -f "$rows"
            quick --device=emulator --op=$op --gpus=1 --algo=auto,peer --n=$n --output="$rows"
            [ "$(columns check exchange_ms | sort -u)" = passed, ]
            [ "$(columns algo | paste -sd' ')" = "auto peer" ]
            [ "$(columns launches | sort -u | wc -l)" -eq 1 ]
            [ "$(columns launches | head -1)" -ge 1 ]
        done
    done
}

@test "one device by itself has none of these columns" {
    quick --device=emulator --algo=lookback --n=5000 --output="$rows"
    [ "$(columns gpus ranks nodes engine exchange_ms efficiency_pct)" = ,,,,, ]
}

@test "each state of the caches is compared with one device in that state" {
    quick --device=emulator --gpus=2 --algo=peer --cache=both --n=500,600 --output="$rows"
    [ "$(columns n cache efficiency_pct | grep -cE '^[56]00,(cold|hot),[0-9]')" -eq 4 ]
}

@test "--resume finds the rows of several devices again" {
    quick --device=emulator --gpus=1,2 --algo=auto,peer --n=100 --output="$rows"
    quick --device=emulator --gpus=1,2,3 --algo=auto,peer --n=100 --output="$rows" --resume
    [ "$(columns algo gpus)" = $'auto,1\npeer,1\npeer,2\npeer,3' ]
    # The time of auto is needed again.
    [ "$(columns efficiency_pct | grep -c .)" -eq 3 ]
}

@test "--resume of a finished file measures nothing, not even for the comparison" {
    local flags=(--device=emulator --gpus=2 --algo=peer --n=100)
    build/asan/tests/faulty "${flags[@]}" --samples=1 --quiet --output="$rows"
    FAULT_LOG=$rows.calls build/asan/tests/faulty "${flags[@]}" --samples=1 --quiet --output="$rows" --resume
    [ "$(columns gpus)" = 2 ]
    ! grep emulator_submit "$rows.calls" || false
}

@test "pairs: teams sort keys alone, and memcpy copies the values of every slice" {
    long_test
    build/asan/scanbench --device=emulator --gpus=2,3 --op=sort --algo=peer,memcpy --values=none,u32,u64 \
        --type=i32,f64 --n=0,1,2,301 --samples=1 --quiet --output="$rows"
    [ "$(columns algo values check reason | sort | uniq -c | sed 's/^ *//')" = "16 memcpy,none,passed,
16 memcpy,u32,passed,
16 memcpy,u64,passed,
16 peer,none,passed,
16 peer,u32,skipped,sorts keys alone, without values
16 peer,u64,skipped,sorts keys alone, without values" ]
}

@test "--engine chooses among engines, whose names --algo takes as well" {
    quick --device=emulator --gpus=2 --op=scan,sort --algo=slices --engine=peer --n=500 --output="$rows"
    [ "$(columns op algo engine check)" = $'scan,peer,peer,passed\nsort,peer,peer,passed' ]
    # Both are the same rows.
    quick --device=emulator --gpus=2 --op=scan,sort --algo=peer --n=500 --output="$rows" --resume
    [ "$(columns op | wc -l)" -eq 2 ]
    # An engine that cannot work here has no row unless it, or what uses it, is named.
    run --separate-stderr "$scanbench" --gpus=2 --n=10 --samples=1 --quiet --columns=engine
    [ "$(tr -s '\n' <<<"$output")" = $'engine\npeer' ]
    run --separate-stderr "$scanbench" --gpus=2 --engine=peer,nccl --n=10 --samples=1 --quiet --columns=engine,check
    has "$output" $'\npeer,passed' $'\nnccl,skipped'
}

@test "--engine leaves other algorithms as they are" {
    quick --device=emulator --gpus=1,2 --engine=peer --algo=auto,slices,memcpy --n=500 --output="$rows"
    [ "$(columns algo engine gpus)" = $'auto,,1\npeer,peer,1\nmemcpy,,1\npeer,peer,2\nmemcpy,,2' ]
    [ "$(columns efficiency_pct | grep -c .)" -eq 2 ]
}

@test "--resume and --baseline take the rows of an engine for the same, however they are asked for" {
    quick --device=emulator --gpus=2 --algo=peer --n=500 --output="$rows"
    quick --device=emulator --gpus=2 --engine=peer --algo=slices --n=500,600 --output="$rows" --resume
    [ "$(columns algo n)" = $'peer,500\npeer,600' ]
    needs_mpi
    ranks 2 --device=cpu --algo=mpi --n=500 --output="$rows.mpi"
    run --separate-stderr ranks 2 --device=cpu --engine=mpi --algo=slices --n=500 --baseline="$rows.mpi" --columns=algo,baseline_ms
    [[ ${lines[1]} == mpi,[0-9]* ]]
}

@test "the launches of one member" {
    quick --device=emulator --gpus=2 --algo=peer,memcpy --n=5000 --output="$rows"
    [[ $(columns algo launches) =~ ^peer,[1-9] ]]
}

@test "without --algo: what is not in the build has no rows, and one line names it" {
    run --separate-stderr "$scanbench" --device=emulator --gpus=2 --n=100 --samples=1 --columns=algo
    echo "$output; $stderr"
    [[ $output != *mpi* ]]
    has "$stderr" 'not in this build: ' 'mpi (make MPI=1)'
    run --separate-stderr "$scanbench" --device=cpu --n=100 --samples=1 --columns=algo
    [[ $stderr != *mpi* ]]
}

@test "what --gpus does not go with: one line that says why" {
    fails 2 --gpus=0
    has "$stderr" '--gpus=0 is not a number of GPUs from 1 to 64, nor all'
    fails 4 --gpus=all --device=emulator
    has "$stderr" '--gpus=all: '
    fails 2 --gpus=2 --device=cpu
    has "$stderr" '--gpus=2 contradicts --device=cpu' mpirun
    fails 2 --gpus=2 --device=emulator --kernels
    fails 2 --gpus=2 --device=emulator --scratch=fresh
    has "$stderr" '--gpus=2 contradicts --scratch=fresh'
    fails 2 --gpus=2 --device=emulator --show=3
    fails 4 --gpus=2 --device=gpu0
    fails 2 --gpus=2 --device=gpu0,gpu2
    has "$stderr" '--gpus=2 contradicts --device=gpu0,gpu2: name only the GPU to begin with'
    fails 2 --device=emulator --algo=peer --n=10
    has "$stderr" '--algo=peer: it works on several devices; add --gpus=2'
    fails 2 --device=emulator --algo=lookback --gpus=2 --n=10
    has "$stderr" '--algo=lookback: it works on one device, not on several'
    fails 2 --device=emulator --algo=slices --n=10
    has "$stderr" '--algo=slices: it works on several devices; add --gpus=2'
    fails 2 --device=emulator --engine=peer --n=10
    has "$stderr" '--engine=peer is for several devices; add --gpus=2'
    fails 2 --device=emulator --engine=nccl --gpus=2 --n=10
    has "$stderr" '--engine=nccl: no chosen algorithm works by it on a chosen device'
    fails 2 --device=emulator --engine=mpi --algo=peer --gpus=2 --n=10
    fails 2 --engine=pear --gpus=2
    has "$stderr" 'did you mean "peer"?'
}

@test "started as several processes without MPI: one line, exit 2, no rows" {
    local variables
    for variables in "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK" "PMI_SIZE=4 PMI_RANK" \
        "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID"; do
        # Words of assignments, on purpose.
        # shellcheck disable=SC2086
        run --separate-stderr env $variables=0 "$scanbench" --device=cpu --n=10
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        has "$stderr" 'rank 0: ' 'built without MPI' 'make MPI=1'
    done
    run --separate-stderr env PMI_SIZE=4 PMI_RANK=3 "$scanbench" --device=cpu --n=10
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$stderr" = "scanbench: rank 3: started as 4 processes, but built without MPI; build with: make MPI=1" ]
}

# without_mpi LINE ARGUMENT...: mpirun with these arguments ends with exit code 2 and one line, which is like LINE.
without_mpi() {
    local like=$1
    shift
    run --separate-stderr timeout -k 1 20 mpirun --allow-run-as-root --oversubscribe "$@"
    echo "exit $status; $output; $stderr"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    # The pattern is one, on purpose.
    # shellcheck disable=SC2053
    [[ $(grep '^scanbench: ' <<<"$stderr") == "scanbench: rank "$like ]]
}

@test "some processes without MPI, or all: one line, whichever comes first" {
    needs_mpi
    local flags=(--device=cpu --algo=mpi --n=10)
    without_mpi '[0-3]: started as 4 processes, but built without MPI; *' -np 4 "$scanbench" --device=cpu --n=10
    # The first process waits for the second in MPI, and says nothing.
    without_mpi '1: started as 2 processes, but built without MPI; *' \
        -np 1 "$mpi" "${flags[@]}" : -np 1 "$scanbench" "${flags[@]}"
    long_test
    without_mpi '0: started as 2 processes, but built without MPI; *' \
        -np 1 "$scanbench" "${flags[@]}" : -np 1 "$mpi" "${flags[@]}"
    # mpirun stops the first one before it says anything. The shell expands its argument.
    # shellcheck disable=SC2016
    without_mpi '1: started as 2 processes, but built without MPI; *' \
        -np 1 sh -c 'sleep 4; exec "$0" --device=cpu --n=10' "$scanbench" : -np 1 "$scanbench" --device=cpu --n=10
}

@test "one to four processes on the CPU, every operation: rows by the first alone" {
    needs_mpi
    local count sizes=0,3,${LONG:+1,5000,}70001
    for count in ${LONG:+2} 4; do
        ranks "$count" --device=cpu --op=scan,compact,sort --algo=mpi --n="$sizes" \
            --type=i32,f64 --output="$rows"
        [ "$(columns check ranks nodes engine | sort -u)" = "passed,$count,1,mpi" ]
        [ "$(columns op | wc -l)" -eq $((6 * (3 + 0${LONG:+2}))) ]
        rm "$rows"
    done
    ranks 1 --device=cpu --algo=parallel --n=1000 --output="$rows"
    [ "$(columns check)" = passed ]
}

@test "processes with one or two emulators each: every operation" {
    needs_mpi
    local gpus
    for gpus in ${LONG:+1} 2; do
        ranks 2 --device=emulator --gpus="$gpus" --op=scan,compact,sort --algo=mpi,peer --max=5 \
            --n=0,3,5003 --type=i32,u64 --output="$rows"
        [ "$(columns algo gpus ranks check reason | sort -u)" = "mpi,$((2 * gpus)),2,passed,
peer,$((2 * gpus)),2,skipped,the devices belong to several processes" ]
        [ "$(columns op | wc -l)" -eq 36 ]
        rm "$rows"
    done
}

@test "processes with so many emulators that digits are narrower" {
    long_test
    needs_mpi
    ranks 2 --device=emulator --gpus=9 --op=sort --algo=mpi --input=few --n=2053 --output="$rows"
    [ "$(columns gpus check reason)" = 18,passed, ]
}

@test "processes: keys that are equal, extreme or of both signs; inclusive sums; threads" {
    needs_mpi
    local input
    for input in special ${LONG:+ones signed}; do
        ranks 3 --device=cpu --op=sort --algo=mpi --input="$input" --type=i32,i64,f32 --max=2^20 \
            --n=9001 --output="$rows"
        [ "$(columns check | sort -u)" = passed ]
        rm "$rows"
    done
    ranks 2 --device=cpu --op=scan,compact --algo=mpi --kind=inclusive --threads=1,3 --n=300001 \
        --output="$rows"
    [ "$(columns check | sort -u)" = passed ]
}

@test "processes that mpirun has not bound divide the processors" {
    needs_mpi
    long_test
    [ "$(nproc)" -ge 2 ] || skip "one processor"
    timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -np 2 "$mpi" --device=cpu \
        --algo=mpi --n=2^20 --min-time=3 --quiet --output="$rows" &
    local job=$! pids=() pid started=$SECONDS own
    until mapfile -t pids < <(pgrep -f "^$mpi .*--output=$rows") && [ "${#pids[@]}" -eq 2 ] && [ -s "$rows" ]; do
        [ $((SECONDS - started)) -lt 30 ]
        sleep 0.1
    done
    for pid in "${pids[@]}"; do
        grep Cpus_allowed_list "/proc/$pid/status"
    done >"$BATS_TEST_TMPDIR/allowed"
    wait "$job"
    cat "$BATS_TEST_TMPDIR/allowed"
    own=$(sort -u "$BATS_TEST_TMPDIR/allowed" | wc -l)
    [ "$own" -eq 2 ]
    [ "$(columns threads)" = $(($(nproc) / 2)) ]
}

@test "processes: a wrong flag is said once, and --resume and a file that exists are agreed on" {
    needs_mpi
    run --separate-stderr ranks 2 --n=nonsense
    [ "$status" -eq 2 ]
    [ "$(grep -c '^scanbench: ' <<<"$stderr")" -eq 1 ]
    ranks 2 --device=cpu --algo=mpi --n=100 --output="$rows"
    run --separate-stderr ranks 2 --device=cpu --algo=mpi --n=100 --output="$rows"
    [ "$status" -ne 0 ]
    ranks 2 --device=cpu --algo=mpi --n=100,200 --output="$rows" --resume
    [ "$(columns n)" = $'100\n200' ]
}

# differ FLAGS0 FLAGS1 [FLAGS2]: runs a process with each of these flags, and expects exit code 2 and
# one line within 5 seconds, which is then in $line.
differ() {
    local flags parts=()
    for flags; do
        # Words of flags, on purpose.
        # shellcheck disable=SC2206
        parts+=("${parts[@]:+:}" -np 1 "$mpi" --device=cpu --algo=mpi --samples=1 --quiet $flags)
    done
    # The first is empty.
    run --separate-stderr timeout -k 1 5 mpirun --allow-run-as-root --oversubscribe "${parts[@]}"
    echo "$*: exit $status; $output; $stderr"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    line=$(grep '^scanbench: ' <<<"$stderr")
    [ "$(wc -l <<<"$line")" -eq 1 ]
}

@test "processes with different flags: one line says which and in what" {
    needs_mpi
    local same='; every process needs the same flags'
    differ "--n=100 --seed=1" "--n=100 --seed=2"
    [ "$line" = "scanbench: rank 1 has --seed=2, and rank 0 has --seed=1$same" ]
    differ --n=100 --n=100 "--n=1Ki --npot"
    [ "$line" = "scanbench: rank 2 has --n=1Ki --npot, and rank 0 has --n=100$same" ]
    differ --n=100 "--n=100 --type=f64"
    [ "$line" = "scanbench: rank 1 has --type=f64, and rank 0 has no --type$same" ]
    long_test
    differ "--n=100 --inclusive" --n=100
    [ "$line" = "scanbench: rank 1 has no --inclusive, and rank 0 has --inclusive$same" ]
    differ "--op=compact --keep=.5" "--op=compact --keep=.25"
    [ "$line" = "scanbench: rank 1 has --keep=.25, and rank 0 has --keep=.5$same" ]
    differ --threads=1 --threads=2
    [ "$line" = "scanbench: rank 1 has --threads=2, and rank 0 has --threads=1$same" ]
    differ --op=sort --op=scan
    [ "$line" = "scanbench: rank 1 has --op=scan, and rank 0 has --op=sort$same" ]
    differ "--op=sort --values=none,u32" --op=sort
    [ "$line" = "scanbench: rank 1 has no --values, and rank 0 has --values=none,u32$same" ]
    differ --simd=portable "--simd=auto --simd=portable,auto"
    [ "$line" = "scanbench: rank 1 has --simd=portable,auto, and rank 0 has --simd=portable$same" ]
    differ --n=100 "--n=100 --dry-run"
    [ "$line" = "scanbench: rank 1 has --dry-run, and rank 0 has no --dry-run$same" ]
}

@test "processes whose SCANBENCH_FLAGS differ" {
    needs_mpi
    # The shell of each process expands it.
    # shellcheck disable=SC2016
    run --separate-stderr timeout -k 1 5 mpirun --allow-run-as-root --oversubscribe -np 3 sh -c \
        'SCANBENCH_FLAGS=--seed=$((OMPI_COMM_WORLD_RANK / 2)) exec "$0" --device=cpu --n=10' "$mpi"
    [ "$status" -eq 2 ]
    [ "$(grep '^scanbench: ' <<<"$stderr")" = "scanbench: rank 2 has --seed=1, and rank 0 has --seed=0; every process needs the same flags" ]
}

@test "processes of which one has a wrong flag, or asks for something else: all end" {
    needs_mpi
    differ --n=100 --n=100 "--n=100 --blok=64"
    [ "$line" = "scanbench: rank 2: unknown flag --blok; did you mean --block?" ]
    differ --n=none --n=100
    has "$line" "scanbench: rank 0: --n=none: "
    differ --n=100 "--n=100 --append"
    has "$line" "scanbench: rank 1: --append needs a file"
    long_test
    local question
    for question in --help --version --list --generate=man; do
        differ --n=100 $question
        has "$line" "rank 1 has $question, and rank 0 has no ${question%%=*};"
    done
    differ --help --n=100
    has "$line" "rank 1 has no --help, and rank 0 has --help;"
    differ --generate=man --generate=zsh
    has "$line" "rank 1 has --generate=zsh, and rank 0 has --generate=man;"
}

@test "processes may write the same flags in other words, and flags about results are the first's" {
    needs_mpi
    timeout 60 mpirun --allow-run-as-root --oversubscribe \
        -np 1 "$mpi" --device=cpu --algo=mpi --n=1024 --kind=inclusive --samples=1 --quiet --output="$rows" : \
        -np 1 "$mpi" --device=cpu --algo=mpi --n=2^10 --inclusive --samples=1 --seed=1 --format=json
    [ "$(columns n kind ranks check)" = 1024,inclusive,2,passed ]
    rm "$rows"
    timeout 60 mpirun --allow-run-as-root --oversubscribe -np 2 "$mpi" --device=cpu --algo=mpi --n=1024 --samples=1 \
        --quiet --output="$rows" --junit="$rows.xml"
    [ "$(grep -c '<testcase' "$rows.xml")" -eq 1 ]
    run --separate-stderr timeout 60 mpirun --allow-run-as-root --oversubscribe -np 2 "$mpi" --version
    [ "$status" -eq 0 ]
    [ "$output" = "$("$mpi" --version)" ]
}

@test "processes of different builds: one line names both" {
    needs_mpi
    # Of the same program, with another commit and then with another build ID.
    local commit other=$BATS_TEST_TMPDIR/scanbench
    commit=$("$mpi" --version | sed -n 's/.* \(g[0-9a-f]\{7\}\).*/\1/p')
    [ -n "$commit" ] || skip "built without git"
    LC_ALL=C sed "s/$commit/g0000000/g" "$mpi" >"$other"
    chmod +x "$other"
    run --separate-stderr timeout -k 1 5 mpirun --allow-run-as-root --oversubscribe \
        -np 1 "$mpi" --device=cpu --n=10 : -np 1 "$other" --device=cpu --n=10
    echo "exit $status; $output; $stderr"
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$(grep -c '^scanbench: ' <<<"$stderr")" -eq 1 ]
    has "$stderr" "rank 1 is another build than rank 0: v" " g0000000" "; rank 0 is v" " $commit"
    local id
    id=$(readelf -n "$mpi" | sed -n 's/.*Build ID: //p')
    [ -n "$id" ] || skip "the linker writes no build ID"
    python3 - "$mpi" "$other" "$id" <<<'
import sys
build, id = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[3])
assert build.count(id) == 1
open(sys.argv[2], "wb").write(build.replace(id, bytes(len(id))))'
    run --separate-stderr timeout -k 1 5 mpirun --allow-run-as-root --oversubscribe \
        -np 2 "$mpi" --device=cpu --n=10 : -np 1 "$other" --device=cpu --n=10
    echo "exit $status; $output; $stderr"
    [ "$status" -eq 2 ]
    has "$stderr" "rank 2 is another build than rank 0" "build ID 00000000; rank 0" "build ID ${id:0:8}"
}

@test "processes on hosts with different CPUs: device_name has both" {
    needs_mpi
    unshare --mount --uts true 2>/dev/null || skip "needs the right to change a host's name"
    # Rank 1 sees another host and another CPU.
    sed 's/^model name.*/model name : Another CPU/' /proc/cpuinfo >"$BATS_TEST_TMPDIR/cpuinfo"
    # The shell of each process expands these.
    # shellcheck disable=SC2016
    timeout 60 mpirun --allow-run-as-root --oversubscribe -np 2 sh -c '
        if [ "$OMPI_COMM_WORLD_RANK" -eq 0 ]; then exec "$@"; fi
        exec unshare --mount --uts sh -c "hostname elsewhere && mount --bind \"\$0\" /proc/cpuinfo && exec \"\$@\"" \
            "$0" "$@"' "$BATS_TEST_TMPDIR/cpuinfo" \
        "$mpi" --device=cpu --algo=mpi --n=100 --samples=1 --quiet --output="$rows"
    columns device_name nodes check
    [[ $(columns device_name) == *" and Another CPU" ]]
    [ "$(columns nodes check)" = 2,passed ]
}

@test "processes: an output file that cannot be opened ends all at once" {
    needs_mpi
    run --separate-stderr timeout -k 1 5 mpirun --allow-run-as-root --oversubscribe -np 3 "$mpi" \
        --device=cpu --algo=mpi --n=100 --output="$BATS_TEST_TMPDIR/none/rows.csv"
    echo "exit $status; $stderr"
    [ "$status" -eq 1 ]
    [ "$(grep '^scanbench: ' <<<"$stderr")" = "scanbench: --output=$BATS_TEST_TMPDIR/none/rows.csv: No such file or directory; make its folder first, or name another file" ]
}

# Waits until a row is in $rows, for a minute at most.
await_row() {
    local began=$SECONDS
    until grep -q ,passed, "$rows" 2>/dev/null; do
        [ $((SECONDS - began)) -lt 60 ] || return
        sleep 0.2
    done
}

@test "processes: a signal to mpirun ends all, and finished rows are kept" {
    needs_mpi
    local signal started job
    for signal in ${LONG:+INT} TERM; do
        # bats ignores SIGINT in the background.
        timeout 100 env --default-signal=INT mpirun --allow-run-as-root --oversubscribe -np 2 "$mpi" \
            --device=cpu --algo=mpi --quiet --min-time=2 --n="$(seq -s, 1000 1040)" --output="$rows" \
            2>"$BATS_TEST_TMPDIR/err" &
        job=$!
        await_row
        started=$SECONDS
        kill -"$signal" "$(pgrep -P "$job")"
        ! wait "$job" || false
        cat "$BATS_TEST_TMPDIR/err"
        [ $((SECONDS - started)) -lt 30 ] # of the 80 that all rows take
        ! pgrep -f "^$mpi .*--output=$rows" || false
        [ "$(columns n check | head -n 1)" = 1000,passed ]
        grep -q "^scanbench: interrupted; finished rows are in $rows" "$BATS_TEST_TMPDIR/err"
        rm "$rows"
    done
}

@test "processes: what they do not measure is refused without --gpus, too" {
    needs_mpi
    local flag
    for flag in --kernels ${LONG:+--show=3 --scratch=fresh --copies --energy}; do
        run --separate-stderr ranks 2 --device=emulator --algo=mpi --n=100 "$flag"
        echo "$flag: exit $status; $stderr"
        [ "$status" -eq 2 ]
        [ "$(grep '^scanbench: ' <<<"$stderr")" = "$(grep "^scanbench: $flag contradicts several processes: " <<<"$stderr")" ]
        [ "$(grep -c '^scanbench: ' <<<"$stderr")" -eq 1 ]
    done
    ranks 2 --device=cpu --algo=mpi --scratch=kept --n=100 --output="$rows"
    [ "$(columns check)" = passed ]
}

@test "processes that MPI does not know of: one line, exit 2" {
    needs_mpi
    local number
    for number in 0 1; do
        run --separate-stderr env PMI_SIZE=2 PMI_RANK=$number "$mpi" --device=cpu --n=10
        echo "exit $status; $output; $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "$(grep -c "^scanbench: rank $number: started as 2 processes, but MPI knows of 1" <<<"$stderr")" -eq 1 ]
    done
}

@test "processes: too many for the GPUs is said once, whichever lacks one" {
    needs_mpi
    run --separate-stderr ranks 2 --device=gpu --algo=mpi --n=100
    [ "$status" -eq 4 ]
    [ "$(grep -c '^scanbench: ' <<<"$stderr")" -eq 1 ]
}

@test "processes: when one is killed, all end, a line says which, and finished rows are kept" {
    needs_mpi
    long_test
    local said=0 tries victim job
    # On a busy machine mpirun may end the others before one of them can say so.
    for ((tries = 0; tries < 3 && said == 0; tries++)); do
        rm -f "$rows"
        timeout 100 mpirun --allow-run-as-root --oversubscribe -np 3 "$mpi" --device=cpu --algo=mpi \
            --quiet --min-time=2 --n=1000,2^22 --output="$rows" \
            2>"$BATS_TEST_TMPDIR/err" &
        job=$!
        await_row
        victim=$(pgrep -f "^$mpi .*--output=$rows" | tail -n 1)
        kill -9 "$victim"
        ! wait "$job" || false
        cat "$BATS_TEST_TMPDIR/err"
        [ "$(columns n check | head -n 1)" = 1000,passed ]
        said=$(grep -c "^scanbench: rank [0-2] (process $victim on .*) has ended" "$BATS_TEST_TMPDIR/err") ||
            grep -q "exited on signal 9" "$BATS_TEST_TMPDIR/err" # by mpirun
    done
    [ "$said" -eq 1 ]
}
