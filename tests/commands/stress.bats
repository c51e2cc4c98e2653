#!/usr/bin/env bats
# stress: tests/gpu/stress.cu on the emulator: its verdict on right and on wrong algorithms.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

@test "our fastest algorithms: fresh data, other sizes, two streams: every result is right" {
    # With sanitizers it takes several times as long.
    run build/"$([ -n "${LONG-}" ] && echo asan || echo broken)"/tests/stress_emulated --repeats=60 --max-n=20000
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 13 ]
    [ "$(grep -cE '^(scan|compact|sort|reduce) +[a-z-]+ +[1-9][0-9]* results, 0 wrong, n = [1-9][0-9]* to [0-9]{4,}$' <<<"$output")" -eq 12 ]
    [ "${lines[12]}" = "60 repeats on each of 2 streams, 0 results wrong" ]
}

@test "another seed: other problems; the same: the same" {
    local one=(build/broken/tests/stress_emulated --repeats=3 --max-n=5000)
    [ "$("${one[@]}" --seed=1)" = "$("${one[@]}")" ]
    [ "$("${one[@]}" --seed=2)" != "$("${one[@]}")" ]
}

@test "lookahead: more tiles than its ring has stages" {
    local few=${LONG:+30}
    run build/broken/tests/stress_emulated --repeats="${few:=12}" --streams=1 --max-n=300000 --seed=4 lookahead
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -cE ', 0 wrong, n = [0-9]+ to 300000$' <<<"$output")" -eq 2 ]
}

@test "a device of few multiprocessors, where blocks take many turns; and one of many" {
    local count few=${LONG:+40}
    for count in ${LONG:+1 3} 2; do
        run build/broken/tests/stress_emulated --multiprocessors="$count" --repeats="${few:=20}" --streams=1 \
            --max-n=300000 --seed=4 lookahead one-wave
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$(grep -cE 'lookahead .* 0 wrong, n = [0-9]+ to 300000$' <<<"$output")" -eq 2 ]
        [ "$(grep -cE 'one-wave .* 0 wrong, n = [0-9]+ to 300000$' <<<"$output")" -eq 2 ]
    done
    # More tiles per round than a warp has lanes.
    run build/broken/tests/stress_emulated --multiprocessors=34 --repeats=6 --streams=1 \
        --max-n=300000 --seed=4 lookahead
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -cE ', 0 wrong, n = [0-9]+ to 300000$' <<<"$output")" -ge 1 ]
}

@test "sort and reduction on few multiprocessors" {
    local count
    for count in ${LONG:+1 2} 3; do
        run build/broken/tests/stress_emulated --multiprocessors="$count" --repeats=24 --streams=1 \
            --max-n=20000 --seed=7 msd sample stable-msd single-pass
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$(grep -cE ' (msd|sample|stable-msd|single-pass) .* 0 wrong, n = [0-9]+ to [0-9]{4,}$' <<<"$output")" -eq 4 ]
    done
}

@test "several devices, each problem a few times without a wait in between" {
    local gpus
    for gpus in ${LONG:+5} 2; do
        run build/asan/tests/stress_emulated --gpus="$gpus" --repeats=12 --max-n=20000 --seed=2
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$(grep -cE "^(scan|compact|sort) +peer on $gpus devices +[1-9][0-9]* results, 0 wrong, n up to [0-9]{4,}$" <<<"$output")" -eq 3 ]
        [ "${lines[3]}" = "12 repeats on each of $gpus devices, 0 results wrong" ]
    done
}

@test "wrong algorithms are found, with what they did" {
    for name in wrong-element past-the-end before-the-start past-the-scratch lost-element \
        wrong-count written-behind; do
        run build/broken/tests/stress_emulated --repeats=20 --streams=1 --max-n=5000 $name
        echo "$output"
        [ "$status" -eq 3 ]
        [[ $output =~ WRONG.*$name:\ i(32|64),\ (in|ex)clusive,\ n\ =\ [0-9]+,.*run\ [1-4]:\ [0-9]+\ differences ]]
    done
    # Right only in the first call. This seed draws a scan, which shows it every time.
    run build/broken/tests/stress_emulated --seed=3 --repeats=1 --streams=1 --max-n=5000 wrong-later
    [ "$(grep -o 'run .:' <<<"$output" | tr -d '\n')" = "run 2:run 3:run 4:" ]
}

@test "what it cannot do, it says" {
    run build/asan/tests/stress_emulated nope
    [ "$status" -eq 2 ]
    [ "$output" = "stress: no such algorithm: nope" ]
    run build/asan/tests/stress_emulated --max-n=0
    [ "$status" -eq 2 ]
    run build/asan/tests/stress_emulated --repeats=1 --streams=1 --max-n=100 one-wave lookback
    [ "$status" -eq 0 ]
    has "$output" 'not run: too few repeats'
    run build/asan/tests/stress_emulated --repeats=1 tree-smem
    [ "$status" -eq 2 ]
    [ "$output" = "stress: tree-smem is what others are compared with" ]
    run build/asan/tests/stress_emulated --repeats=1 naive
    [ "$status" -eq 2 ]
    [ "$output" = "stress: naive needs more than a stream" ]
    run build/asan/tests/stress_emulated --repeats=1 --gpus=2 lookback
    [ "$status" -eq 2 ]
}
