#!/usr/bin/env bats
# broken: algorithms that are wrong on purpose (tests/broken/broken.def) are found, with
# the first wrong index, the value found and the value wanted; other rows are not affected.
#
# DEVICES="cpu gpu" runs them on a GPU as well, with a build of tests/broken/broken.def
# that has CUDA (BROKEN=FILE).

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# on_each_device FLAG...: runs the broken build on every device, and calls `judge` after each
# run, with the exit code in $status and "ALGO<tab>CHECK<tab>REASON" of each row in $output.
# RIGHT in a flag stands for an algorithm that is right on that device.
on_each_device() {
    local device right
    for device in ${DEVICES:-cpu emulator}; do
        right=naive
        [ "$device" != cpu ] || right=serial
        [ "$device" != gpu ] || unset CUDA_VISIBLE_DEVICES
        rm -f "$rows"
        status=0
        "${BROKEN:-$broken}" --device="$device" --samples=2 --quiet --output="$rows" "${@//RIGHT/$right}" ||
            status=$?
        echo "$device: exit $status"
        output=$(read_csv "$rows" algo check reason)
        echo "$output"
        judge
    done
}

# row ALGO CHECK REASON: expects that row; REASON is a pattern.
row() {
    local line
    line=$(grep "^$1	" <<<"$output")
    # A pattern is meant as one.
    # shellcheck disable=SC2053
    [[ $line == "$1	$2	"$3 ]] || {
        echo "not as expected: $line"
        return 1
    }
}

# The scan of ones with --input=ones is known: exclusive output[i] = i.
ones=(--input=ones --n=1000)

@test "one wrong element" {
    judge() {
        [ "$status" -eq 3 ]
        row wrong-element failed 'output[[]500]: got 501, wanted 500'
    }
    on_each_device --algo=wrong-element "${ones[@]}"
}

@test "one wrong element, wherever it is" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c "^wrong-element	failed	output" <<<"$output")" -eq 4 ]
        has "$output" 'output[0]: got 1, wanted 0' 'output[1]: got 2, wanted 1' \
            'output[31]: got 32, wanted 31' 'output[2050]: got 2051, wanted 2050'
    }
    on_each_device --algo=wrong-element --input=ones --n=1,2,63,4101
}

@test "a write past the end" {
    judge() {
        [ "$status" -eq 3 ]
        row past-the-end failed 'written after output: output[[]1000]: got 7, wanted *'
    }
    on_each_device --algo=past-the-end "${ones[@]}"
}

@test "a write before the start" {
    judge() {
        [ "$status" -eq 3 ]
        row before-the-start failed 'written before output: output[[]-1]: got 7, wanted *'
    }
    on_each_device --algo=before-the-start "${ones[@]}"
}

@test "a write past the scratch" {
    judge() {
        [ "$status" -eq 3 ]
        row past-the-scratch failed 'written after scratch: scratch[[]16]: got 7, wanted *'
    }
    on_each_device --algo=past-the-scratch "${ones[@]}"
}

@test "an element left unwritten" {
    judge() {
        [ "$status" -eq 3 ]
        row unwritten-element failed 'output[[]250]: got *, wanted 250 (as if nothing was written)'
    }
    on_each_device --algo=unwritten-element "${ones[@]}"
}

@test "an element left unwritten, though the result was right before" {
    # Another algorithm leaves the right result in the shared output.
    judge() {
        [ "$status" -eq 3 ]
        row unwritten-element failed 'output[[]250]: got *, wanted 250 (as if nothing was written)'
        row memcpy passed ''
    }
    on_each_device --algo=memcpy,unwritten-element "${ones[@]}"
}

@test "a changed input" {
    judge() {
        [ "$status" -eq 3 ]
        row changed-input failed 'input changed: input[[]999]: got 0, wanted 1'
    }
    on_each_device --algo=changed-input "${ones[@]}"
}

@test "wrong only after the first call" {
    judge() {
        [ "$status" -eq 3 ]
        row wrong-later failed 'output[[]0]: got 1, wanted 0; data as of --seed=*'
    }
    on_each_device --algo=wrong-later "${ones[@]}"
}

@test "a result that only the first call wrote, or that stands on what it left" {
    judge() {
        [ "$status" -eq 3 ]
        row works-once failed '*output[[]*]: got *, wanted *'
        row old-state failed '*output[[]500]: got *'
        row "$right" passed ''
    }
    on_each_device --algo=works-once,old-state,RIGHT --n=1000
    on_each_device --algo=works-once,old-state,RIGHT --n=1000 --cache=hot
}

