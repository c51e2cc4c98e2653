#!/usr/bin/env bats
# clocks: --lock-clocks, with a library in place of NVML that notes what is called.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# fake_nvml CODE: builds a libnvidia-ml.so.1 whose locking returns CODE, and a program that
# locks the clocks of a GPU and then does what its argument says.
fake_nvml() {
    work=$BATS_TEST_TMPDIR
    calls=$work/calls
    cat >"$work/nvml.c" <<END
#include <stdio.h>
#include <stdlib.h>
static void note(const char *text, unsigned number)
{
    FILE *file = fopen(getenv("CALLS"), "a");
    fprintf(file, "%s %x\n", text, number);
    fclose(file);
}
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) { *device = (void *)id; return 0; }
int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least, unsigned most)
{
    note(device, least);
    return least == most ? $1 : 99;
}
int nvmlDeviceResetGpuLockedClocks(void *device) { note(device, 0); return 0; }
const char *nvmlErrorString(int code) { return code == 4 ? "Insufficient Permissions" : "?"; }
END
    cat >"$work/locker.c" <<'END'
#include "timing/gpu_clocks.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    struct locked_clocks locked = {0};
    const char *why = lock_gpu_clocks("0000:65:00.0", &locked);
    puts(why != NULL ? why : "locked");
    fflush(stdout);
    if (count > 1 && atoi(arguments[1]) > 0)
        raise(atoi(arguments[1]));
    if (count > 1 && why == NULL && atoi(arguments[1]) == 0)
        exit(3); /* without unlocking */
    unlock_gpu_clocks(&locked);
    return 0;
}
END
    cc -shared -fPIC -o "$work/libnvidia-ml.so.1" "$work/nvml.c"
    cc -I. -o "$work/locker" "$work/locker.c" timing/gpu_clocks.c timing/nvml.c -ldl
}

# locker [SIGNAL]: runs that program.
locker() {
    rm -f "$calls"
    # As if nohup, say, did not ignore some.
    run env --default-signal=INT,TERM,HUP CALLS="$calls" LD_LIBRARY_PATH="$work" "$work/locker" "$@"
    echo "exit $status: $output"
}

# unlocked: waits until the clocks were locked once at what the power allows, and unlocked.
unlocked() {
    local tries=0
    until [ "$(paste -sd' ' "$calls")" = "0000:65:00.0 ffffff01 0000:65:00.0 0" ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 100 ]
    done
}

@test "locked clocks are unlocked at every end: return, exit, signals, kill -9" {
    local signal
    fake_nvml 0
    locker
    [ "$output" = locked ]
    [ "$(wc -l <"$calls")" -eq 2 ] # before the program ends
    unlocked
    for signal in 0 INT TERM HUP SEGV ABRT KILL; do
        locker "$([ "$signal" = 0 ] && echo 0 || kill -l "$signal")"
        unlocked
    done
}

@test "clocks that may not be locked: NVML's reason, and nothing to undo" {
    fake_nvml 4
    locker
    [ "$output" = "Insufficient Permissions" ]
    [ "$(wc -l <"$calls")" -eq 1 ]
}

@test "no NVML: that is the reason" {
    fake_nvml 0
    rm "$work/libnvidia-ml.so.1"
    locker
    [ "$output" = "there is no NVML" ] || [ "$output" = "this driver offers no way" ] || skip "there is an NVML here"
}

@test "--lock-clocks: the CPU and the emulator have none, in a line each" {
    run --separate-stderr "$scanbench" --algo=serial,naive --device=cpu,emulator --n=1000 --samples=1 --lock-clocks \
        --columns=check,clocks
    [ "$status" -eq 0 ]
    [ "$output" = $'check,clocks\npassed,\npassed,' ]
    has "$stderr" '--lock-clocks: cpu has no clocks to lock' '--lock-clocks: emulator has no clocks to lock'
}

@test "the clocks of every GPU of a plan are locked once, and what prevents it is said once" {
    fake_nvml 0
    cat >"$work/plan.c" <<'CODE'
#include "bench/run/clocks.h"
#include <stdio.h>
#include <stdlib.h>
static void read_bus_id(char *text, int size, int index) { snprintf(text, (size_t)size, "gpu%d", index); }
static const struct backend gpu = {.read_pci_bus_id = read_bus_id}, cpu = {0};
const struct backend *backend_of(enum device_kind kind) { return kind == DEVICE_GPU ? &gpu : &cpu; }
const char *device_kind_name(enum device_kind kind) { return kind == DEVICE_GPU ? "gpu" : "cpu"; }
int main(void)
{
    struct plan_group groups[6] = {{.device = {DEVICE_GPU, 0, 0}}, {.device = {DEVICE_CPU, 0, 0}},
                                   {.device = {DEVICE_GPU, 0, 2}}, {.device = {DEVICE_GPU, 0, 0}},
                                   {.device = {DEVICE_CPU, 0, 0}}, {.device = {DEVICE_GPU, 0, 3}}};
    const struct plan plan = {groups, 5};
    struct clocks clocks = {0};
    lock_gpus(&plan, false, &clocks);
    for (int g = 0; g < 6; g++)
        printf("%d", are_clocks_locked(&clocks, groups[g].device));
    unlock_gpus(&clocks);
    puts("");
    return 0;
}
CODE
    cc -I. -o "$work/plan" "$work/plan.c" bench/run/clocks.c bench/base/errors.c bench/base/processes.c bench/base/interrupt.c timing/gpu_clocks.c timing/nvml.c -ldl
    run --separate-stderr env CALLS="$calls" LD_LIBRARY_PATH="$work" "$work/plan"
    echo "$output; $stderr"
    [ "$output" = 101100 ]
    [ "$stderr" = 'scanbench: --lock-clocks: cpu has no clocks to lock' ]
    [ "$(sort "$calls" | paste -sd,)" = 'gpu0 0,gpu0 ffffff01,gpu1 0,gpu1 ffffff01' ]

    sed -i 's/least == most ? 0 /least == most ? 4 /' "$work/nvml.c"
    cc -shared -fPIC -o "$work/libnvidia-ml.so.1" "$work/nvml.c"
    run --separate-stderr env CALLS="$calls" LD_LIBRARY_PATH="$work" "$work/plan"
    [ "$output" = 000000 ]
    [ "$(grep -c 'Insufficient Permissions; its clocks stay as they are' <<<"$stderr")" -eq 2 ]
    [ "${#stderr_lines[@]}" -eq 3 ]
}
