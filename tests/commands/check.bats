#!/usr/bin/env bats
# check: --check and --junit: what is wrong, each defect once.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154,SC2030,SC2031
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# check FLAG...: runs --check, of few sizes unless it says otherwise.
check() {
    run --separate-stderr "$scanbench" --check --quiet "$@"
    echo "exit $status: $output; stderr: $stderr"
}

@test "check: sources in the manner of their users' pass, without a finding" {
    local file
    while read -r file; do
        check --algo="$file" --n=1,33,1000 </dev/null
        [ "$status" -eq 0 ]
        [[ $output == *': passed: '* ]]
        [[ $output != *defect* ]]
    done < <(share tests/own/right/*.cu tests/own/right/*/*.cu examples/my_scan.cu)
}

@test "check: wrong sources: what is wrong, in words, where and when" {
    local file words part limit sizes
    while read -r file; do
        limit=$(sed -n 's|^// flags:.*\(--timeout=[0-9]*\).*|\1|p' "$file")
        words=$(sed -n 's|^// check: ||p' "$file")
        [ -n "${LONG-}" ] || [[ $words != *'time limit'* ]] || continue # which takes 20 s
        echo "$file: wanted: $words"
        [ -n "$words" ]
        # All sizes take seconds each, and only some patterns need them: those of large_only.cu, which other
        # tests here have, and of sources that make test-long has.
        sizes=("--n=0,1,2,3,33,256,257,1000,1025")
        [[ $words != *multiples* && ! $words =~ above\ n\ =\ [0-9][0-9] ]] || sizes=()
        [ -n "${LONG-}${sizes[*]}" ] || continue
        check --algo="$file" --input=uniform "${sizes[@]}" ${limit:+"$limit"} </dev/null
        [ "$status" -eq 3 ]
        while read -r part; do
            has "$output" "$part"
        done < <(tr '|' '\n' <<<"$words")
    done < <(share tests/own/wrong/*.cu)
    # What the sanitizer prints went nowhere.
    [ -z "$(find . -maxdepth 1 -name '.[0-9]*')" ]
}

@test "check: each defect is named once, with the command that shows it again" {
    local again
    check --algo=tests/own/wrong/large_only.cu
    [ "$(grep -c 'wrong result' <<<"$output")" -eq 1 ]
    has "$output" 'scan mine: 2 defects; ' 'a launch that CUDA refuses' 'only at n = 0'
    again=$(sed -n 's/^ *again: //p' <<<"$output" | tail -1)
    has "$again" ' --check ' ' --n=1025 '
    eval "run $again"
    [ "$status" -eq 3 ]
    has "$output" 'scan mine: 1 defect; 0 of 1 configurations passed' 'output[1024]: wanted'
}

@test "check: the command that shows a defect again runs, writes no file, and has the values of the row alone" {
    local again file=tests/own/wrong/large_only.cu folder=$BATS_TEST_TMPDIR
    run --separate-stderr "$scanbench" --check -qa "$file" --n=5,100 --n=1,2000 --npot --samples-f="$folder/s.csv" \
        --jun "$folder/x.xml" --label="it's=a b" -qo "$folder/verdicts.txt"
    [ "$status" -eq 3 ]
    again=$(sed -n 's/^ *again: //p' "$folder/verdicts.txt" | tail -1)
    [ "$again" = "$scanbench --check --quiet --algo=$file --label='it'\\''s=a b' --quiet --n=1250 --input=uniform --max=49" ]
    eval "run $again"
    [ "$status" -eq 3 ]
    has "$output" 'scan mine: 1 defect; 0 of 1 configurations passed'
}

@test "check: a race is named in place of what follows from it: a copy, a store outside an array, freed memory" {
    local again what
    cat >"$BATS_TEST_TMPDIR/several.cu" <<'END'
#include <scanbench_own.h>
__global__ void find_places(const int *in, int *places, int n)
{
    __shared__ int temp[1024];
    int t = threadIdx.x;
    temp[t] = t < n && in[t] != 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        int before = t >= d ? temp[t - d] : 0;
        temp[t] += before;
        __syncthreads();
    }
    places[t] = temp[t];
}
__global__ void scatter(const int *in, const int *places, int *out, int n)
{
    int t = threadIdx.x;
    if (t < n && in[t] != 0)
        out[places[t] - 1] = in[t];
}
static int compact(int n, int *odata, const int *idata)
{
    int *in, *out, *places, count;
    if (n == 0)
        return 0;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&places, 1024 * sizeof(int));
    cudaMemcpy(in, idata, n * sizeof(int), cudaMemcpyHostToDevice);
    find_places<<<1, 1024>>>(in, places, n);
    cudaMemcpy(&count, places + 1023, sizeof(int), cudaMemcpyDeviceToHost);
    scatter<<<1, 1024>>>(in, places, out, n);
    cudaMemcpy(odata, out, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    cudaFree(places);
    return count;
}
SCANBENCH_HOST_COMPACT("mine", compact, at_most(1024))
END
    check --algo="$BATS_TEST_TMPDIR/several.cu" --n=1,2,31,33,100,1000,1024
    [ "$status" -eq 3 ]
    has "$output" 'compact mine: 1 defect; ' 'race on shared memory in find_places' \
        ' of temp at several.cu:10' ' it at several.cu:9, and no'
    # It names the operation, without which --keep is refused.
    again=$(sed -n 's/^ *again: //p' <<<"$output")
    what=$(sed -n 3p <<<"$output")
    eval "run $again"
    [ "$status" -eq 3 ]
    has "$output" "$what"
}

@test "check: a row shows the same, whichever ran before it" {
    local reason
    cat >"$BATS_TEST_TMPDIR/orders.cu" <<'END'
#include <scanbench_own.h>
// Which block comes first decides: that is no race, but another order is another result.
__global__ void come_first(unsigned *ticket, int *out, int n)
{
    unsigned place = atomicAdd(ticket, 1u);
    if (place < (unsigned)n)
        out[place] = blockIdx.x + 1;
}
static void scan(const int *, int *out, const scanbench_context &context)
{
    cudaMemsetAsync(context.scratch, 0, sizeof(unsigned), context.stream);
    come_first<<<64, 1, 0, context.stream>>>((unsigned *)context.scratch, out, (int)context.n);
}
static size_t ticket_bytes(size_t)
{
    return sizeof(unsigned);
}
SCANBENCH_SCAN("mine", scan, scratch(ticket_bytes))
END
    check --algo="$BATS_TEST_TMPDIR/orders.cu" --n=33,34,40 --input=zeros --format=csv --columns=reason
    reason=${lines[3]}
    [[ $reason == *'output[0]: got '* ]]
    check --algo="$BATS_TEST_TMPDIR/orders.cu" --n=40 --input=zeros --format=csv --columns=reason
    [ "${lines[1]}" = "$reason" ]
}

@test "check: the command that shows a defect again calls the program as it was called" {
    local folder="$BATS_TEST_TMPDIR/it's here" file=tests/own/wrong/race_shared.cu again
    mkdir "$folder"
    ln -s "$(realpath "$scanbench")" "$folder/scanbench"
    for again in "'$BATS_TEST_TMPDIR/it'\\''s here/scanbench'" scanbench; do
        PATH=$folder:$PATH run eval "$again --check --algo=$file --n=33 --max=49 --input=uniform --quiet"
        [ "$status" -eq 3 ]
        has "$output" "again: $again --check "
    done
}

@test "check: memory that is used after it was freed, or freed twice" {
    check --algo=tests/own/wrong/used_after_free.cu --n=33 --input=uniform
    has "$output" 'uses memory after it was freed' \
        'memory used after it was freed in scan_all, block 0, thread 0 at used_after_free.cu:10: read of 4 bytes'
    check --algo=tests/own/wrong/freed_twice.cu --n=33 --input=uniform
    has "$output" 'frees memory that is not allocated' 'illegal cudaFree'
}

@test "check: a kernel that uses the arrays of the host form, which are the host's" {
    check --algo=tests/own/wrong/host_pointers.cu --n=33 --input=uniform
    has "$output" 'a kernel uses memory of the host' \
        'memory of the host used in scan_all, block 0, thread 0 at host_pointers.cu:9: read of 4 bytes'
    check --algo="tests/own/right/course dir/it's efficient.cu" --n=33 --input=uniform
    [ "$status" -eq 0 ]
}

@test "check: host code that uses memory of cudaMalloc, and may use managed and page-locked memory" {
    cat >"$BATS_TEST_TMPDIR/sides.cu" <<'END'
#include <scanbench_own.h>
__global__ void scan_all(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; sum += in[i++])
        out[i] = sum;
}
template <auto allocate, auto give_back> static void scan(int n, int *odata, const int *idata)
{
    int *in, *out;
    allocate(&in, n);
    allocate(&out, n);
    for (int i = 0; i < n; i++)
        in[i] = idata[i];
    scan_all<<<1, 1>>>(in, out, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        odata[i] = out[i];
    give_back(in);
    give_back(out);
}
static void device(int **array, int n) { cudaMalloc(array, n * sizeof(int)); }
static void managed(int **array, int n) { cudaMallocManaged(array, n * sizeof(int)); }
static void locked(int **array, int n) { cudaMallocHost((void **)array, n * sizeof(int)); }
static void free_locked(int *array) { cudaFreeHost(array); }
static void free_device(int *array) { cudaFree(array); }
SCANBENCH_HOST_SCAN("device", (scan<device, free_device>))
SCANBENCH_HOST_SCAN("managed", (scan<managed, free_device>))
SCANBENCH_HOST_SCAN("locked", (scan<locked, free_locked>))
static void of_device(const int *in, int *out, int n)
{
    if (n == 0)
        return;
    scan_all<<<1, 1>>>(in, out, n);
    out[0] = 0;
}
SCANBENCH_SCAN("device-form", of_device)
END
    check --algo="$BATS_TEST_TMPDIR/sides.cu" --n=0,1,33 --input=uniform
    has "$output" 'scan managed: passed: ' 'scan locked: passed: ' 'scan device: 1 defect; 1 of 3' \
        'the host uses memory of the device' \
        'memory of the device used outside kernels at sides.cu:14: write of 4 bytes' 'scan device-form: 1 defect; 1 of 3' \
        'memory of the device used outside kernels at sides.cu:35: write of 4 bytes'
}

@test "check: a copy between other sides than it says" {
    cat >"$BATS_TEST_TMPDIR/directions.cu" <<'END'
#include <scanbench_own.h>
__global__ void scan_all(int *data, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        const int x = data[i];
        data[i] = sum;
        sum += x;
    }
}
template <cudaMemcpyKind there, cudaMemcpyKind back, bool turned> static void scan(int n, int *odata, const int *idata)
{
    int *data;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemcpy(data, idata, n * sizeof(int), there);
    scan_all<<<1, 1>>>(data, n);
    cudaMemcpy(turned ? data : odata, turned ? odata : data, n * sizeof(int), back);
    cudaFree(data);
}
SCANBENCH_HOST_SCAN("right", (scan<cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, false>))
SCANBENCH_HOST_SCAN("default", (scan<cudaMemcpyDefault, cudaMemcpyDefault, false>))
SCANBENCH_HOST_SCAN("kinds", (scan<cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice, false>))
SCANBENCH_HOST_SCAN("turned", (scan<cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, true>))
END
    check --algo="$BATS_TEST_TMPDIR/directions.cu" --n=1,33 --input=uniform
    has "$output" 'scan right: passed: ' 'scan default: passed: ' 'scan kinds: 1 defect; 0 of 2' 'scan turned: 1 defect; 0 of 2' \
        'a copy in the wrong direction' 'illegal cudaMemcpy: cudaMemcpyDeviceToHost to memory of the device' \
        'the destination comes first'
    [ "$(grep -c 'illegal cudaMemcpy: cudaMemcpyDeviceToHost to memory of the device' <<<"$output")" -eq 2 ]
}

@test "check: a store outside an array ends the launch, and harms no other function" {
    cat >"$BATS_TEST_TMPDIR/small.cu" <<'END'
#include <scanbench_own.h>
__global__ void scan_all(const int *in, int *out, int n)
{
    volatile int sum = 0; // no warning: += on it is deprecated in C++20 alone
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}
template <size_t bytes> static void scan(int n, int *odata, const int *idata)
{
    int *in, *out;
    cudaMalloc(&in, n * bytes);
    cudaMalloc(&out, n * bytes);
    cudaMemcpy(in, idata, n * bytes, cudaMemcpyHostToDevice);
    scan_all<<<1, 1>>>(in, out, n);
    cudaMemcpy(odata, out, n * bytes, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
}
SCANBENCH_HOST_SCAN("right", scan<sizeof(int)>)
SCANBENCH_HOST_SCAN("small", scan<1>)
END
    check --algo="$BATS_TEST_TMPDIR/small.cu" --n=0,1,33,1000,1023,1024,4097,16385
    [ "$status" -eq 3 ]
    [ "$stderr" = '' ]
    has "$output" 'scan right: passed: ' 'scan small: 1 defect; ' \
        'scan_all, block 0, thread 0 at small.cu:6: write of 4 bytes, beyond the end of a buffer of 1 bytes'
}

@test "check: what a wrong launch, a missing size and a sum that begins with what was there have for a hint" {
    cat >"$BATS_TEST_TMPDIR/hints.cu" <<'END'
#include <scanbench_own.h>
__global__ void add_all(const int *in, int *out, int n)
{
    extern __shared__ int temp[];
    temp[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            *out += temp[i];
}
static void no_shared(const int *in, int *out, int n) { add_all<<<1, 64>>>(in, out, n); }
static void no_zero(const int *in, int *out, int n) { add_all<<<1, 64, 64 * sizeof(int)>>>(in, out, n); }
static void no_blocks(const int *in, int *out, int n) { add_all<<<n / 64, 64, 256>>>(in, out, n); }
static void high_grid(const int *in, int *out, int n) { add_all<<<dim3(1, 65536), 64, 256>>>(in, out, n); }
static void deep_block(const int *in, int *out, int n) { add_all<<<1, dim3(1, 1, 65), 260>>>(in, out, n); }
SCANBENCH_REDUCE("no-shared", no_shared)
SCANBENCH_REDUCE("no-zero", no_zero)
SCANBENCH_REDUCE("no-blocks", no_blocks)
SCANBENCH_REDUCE("high-grid", high_grid)
SCANBENCH_REDUCE("deep-block", deep_block)
END
    check --algo="$BATS_TEST_TMPDIR/hints.cu" --n=33 --input=uniform
    has "$output" 'reads or writes outside its shared memory' 'The third value in <<<>>> is how many bytes it has' \
        '(added to what was there before: is that set to 0 first?)' \
        ': 0 blocks' '(n + threads - 1) / threads blocks are enough for all n' \
        "hints.cu:14: more than 65535 blocks in the grid's y or z" "hints.cu:15: more than 64 threads in the block's z"
}

@test "check: that no element is wrong where there is none is no pattern" {
    check --algo=tests/own/wrong/wrong_bound.cu --n=0,1,33 --input=uniform
    [ "$status" -eq 3 ]
    [[ $output != *'seen '* ]]
}

@test "check: flags for values that verdicts lack are refused; other formats have them" {
    local flag
    for flag in --counts --kernels --copies --energy; do
        fails 2 --check --algo=naive --n=10 $flag
        [ "$stderr" = "scanbench: --check contradicts $flag: its verdicts have no measures; add --format=csv" ]
    done
    [ "$("$scanbench" --check --algo=naive --n=10 --block=64 --input=uniform --inclusive --counts --quiet --format=csv --columns=check,barriers_per_block)" = \
        $'check,barriers_per_block\npassed,0' ]
}

@test "check: it says that no kernel was launched, and what was left out" {
    check --algo="tests/own/right/course dir/it's efficient.cu" --op=scan --n=0,1,100
    [ "$status" -eq 0 ]
    has "$output" $'scan course-cpu: passed: 30 configurations at 2 sizes\n  note: no kernel was launched' \
        'note: 15 configurations skipped: its file says that it takes at least 1 elements'
    [ "$(grep -c 'no kernel' <<<"$output")" -eq 1 ]
}

@test "check: operations, types and kinds are those of the file; flags replace what varies" {
    check --algo=tests/own/right/lookback.cu,tests/own/right/blelloch.cu --n=100 --format=csv \
        --columns=op,type,kind
    [ "$(tail -n +2 <<<"$output" | sort -u)" = "\
compact,i32,
scan,f32,exclusive
scan,f64,exclusive
scan,i32,exclusive" ]
    check --algo=tests/own/right/naive.cu --n=100 --input=ones --format=csv --columns=n,input,max
    [ "$output" = $'n,input,max\n100,ones,49' ]
    check --algo=efficient-smem --n=1..4 --max=2^10
    [ "$output" = 'scan efficient-smem: passed: 36 configurations at 3 sizes' ]
    check --algo=simd --n=1000 --format=csv --columns=samples
    [ "$status" -eq 0 ]
    [ "$(sort -u <<<"$output" | paste -sd' ')" = '100 samples' ]
    check --algo=simd --n=1000 --input=ones --max-time=1ms --format=csv --columns=samples
    [ "$status" -eq 0 ]
    [[ $output != *$'\n100'* ]]
    check --algo=simd --n=1000 --samples=2 --format=csv --columns=samples
    [ "$status" -eq 0 ]
    [ "$(sort -u <<<"$output" | paste -sd' ')" = '2 samples' ]
    fails 2 --check --gpus=2
    [[ $stderr == *'--gpus=2 contradicts --check: '* ]]
}

@test "check: --junit: a test case for each class of sizes, as XML" {
    local xml=$BATS_TEST_TMPDIR/checks.xml file=$BATS_TEST_TMPDIR/a\&b.cu
    cp tests/own/wrong/large_only.cu "$file"
    local sizes=("--n=0,1,2,33,1024,1025,4096,5000")
    [ -z "${LONG-}" ] || sizes=()
    check --algo="$file" --junit="$xml" "${sizes[@]}"
    [ "$status" -eq 3 ]
    run python3 - "$xml" <<'END'
import sys, xml.etree.ElementTree as tree
for suite in tree.parse(sys.argv[1]).getroot():
    print(suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("skipped"))
    for case in suite:
        print(case.get("classname"), case.get("name"), *[f"{end.tag}: {end.get('message')}" for end in case], sep="; ")
END
    echo "$output"
    [ "$output" = "\
scan mine 6 3 0
scan.mine; no element; failure: a launch that CUDA refuses
scan.mine; one element
scan.mine; 2 to 32 elements
scan.mine; 33 to 1024 elements
scan.mine; above 1024: powers of two; failure: wrong result
scan.mine; above 1024: other sizes; failure: wrong result" ]
    # Its own file is overwritten, at the start: nothing of the run before is left. Another is not.
    run -1 quick --check --algo="$file" --junit="$xml" --n=5 --output=/dev/full
    [ ! -s "$xml" ]
    check --algo="$file" --junit="$xml" --n=5
    [ "$(grep -c '<testcase' "$xml")" -eq 1 ]
    cp "$xml" "$xml.kept"
    fails 2 --check --algo="$file" --junit="$xml" --output="$xml" --quiet
    fails 1 --check --algo="$file" --junit="$xml" --samples-file=/ --quiet
    cmp "$xml" "$xml.kept"
    sed -i 2d "$xml"
    cp "$xml" "$xml.kept"
    fails 2 --check --algo="$file" --junit="$xml" --quiet
    [[ $stderr == *"--junit=$xml: the file exists and is not empty; name another or remove it" ]]
    cmp "$xml" "$xml.kept"
    quick --algo=naive --device=emulator --n=5 --junit="$BATS_TEST_TMPDIR/other.xml" --output="$rows"
    grep -q '<testcase classname="scan.naive" name="2 to 32 elements"/>' "$BATS_TEST_TMPDIR/other.xml"
}

@test "--junit: what is slower than --fail-slower allows is a failure" {
    # Many short samples: of three, a busy machine can stop one for so long that nothing is shown.
    local flags=(--device=cpu --algo=serial --samples=201 --quiet)
    "$scanbench" "${flags[@]}" "--n=10,2^14,2^15,100" --output="$rows"
    # The two large sizes took next to no time.
    python3 - "$rows" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    row["time_ms"] = repr(float(row["time_ms"]) * (0.0001 if int(row["n"]) > 1000 else 1000))
    row["noise_pct"] = 0
with open(sys.argv[1], "w") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
END
    run -5 "$scanbench" "${flags[@]}" "--n=10,2^14,2^15,100" --baseline="$rows" --fail-slower=50 --junit="$rows.xml"
    python3 - "$rows.xml" <<'END'
import re, sys, xml.etree.ElementTree as tree
suite, = tree.parse(sys.argv[1]).getroot()
assert (suite.get("tests"), suite.get("failures")) == ("3", "1"), suite.attrib
failed, = [case for case in suite if len(case)]
assert failed.get("name") == "above 1024: powers of two"
assert re.fullmatch(r"[0-9]+ % slower than the baseline", failed[0].get("message")), failed[0].attrib
lines = failed[0].text.splitlines()
assert [line.split(", type=i32, kind=exclusive, ")[0] for line in lines] == \
    ["scan serial, n = 16384", "scan serial, n = 32768"], lines
assert all(re.search(r": [0-9.]+ ms, [0-9.]+ % slower than [-e0-9.]+ ms$", line) for line in lines), lines
END
}

@test "check: verdicts are of a whole run: --resume and --append have none" {
    local flag
    for flag in --resume --append; do
        fails 2 --device=cpu --algo=serial --n=10 "$flag" --output="$rows" --junit="$rows.xml"
        has "$stderr" "$flag contradicts --junit="
        fails 2 --check --algo=naive --n=10 "$flag" --output="$rows"
        has "$stderr" "$flag contradicts --check: " 'add --format=csv'
        fails 2 --check --algo=naive --n=10 "$flag" --output="$rows" --format=verdicts
        has "$stderr" "$flag contradicts --format=verdicts: "
    done
    [ ! -e "$rows" ] && [ ! -e "$rows.xml" ]
}

@test "check: --junit has a file of its own, and is refused before others are written to" {
    fails 2 --device=cpu --algo=serial --n=10 --output="$rows" --junit="$rows"
    has "$stderr" "--junit=$rows: it is also the file of --output"
    fails 2 --device=cpu --algo=serial --n=10 --output="$rows" --samples-file="$rows.2" --junit="$rows.2"
    has "$stderr" "--samples-file=$rows.2: it is also the file of --junit"
    fails 2 --algo=naive --n=10 --output="$rows" --trace="$rows.2" --junit="$rows.2"
    has "$stderr" "--trace=$rows.2: it is also the file of --junit"
    fails 2 --algo=naive --n=10 --output="$rows" --trace="$rows.2" --samples-file="$rows.2"
    has "$stderr" "--samples-file=$rows.2: it is also the file of --trace"
    [ ! -e "$rows.2" ]
    echo text >"$rows.xml"
    : >"$rows.samples"
    fails 2 --device=cpu --algo=serial --n=10 --output="$rows" --samples-file="$rows.samples" --junit="$rows.xml"
    [ ! -s "$rows.samples" ]
}

@test "check: without a sanitizer it says so, and goes on" {
    printf '#!/bin/sh\ncase "$*" in *-print-file-name*) echo libasan.so ;; *) exec g++ "$@" ;; esac\n' \
        >"$BATS_TEST_TMPDIR/c++"
    chmod +x "$BATS_TEST_TMPDIR/c++"
    CXX=$BATS_TEST_TMPDIR/c++ run --separate-stderr "$scanbench" --check --algo=tests/own/wrong/own_overrun.cu --n=1000
    [ "$status" -eq 3 ]
    has "$stderr" 'the compiler has no address sanitizer that can be used'
    has "$output" 'wrote outside of an array in sum_blocks: right past the end of a buffer of 60 bytes'
}

@test "check: with clang" {
    command -v clang++ >/dev/null || skip "no clang++"
    CXX=clang++ check --algo=tests/own/wrong/read_past.cu --n=1000
    [ "$status" -eq 3 ]
    has "$output" 'access outside an array in scan_each' 'past the end of a buffer of 4000 bytes'
}

@test "check: a run that is interrupted passes nothing that it has not finished" {
    local xml=$BATS_TEST_TMPDIR/checks.xml file=$BATS_TEST_TMPDIR/loops.cu
    cat >"$file" <<'END'
#include <scanbench_own.h>
#include <unistd.h>
void scan(int n, int *odata, const int *idata)
{
    for (int i = 0, sum = 0; i < n; sum += idata[i++])
        odata[i] = sum;
    while (n > 100)
        usleep(1000);
}
SCANBENCH_HOST_SCAN("mine", scan)
END
    check --algo="$file" --n=1 # compiles it
    run --separate-stderr timeout 5 "$scanbench" --check --quiet --algo="$file" --n=0,1,1000 --input=ones --junit="$xml"
    echo "exit $status: $output"
    has "$output" 'scan mine: interrupted after ' ', no defect so far'
    [[ $output != *passed* ]]
    [ "$(grep -c '<testcase' "$xml")" -eq 6 ]
    [ "$(grep -c '<error message="interrupted"/>' "$xml")" -eq 6 ]
    grep -q 'tests="6" failures="0" errors="6" skipped="0"' "$xml"
}

@test "check: --strict wants a kernel of code for a GPU" {
    check --strict --algo="tests/own/right/course dir/it's efficient.cu" --op=scan --n=1,100 --input=ones \
        --junit="$BATS_TEST_TMPDIR/checks.xml"
    [ "$status" -eq 3 ]
    has "$output" 'does its work on the CPU' 'only at n = 100'
    has "$(cat "$BATS_TEST_TMPDIR/checks.xml")" '<failure message="does its work on the CPU">'
}

@test "check: Ctrl-C while a source is compiled does not blame the compiler" {
    export STARTED=$BATS_TEST_TMPDIR/started CXX=$BATS_TEST_TMPDIR/cxx
    cat >"$CXX" <<'END'
#!/bin/sh
case " $* " in *' -E '*) touch "$STARTED" && exec sleep 20 ;; esac
exec g++ "$@"
END
    chmod +x "$CXX"
    run env --default-signal=INT python3 - "$scanbench" <<'END'
import os, signal, subprocess, sys, time

check = subprocess.Popen([sys.argv[1], "--check", "--algo=tests/own/wrong/no_block.cu", "--n=7"],
                         start_new_session=True, stderr=subprocess.PIPE, text=True)
while check.poll() is None and not os.path.exists(os.environ["STARTED"]):
    time.sleep(0.05)
os.killpg(check.pid, signal.SIGINT)
said = check.communicate(timeout=20)[1]
print(said)
sys.exit(check.returncode if "does not compile" not in said else 1)
END
    echo "$output"
    [ "$status" -eq 130 ]
}

# A program in the place of scanbench: writes VERDICT lines to the file of --junit, and ends as told.
# First it is asked for a check of the skeleton.
fake_scanbench() {
    cat >"$BATS_TEST_TMPDIR/scanbench" <<'END'
#!/bin/sh
[ -z "${SCANBENCH_FLAGS-}" ] || exit 2
for flag; do
    case $flag in
    --n=0) echo "${PROBLEM-}" >&2 && exit $((${#PROBLEM} > 0)) ;;
    --junit=*) cp "$CASES" "${flag#--junit=}" && echo "     again: '/a b/scanbench' --check --n=1" ;;
    --kind=*) echo "$flag" >"$CASES.kind" ;;
    --algo=*) echo "${flag#--algo=}" >>"$CASES.seen" ;;
    esac
done
[ "$END" != killed ] || kill -9 $$
exit "$END"
END
    chmod +x "$BATS_TEST_TMPDIR/scanbench"
    export CASES=$BATS_TEST_TMPDIR/cases
    cat >"$CASES" <<'END'
    <testcase classname="scan.my-naive" name="no element"/>
    <testcase classname="scan.my-naive" name="one element">
      <failure message="wrong result"></failure>
    </testcase>
    <testcase classname="compact.my-compact" name="no element"/>
    <testcase classname="scan.another" name="no element"/>
END
}

# grade WANTED FLAG...: the lines of grade.sh.
grade() {
    local wanted=$1
    shift
    run --separate-stderr env SCANBENCH="${fake:-$BATS_TEST_TMPDIR/scanbench}" sh examples/course/grade.sh "$@"
    echo "exit $status: $output; stderr: $stderr"
    [ "$output" = "$wanted" ]
}

@test "grade.sh: what is expected is counted, of runs that ended by themselves" {
    local folder="$BATS_TEST_TMPDIR/Mueller, Eva_12_file"
    fake_scanbench
    mkdir "$folder"
    touch "$folder/my_scan.cu" "$folder/other.cu"
    END=3 grade "\"$folder/my_scan.cu\",2,18" "$folder/my_scan.cu"
    [ "$(cat "$CASES.seen")" = ./my_scan.cu ]
    [ "$(cat "$folder/my_scan.checks.txt")" = $'     again: scanbench --check --n=1
scan my-efficient: missing: no line has this name, or it is not exclusive' ]
    [ "$(cat "$CASES.kind")" = --kind=exclusive ] # as the skeleton's are
    rm "$CASES.kind"
    END=0 grade "\"$folder/other.cu\",1,12" --expect=scan:my-naive,scan:my-efficient "$folder/other.cu"
    [ ! -e "$CASES.kind" ]
    [ "$(tail -1 "$folder/other.checks.txt")" = 'scan my-efficient: missing: no line has this name' ]
    END=0 grade "\"$folder/other.cu\",1,6" --kind=inclusive --expect=scan:my-naive "$folder/other.cu"
    [ "$(cat "$CASES.kind")" = --kind=inclusive ]
    [ -e "$folder/other.checks.xml" ] && [ -e "$folder/my_scan.checks.xml" ]
    for end in killed 1 2 130; do
        END=$end grade "\"$folder/my_scan.cu\",0,18" "$folder/my_scan.cu"
        [ ! -e "$folder/my_scan.checks.xml" ]
    done
    fake=/no/scanbench END=0 grade '' "$folder/my_scan.cu"
    [ "$status" -eq 1 ]
    has "$stderr" '/no/scanbench is not installed'
}

@test "grade.sh: what keeps it from grading earns no points, and says so" {
    local file="$BATS_TEST_TMPDIR/my_scan.cu"
    fake_scanbench
    touch "$file"
    PROBLEM='set XDG_CACHE_HOME' grade '' "$file"
    [ "$status" -eq 1 ]
    has "$stderr" 'not even the skeleton' 'set XDG_CACHE_HOME'
    END=0 grade "$file,2,18" "$BATS_TEST_TMPDIR/no/my_scan.cu" "$file"
    [ "$status" -eq 1 ]
    has "$stderr" "$BATS_TEST_TMPDIR/no/my_scan.cu: it is no file"
    END=0 SCANBENCH_FLAGS=--n=none grade "$file,2,18" "$file"
    # shellcheck disable=SC2016 # $1 is of the inner shell
    END=0 SCANBENCH="$BATS_TEST_TMPDIR/scanbench" run --separate-stderr \
        bash -c 'sh examples/course/grade.sh "$1" >/dev/full' _ "$file"
    [ "$status" -eq 1 ]
    [ "$stderr" = "grade.sh: $file: its score cannot be written" ]
    for wrong in mine scna:mine scan: scan:mine,sort; do
        grade '' --expect="$wrong" "$file"
        [ "$status" -eq 2 ]
        has "$stderr" "grade.sh: --expect: ${wrong#*,} is no OP:NAME"
    done
    rm "$BATS_TEST_TMPDIR/my_scan.checks.txt"
    mkdir "$BATS_TEST_TMPDIR/my_scan.checks.txt"
    END=0 grade '' "$file"
    [ "$status" -eq 1 ]
    has "$stderr" "$file: it is no file that can be read, or its folder cannot be written to"
    for wrong in '' --expected=scan:mine --kind=both -x; do
        grade '' ${wrong:+"$wrong"}
        [ "$status" -eq 2 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run sh examples/course/grade.sh --help
    [ "$status" -eq 0 ]
    has "$output" 'grade.sh [--expect=OP:NAME,...] [--kind=KIND] FILE...'
}

@test "grade.sh: what a submission prints follows what was found, and is cut short" {
    local file=$BATS_TEST_TMPDIR/my_scan.cu
    fake_scanbench
    touch "$file"
    sed -i '2i yes n is 1000 | head -c 1000000 >&2' "$BATS_TEST_TMPDIR/scanbench"
    END=3 grade "$file,1,6" --expect=scan:my-naive "$file"
    has "$(head -1 "${file%.cu}.checks.txt")" 'again: scanbench'
    [ "$(sed -n 2p "${file%.cu}.checks.txt")" = 'n is 1000' ]
    [ "$(tail -1 "${file%.cu}.checks.txt")" = '1000000 bytes were printed; these were the first 20000' ]
    [ "$(find "$BATS_TEST_TMPDIR" -name 'my_scan.*' | wc -l)" -eq 3 ] # the source, the text, and the cases
}

# points OP: runs the command of that test of classroom.yml in $folder.
points() {
    local command
    command=$(awk -v op="$1" '$1 == "test-name:" { wanted = $2 == op } $1 == "timeout:" { wanted = 0 }
        wanted && $1 != "test-name:" && $1 != "command:"' examples/course/classroom.yml)
    (cd "$folder" && PATH=$BATS_TEST_TMPDIR:$PATH run sh -c "${command//$'\n'/ }" && echo "$output" && return "$status")
}

@test "classroom.yml: no points for an operation of which a scan is missing, wrong or of the other kind" {
    local folder=$BATS_TEST_TMPDIR/work class name
    fake_scanbench
    mkdir "$folder"
    ln -s "$PWD" "$folder/scanbench"
    touch "$folder/my_scan.cu"
    for name in scan.my-naive scan.my-efficient compact.my-compact; do
        for class in 1 2 3 4 5 6; do
            echo "<testcase classname=\"$name\" name=\"$class\"/>"
        done
    done >"$CASES"
    export END=0
    points scan && points compact
    [ "$(cat "$CASES.kind")" = --kind=exclusive ]
    sed -i '/my-efficient/d' "$CASES"
    has "$(points scan)" 'scan my-efficient: missing: no line has this name, or it is not exclusive'
    run ! points scan
    points compact
    sed -i 's|\(my-compact" name="6"\)/>|\1>|' "$CASES"
    END=3 run ! points compact
}

@test "grade.sh: Ctrl-C ends it, and what it runs" {
    local file="$BATS_TEST_TMPDIR/my_scan.cu"
    cat >"$BATS_TEST_TMPDIR/scanbench" <<'END'
#!/bin/sh
case " $* " in *' --n=0 '*) exit 0 ;; esac
trap 'exit 130' INT
echo $$ >"$STARTED"
while :; do sleep 0.1; done
END
    chmod +x "$BATS_TEST_TMPDIR/scanbench"
    touch "$file"
    export STARTED=$BATS_TEST_TMPDIR/started
    run env --default-signal=INT SCANBENCH="$BATS_TEST_TMPDIR/scanbench" python3 - "$file" <<'END'
import os, pathlib, signal, subprocess, sys, time

started = pathlib.Path(os.environ["STARTED"])
grader = subprocess.Popen(["sh", "examples/course/grade.sh", sys.argv[1]], start_new_session=True)
while grader.poll() is None and not (started.exists() and started.read_text()):
    time.sleep(0.05)
os.killpg(grader.pid, signal.SIGINT)
assert grader.wait(timeout=20) in (130, -signal.SIGINT)
for _ in range(100):
    if not os.path.exists(f"/proc/{started.read_text().strip()}"):
        sys.exit(0)
    time.sleep(0.1)
sys.exit("what it ran goes on")
END
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "grade.sh: the skeleton passes for doing nothing with no elements" {
    long_test
    cp examples/course/my_scan.cu "$BATS_TEST_TMPDIR"
    fake=$scanbench grade "$BATS_TEST_TMPDIR/my_scan.cu,3,18" "$BATS_TEST_TMPDIR/my_scan.cu"
}

@test "check: one element that looks like the other kind of scan is no defect of its own" {
    check --algo=examples/course/my_scan.cu --op=scan --n=1,2,100 --input=uniform
    [ "$status" -eq 3 ]
    has "$output" 'scan my-naive: 1 defect; ' 'scan my-efficient: 1 defect; 0 of ' 'first at n = 1; at 3 of 3 sizes'
    [[ $output != *'inclusive scan'* ]]
    # With larger ones it is known.
    check --algo=tests/own/wrong/other_kind.cu --n=1,2,100 --input=uniform
    has "$output" 'scan mine: 1 defect; ' 'the inclusive scan, where the exclusive one is wanted'
    # Of one element alone, it may be.
    check --algo=tests/own/wrong/other_kind.cu --n=1 --input=uniform
    has "$output" 'the inclusive scan, where the exclusive one is wanted'
}

@test "check: of several launches that are refused, the first is named" {
    cat >"$BATS_TEST_TMPDIR/two_refused.cu" <<'END'
#include <scanbench_own.h>
__global__ void first(const int *, int *, int) {}
__global__ void second(const int *, int *, int) {}
static void my_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    first<<<1, 2048, 0, stream>>>(in, out, n);
    if (n == 2)
        cudaGetLastError();
    second<<<1, 4096, 0, stream>>>(in, out, n);
}
SCANBENCH_SCAN("mine", my_scan)
END
    check --algo="$BATS_TEST_TMPDIR/two_refused.cu" --n=1 --input=uniform
    has "$output" 'illegal launch of first at two_refused.cu:6: 2048 threads'
    # Not the one that the code has asked about.
    check --algo="$BATS_TEST_TMPDIR/two_refused.cu" --n=2 --input=uniform
    has "$output" 'illegal launch of second at two_refused.cu:9: 4096 threads'
}

@test "check: sizes that show another defect are sizes at which this one is not seen" {
    cat >"$BATS_TEST_TMPDIR/whole_blocks.cu" <<'END'
#include <scanbench_own.h>
__global__ void sums_of_threads(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int sum = 0;
        for (int k = 0; k < i; k++)
            sum += in[k];
        out[i] = sum;
    }
}
static void my_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    sums_of_threads<<<n / 256, 256, 0, stream>>>(in, out, n);
}
SCANBENCH_SCAN("mine", my_scan)
END
    check --algo="$BATS_TEST_TMPDIR/whole_blocks.cu" --n=1,100,255,256,257,272,320,384,512,513,768,1000 --input=uniform
    has "$output" 'a launch that CUDA refuses' 'seen only up to n = 255' 'seen only at sizes that are no multiples of 256'
}

@test "check: the skeleton of a sort compiles, and is right for no element alone" {
    check --algo=examples/course/my_sort.cu --n=0,100 --input=uniform
    [ "$status" -eq 3 ]
    has "$output" 'sort my-sort' 'first at n = 100'
}

@test "check: cudaMemset of more bytes than there are sets none" {
    cat >"$BATS_TEST_TMPDIR/memset.cu" <<'END'
#include <scanbench_own.h>
template <size_t bytes> static void zero(int n, int *odata, const int *)
{
    int *data;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemset(data, 0, n * bytes);
    cudaMemcpy(odata, data, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(data);
}
SCANBENCH_HOST_SCAN("exact", zero<sizeof(int)>)
SCANBENCH_HOST_SCAN("long", zero<8 * sizeof(int)>)
END
    check --algo="$BATS_TEST_TMPDIR/memset.cu" --n=0,33,1000,4097,40960 --input=zeros
    [[ $output != *'ends the program'* ]]
    [ "$status" -eq 3 ]
    [ "$stderr" = '' ]
    has "$output" 'scan exact: 1 defect; 1 of 5' 'wrong result' 'scan long: 1 defect; 1 of 5' 'sets more bytes than there are' \
        'illegal cudaMemset of 1056 bytes: the memory has only 132 from there on'
}

@test "check: a copy of a negative size says so" {
    sed 's/\(cudaMemcpy([^;]*, \)[^,]*sizeof[^,]*\(, cudaMemcpyDefault\|, cudaMemcpy[A-Za-z]*\))/\1-8 * sizeof(int)\2)/' \
        tests/own/wrong/copy_too_long.cu >"$BATS_TEST_TMPDIR/negative.cu"
    check --algo="$BATS_TEST_TMPDIR/negative.cu" --n=100 --input=ones
    [ "$status" -eq 3 ]
    has "$output" 'a copy of a negative number of bytes' 'illegal cudaMemcpy of -32 bytes: is a count negative or not initialised?'
}