@test "a result that only the first few calls wrote, fewer than were timed in a row" {
    # 1, 16 and 1 samples in a row.
    status=0
    "$broken" --algo=works-three-times --n=1000 --cache=hot --samples=18 --quiet --output="$rows" || status=$?
    [ "$status" -eq 3 ]
    has "$(read_csv "$rows" check reason)" 'failed	' ']: got '
}

@test "a result that only the first call wrote, where all data is the same" {
    local input
    for input in ones zeros alternating sorted reversed signed; do
        judge() {
            [ "$status" -eq 3 ]
            row works-once failed '*'
        }
        on_each_device --algo=works-once --input="$input" --n=1000
    done
}

# A clock that counts one nanosecond of a thousand.
@test "a time that no machine can take, though every result is right" {
    "${CC:-cc}" -shared -fPIC -o "$BATS_TEST_TMPDIR/clock.so" tests/commands/slow_clock.c -ldl
    status=0
    LD_PRELOAD=$BATS_TEST_TMPDIR/clock.so "$scanbench" --device=cpu --algo=serial --n=2^20 --samples=3 --quiet \
        --output="$rows" || status=$?
    [ "$status" -eq 3 ]
    output=$(read_csv "$rows" algo check reason)
    row serial failed "impossible: * GB/s; the device's cores move * GB/s at most"
}

@test "work that is skipped in some of the timed runs" {
    local cache n sizes
    judge() {
        [ "$status" -eq 3 ]
        row every-other-call failed '*output[[]*]: got *, wanted *; data as of --seed=*'
        row wrong-fifth failed '*output[[]*]: got *, wanted *'
        row "$right" passed ''
    }
    for cache in cold dirty hot; do
        case ${LONG-}$cache in
        cold | hot) sizes=(2^10) ;;
        dirty) sizes=(2^15) ;;
        *) sizes=(2^10 2^15) ;;
        esac
        for n in "${sizes[@]}"; do
            on_each_device --algo=every-other-call,wrong-fifth,RIGHT --n="$n" --cache=$cache --samples=16
        done
    done
}

@test "CPU: a half or a single element that only some of the timed runs write" {
    local cache
    for cache in cold hot; do
        rm -f "$rows"
        status=0
        "$broken" --device=cpu --algo='half-in*,wrong-element-in*,serial' --n=2^10 --cache=$cache --samples=100 \
            --quiet --output="$rows" || status=$?
        [ "$status" -eq 3 ]
        output=$(read_csv "$rows" algo check reason)
        row half-in-every-other-call failed '*output[[]*]: got *, wanted *'
        row wrong-element-in-every-other-call failed '*output*'
        row serial passed ''
    done
}

@test "an algorithm that does its work only where its result is missing has to do it in every run" {
    "$broken" --device=cpu --algo=idle-when-done,serial --n=2^20 --cache=both --samples=5 --quiet --output="$rows"
    [ "$(read_csv "$rows" check | sort -u)" = passed ]
    # It reads less than the scan, but never does nothing: 150 ns was its time once.
    [ "$(read_csv "$rows" algo time_ms | awk '$1 == "idle-when-done" && $2 > 0.05' | wc -l)" -eq 2 ]
}

@test "CPU: work that is done ahead, in prepare(), or remembered from other calls" {
    local cache
    for cache in cold hot; do
        rm -f "$rows"
        status=0
        "$broken" --device=cpu --algo=works-ahead,remembers-two,serial --n=2^10,2^16 --cache=$cache --samples=16 \
            --quiet --output="$rows" || status=$?
        [ "$status" -eq 3 ]
        output=$(read_csv "$rows" algo check reason)
        [ "$(grep -c '^works-ahead	failed	' <<<"$output")" -eq 2 ]
        [ "$(grep -c '^remembers-two	failed	' <<<"$output")" -eq 2 ]
        [ "$(grep -c '^serial	passed	' <<<"$output")" -eq 2 ]
    done
}

@test "CPU: work that is done, or waited for, in hand_over()" {
    status=0
    "$broken" --device=cpu --algo=hands-over,joins-late,serial --n=2^10 --samples=3 --quiet --output="$rows" || status=$?
    [ "$status" -eq 3 ]
    output=$(read_csv "$rows" algo check reason)
    row hands-over failed 'output: changed by hand_over(), which may only copy a count'
    row joins-late failed 'output: changed by hand_over(), which may only copy a count'
    row serial passed ''
}

@test "scratch that is taken for zero" {
    local scratch
    judge() {
        [ "$status" -eq 3 ]
        row trusts-scratch failed "output[[]0]: got $((0x5C5C5C5C)), wanted 0 (as if nothing was written)"
    }
    for scratch in kept fresh; do
        on_each_device --algo=trusts-scratch --n=1000 --scratch=$scratch
    done
}

@test "CPU: a read beyond the input, and an input that is changed and put back" {
    status=0
    "$broken" --device=cpu --algo=reads-past,reads-before,puts-back,serial --n=2^12 --samples=1 --quiet \
        --output="$rows" || status=$?
    [ "$status" -eq 3 ]
    output=$(read_csv "$rows" algo check reason)
    row reads-past failed 'touched memory 0 bytes past the end of a buffer of 16384 bytes'
    row reads-before failed 'touched memory 4 bytes before the start of a buffer of 16384 bytes'
    row puts-back failed 'wrote to its input, at byte 0 of 16384'
    row serial passed ''
}

@test "CPU: 0 before -0 in a sort" {
    status=0
    "$broken" --device=cpu --op=sort --type=f32 --input=special --algo=zeros-swapped,serial,radix,simd,std --n=1000 \
        --samples=1 --quiet --output="$rows" || status=$?
    [ "$status" -eq 3 ]
    output=$(read_csv "$rows" algo check reason)
    row zeros-swapped failed 'output[[]*]: got -0, wanted at least 0; the right elements, not in order'
    [ "$(grep -c '	passed	' <<<"$output")" -eq 4 ]
}

@test "a launch on the default stream, which nothing times or waits for" {
    judge() {
        [ "$status" -eq 1 ]
        row default-stream error 'run: *on the default stream, which is neither timed nor waited for'
        row "$right" passed ''
    }
    local device=${DEVICES:-emulator}
    DEVICES=${device/cpu/emulator} on_each_device --algo=default-stream,RIGHT --n=1024
}

@test "writes far outside the buffers" {
    judge() {
        [ "$status" -eq 3 ]
        row far-past-the-end failed 'written after output: output[[]1070]: got 7, wanted *'
        row far-before-the-start failed 'written before output: output[[]-15000]: got 7, wanted *'
        row "$right" passed ''
    }
    on_each_device --algo=far-past-the-end,far-before-the-start,RIGHT --n=1000
}

@test "CPU: a touch past the margin ends the worker; its row says so, and the others pass" {
    run --separate-stderr "$broken" --algo=serial,past-the-fence --device=cpu --n=10,1000 --samples=1 \
        --quiet --output="$rows"
    [ "$status" -eq 3 ]
    [ -z "$stderr" ]
    [ "$(read_csv "$rows" algo n check reason | sort)" = "$(sort <<'END'
serial	10	passed	
past-the-fence	10	passed	
serial	1000	passed	
past-the-fence	1000	failed	past-the-fence touched memory 70000 bytes past the end of a buffer of 4000 bytes
END
)" ]
}

@test "inclusive scans too" {
    judge() {
        [ "$status" -eq 3 ]
        row wrong-element failed 'output[[]500]: got 502, wanted 501'
        row unwritten-element failed 'output[[]250]: got *, wanted 251 (as if nothing was written)'
    }
    on_each_device --algo=wrong-element,unwritten-element --inclusive "${ones[@]}"
}

@test "the others of the same run appear and pass" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '	failed	' <<<"$output")" -eq 6 ]
        row memcpy passed ''
        row "$right" passed ''
    }
    on_each_device --n=1000 --algo="RIGHT,memcpy,wrong-element,past-the-end,\
before-the-start,unwritten-element,changed-input,wrong-later"
}

@test "the sizes after a wrong one appear and pass" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '^memcpy	passed	' <<<"$output")" -eq 3 ]
        [ "$(grep -c '^changed-input	failed	' <<<"$output")" -eq 3 ]
    }
    on_each_device --n=10,1000,20 --algo=memcpy,changed-input
}

@test "times stand only beside what passed" {
    judge() {
        read_csv "$rows" # it knows
        [ "$(read_csv "$rows" time_ms check | grep -c '^	failed$')" -eq 1 ]
    }
    on_each_device --algo=wrong-element "${ones[@]}"
}

# ---- Compaction and sort ----

# A zero, then 1 to 1023: the compaction's output[i] is i + 1.
compaction=(--op=compact --input=sorted --max=1023 --n=1024)
# 1023 down to 0: the sort's output[i] is i.
sorting=(--op=sort --input=reversed --max=1023 --n=1024)

@test "compaction: a count that is wrong, of the others, or not there" {
    judge() {
        [ "$status" -eq 3 ]
        row wrong-count failed 'count: got 1024, wanted 1023'
        row removed-count failed 'count: got 1, wanted 1023'
        row unwritten-count failed "count: got $((0x5C5C5C5C5C5C5C5C)), wanted 1023 (as if nothing was written)"
    }
    on_each_device --algo=wrong-count,removed-count,unwritten-count "${compaction[@]}"
}

@test "compaction: lost, duplicated, swapped: the first place that is wrong" {
    judge() {
        [ "$status" -eq 3 ]
        row lost-element failed 'output[[]511]: got 513, wanted 512'
        row swapped-elements failed 'output[[]511]: got 513, wanted 512; the right elements, in another order'
        row duplicated-element failed 'output[[]512]: got 512, wanted 513'
    }
    on_each_device --algo=lost-element,swapped-elements,duplicated-element "${compaction[@]}"
}

@test "compaction: lost among equals, where only the end shows it" {
    judge() {
        [ "$status" -eq 3 ]
        row lost-element failed "output[[]999]: got $((0x5C5C5C5C)), wanted 1 (as if nothing was written)"
    }
    on_each_device --op=compact --algo=lost-element "${ones[@]}"
}

@test "compaction: a write behind the last kept element" {
    judge() {
        [ "$status" -eq 3 ]
        row written-behind failed \
            "written after the last kept element: output[[]1023]: got 7, wanted $((0x5C5C5C5C))"
    }
    on_each_device --algo=written-behind "${compaction[@]}"
}

@test "compaction: a write behind the last kept element, at the edges" {
    judge() {
        [ "$status" -eq 3 ]
        row written-behind failed "$edge"
    }
    local edge="written after the last kept element: output[[]0]: got 7, wanted *"
    on_each_device --op=compact --algo=written-behind --input=zeros --n=1000
    on_each_device --op=compact --algo=written-behind --keep=0 --n=1
    edge="written after output: output[[]1000]: got 7, wanted *"
    on_each_device --op=compact --algo=written-behind "${ones[@]}"
    edge="written after output: output[[]0]: got 7, wanted *"
    on_each_device --op=compact --algo=written-behind --n=0
}

@test "compaction: whatever is kept, a wrong count is found" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '^wrong-count	failed	count: got' <<<"$output")" -eq 4 ]
    }
    local keep
    for keep in 0 0.01 0.5 0.75 1; do
        on_each_device --op=compact --algo=wrong-count --keep="$keep" --n=0,1,33,4101
    done
}

@test "sort: a place out of order, with what is there and what is before it" {
    judge() {
        [ "$status" -eq 3 ]
        row wrong-order failed 'output[[]512]: got 511, wanted at least 512; the right elements, not in order'
    }
    on_each_device --algo=wrong-order "${sorting[@]}"
}

@test "sort: in order, but with a key lost or there twice" {
    judge() {
        [ "$status" -eq 3 ]
        row lost-key failed 'output: in order, but not a permutation of the input'
        row duplicated-key failed 'output: in order, but not a permutation of the input'
    }
    on_each_device --algo=lost-key,duplicated-key "${sorting[@]}"
    on_each_device --op=sort --algo=lost-key,duplicated-key --max=2^31-1 --n=5003
}

@test "sort: a split that is not stable" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '^unstable-split	failed	output[[].*, wanted at least' <<<"$output")" -eq 3 ]
    }
    on_each_device --op=sort --algo=unstable-split --n=33,1000,4101
}

@test "compaction and sort: the others of the same run appear and pass" {
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '	failed	' <<<"$output")" -eq 9 ]
        [ "$(grep -c "^$right	passed	" <<<"$output")" -eq 2 ]
        [ "$(grep -c '^memcpy	passed	' <<<"$output")" -eq 2 ]
    }
    on_each_device --op=compact,sort --n=1000 --max=2^31-1 --keep=0.3 --algo="RIGHT,memcpy,wrong-count,\
lost-element,swapped-elements,duplicated-element,written-behind,lost-key,duplicated-key,\
wrong-order,unstable-split"
}

@test "compaction and sort over a scan that is wrong" {
    on_device=${DEVICES:-emulator}
    judge() {
        [ "$status" -eq 3 ]
        [ "$(grep -c '^wrong-element	failed	' <<<"$output")" -eq 2 ]
    }
    DEVICES=${on_device/cpu/emulator} on_each_device --op=compact,sort --algo=wrong-element --n=1000
}

@test "a write past its own scratch, though others of the run have more" {
    judge() {
        [ "$status" -eq 3 ]
        row past-the-scratch failed 'written after scratch: scratch[[]16]: got 7, wanted *'
        row "$right" passed ''
    }
    on_each_device --algo=RIGHT,past-the-scratch "${ones[@]}"
    on_each_device --algo=past-the-scratch,RIGHT "${ones[@]}"
}

# ---- What the emulator finds ----

# in_emulator FLAG...: runs one row; $output is "CHECK<tab>REASON".
in_emulator() {
    rm -f "$rows"
    status=0
    "$broken" --device=emulator --samples=2 --quiet --output="$rows" "$@" || status=$?
    output=$(read_csv "$rows" check reason)
    echo "exit $status: $output"
}

# line TEXT: prints the line number of TEXT in wrong_kernels.cu.
line() {
    grep -n -m 1 -F -- "$1" tests/broken/wrong_kernels.cu | cut -d: -f1
}

@test "emulator: a divergent barrier, with the place where threads wait" {
    local place
    place=wrong_kernels.cu:$(line '__syncthreads();')
    in_emulator --algo=divergent-barrier --n=64
    [ "$status" -eq 1 ]
    has "$output" 'error	' 'divergent barrier in divergent_barrier_kernel, block 0' \
        "threads 0, 2, 4, ... (32 in all) wait at $place" 'have exited'
}

@test "emulator: a missing barrier is wrong whatever the seed" {
    local seed block
    for seed in 1 2 3 4 5 6 7 8; do
        for block in 32 64 1024; do
            in_emulator --algo=missing-barrier --n="$block" --block="$block" --seed="$seed"
            [ "$status" -eq 3 ]
            has "$output" 'failed	output['
        done
    done
}

@test "emulator: a deadlock, with the place where threads wait" {
    local place seed
    place=wrong_kernels.cu:$(line '__nanosleep(100);')
    for seed in 1 2 3; do
        in_emulator --algo=deadlock --n=4096 --seed="$seed"
        [ "$status" -eq 1 ]
        has "$output" 'error	' 'deadlock in deadlock_kernel' "thread 0 spins at $place" \
            'of 64 blocks' 'wait for a slot'
    done
}

@test "emulator: shared memory is not zero" {
    local seed
    for seed in 1 2 3; do
        in_emulator --algo=uninitialised-shared --n=64 --seed="$seed"
        [ "$status" -eq 3 ]
        has "$output" 'failed	output['
    done
}

@test "emulator: an error ends its row, not the run" {
    in_emulator --algo=naive,divergent-barrier,deadlock,memcpy --n=64,128
    [ "$status" -ne 0 ]
    output=$(read_csv "$rows" algo n check)
    [ "$(wc -l <<<"$output")" -eq 8 ]
    local n
    for n in 64 128; do
        grep -qx "naive	$n	passed" <<<"$output"
        grep -qx "memcpy	$n	passed" <<<"$output"
    done
    grep -qx "divergent-barrier	64	error" <<<"$output"
}

@test "emulator: a kernel that never ends is stopped, and named with a block and a thread" {
    local of=${LONG:+64,128} loop=${LONG:+endless-loop,}
    status=0
    "$broken" --device=emulator --algo="memcpy,${loop}endless-spin,naive" --n="${of:=64}" --max-time=1ms --quiet \
        --output="$rows" || status=$?
    [ "$status" -eq 1 ]
    output=$(read_csv "$rows" algo n check reason)
    [ -z "$loop" ] || grep -qx "endless-loop	64	error	run: time limit in endless_loop_kernel, \
block 0, thread [0-9]*: no thread of 1 blocks has ended in the last 5 s" <<<"$output"
    grep -qx "endless-spin	64	error	run: time limit in endless_spin_kernel, \
block 0, thread 1: no thread of 1 blocks has ended in the last 5 s" <<<"$output"
    [ "$(grep -Ecx '(memcpy|naive)	(64|128)	passed	' <<<"$output")" -eq "$([ "$of" = 64 ] && echo 2 || echo 4)" ]
}

@test "emulator: a null or wild pointer is an error of its row, with block, thread and address" {
    in_emulator --algo=memcpy,null-pointer,wild-pointer,naive --n=64,128
    [ "$status" -eq 1 ]
    output=$(read_csv "$rows" algo n check reason)
    grep -qx "null-pointer	64	error	run: illegal memory access in \
illegal_store_kernel, block 0, thread [0-9]*: null pointer, address 0x[0-9a-f]*" <<<"$output"
    grep -qx "wild-pointer	64	error	run: illegal memory access in \
illegal_store_kernel, block 0, thread [0-9]*: address 0x[0-9a-f]*\(, [0-9]* bytes .* a buffer of [0-9]* bytes.*\)\?" \
        <<<"$output"
    [ "$(grep -Ecx '(memcpy|naive)	(64|128)	passed	' <<<"$output")" -eq 4 ]
}

@test "a signal ends a run whose kernel or run() never returns; finished rows are kept" {
    local algo device signal seconds
    for signal in TERM INT; do
        for algo in endless-loop never-returns; do
            device=emulator
            [ "$algo" = endless-loop ] || device=cpu
            for seconds in 2 8; do # on a busy machine memcpy may not be measured after 2 s
                rm -f "$rows"
                status=0
                # 10 s after the signal the process would be killed.
                timeout --preserve-status --kill-after=10 --signal="$signal" "$seconds" "$broken" --device="$device" \
                    --algo="memcpy,$algo" --n=32,64 --max-time=100 --quiet \
                    --output="$rows" 2>"$BATS_TEST_TMPDIR/notes" || status=$?
                ! grep -q '^scan,memcpy,' "$rows" || break
            done
            cat "$BATS_TEST_TMPDIR/notes"
            echo "$signal, $algo: exit $status"
            [ "$status" -eq 130 ]
            has "$(cat "$BATS_TEST_TMPDIR/notes")" "interrupted; finished rows are in $rows"
            [ "$(read_csv "$rows" algo n check | grep -c "^memcpy	32	passed$")" -eq 1 ]
            [ "$(read_csv "$rows" algo check | grep -c error)" -eq 0 ]
        done
    done
}

@test "a signal that is sent twice at once, as by timeout, is one; later it ends the process" {
    local wait
    for wait in 0.02 0.5; do
        rm -f "$rows"
        "$broken" --device=cpu --algo=never-returns --n=64 --quiet --output="$rows" 3>&- &
        sleep 1
        kill -TERM $!
        sleep "$wait"
        kill -TERM $!
        status=0
        wait $! || status=$?
        echo "after $wait s: exit $status"
        [ "$status" -eq "$([ "$wait" = 0.5 ] && echo 143 || echo 130)" ]
    done
}

@test "a wrong answer counts for more than an error: exit 3" {
    in_emulator --algo=divergent-barrier,wrong-element --n=64
    [ "$status" -eq 3 ]
    in_emulator --algo=wrong-element,divergent-barrier --n=64
    [ "$status" -eq 3 ]
}

@test "what an algorithm keeps between calls is its own, and released after each size" {
    "$broken" --device=cpu --algo=keeps-state --threads=1,2 --n=1000,2000 --samples=3 --quiet \
        --output="$rows"
    [ "$(read_csv "$rows" check)" = $'passed\npassed\npassed\npassed' ]
}

@test "--scratch: prepare() is part of each timed run where it is fresh, and of none where it is kept" {
    local scratch time
    for scratch in kept fresh; do
        rm -f "$rows"
        "$broken" --device=cpu --algo=slow-to-prepare --n=1000 --samples=3 --scratch=$scratch --quiet --output="$rows"
        [ "$(read_csv "$rows" check scratch)" = "passed	$scratch" ]
        time=$(read_csv "$rows" time_min_ms)
        echo "$scratch: $time ms"
        if [ $scratch = fresh ]; then
            awk "BEGIN { exit !($time >= 20) }"
        else
            awk "BEGIN { exit !($time < 20) }"
        fi
    done
}
