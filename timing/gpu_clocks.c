/* gpu_clocks: a process that keeps the clocks of a GPU locked. */
#include "gpu_clocks.h"

#include "nvml.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the keeper answers where NVML has no code of its own. */
enum { NO_NVML = -1 };

static int lock_to_limits(const struct nvml *nvml, nvml_device device)
{
    if (nvml->lock_clocks == NULL || nvml->reset_clocks == NULL)
        return NO_NVML;
    return nvml->lock_clocks(device, NVML_CLOCK_LIMIT_ID_TDP, NVML_CLOCK_LIMIT_ID_TDP);
}

/* Only the end of the line ends the keeper: a signal to the terminal's processes does not. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    setsid();
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        signal(signals[s], SIG_IGN);
}

__attribute__((noreturn)) static void keep_clocks(const char *pci_bus_id, int line)
{
    const struct nvml *nvml = load_nvml();
    nvml_device device;
    char end;
    ignore_signals();
    const int code =
        find_nvml_device(nvml, pci_bus_id, &device) ? lock_to_limits(nvml, device) : NO_NVML;
    if (write(line, &code, sizeof code) != sizeof code && code != NVML_SUCCESS)
        _exit(1);
    while (code == NVML_SUCCESS && read(line, &end, 1) < 0 && errno == EINTR)
        continue;
    if (code == NVML_SUCCESS)
        nvml->reset_clocks(device);
    _exit(0);
}

static const char *reason_of(int code)
{
    const struct nvml *nvml = load_nvml();
    if (code == NO_NVML || nvml == NULL || nvml->error == NULL)
        return "this driver offers no way";
    return nvml->error(code);
}

/* The keeper's answer; NO_NVML if it has died. */
static int hear_code(int line)
{
    int code = NO_NVML;
    while (read(line, &code, sizeof code) < 0 && errno == EINTR)
        continue;
    return code;
}

const char *lock_gpu_clocks(const char *pci_bus_id, struct locked_clocks *locked)
{
    int ends[2];
    if (load_nvml() == NULL)
        return "there is no NVML";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return strerror(errno);
    const pid_t keeper = fork();
    if (keeper == 0) {
        close(ends[0]);
        keep_clocks(pci_bus_id, ends[1]);
    }
    close(ends[1]);
    *locked = (struct locked_clocks){.keeper = keeper, .line = ends[0]};
    const int code = keeper > 0 ? hear_code(ends[0]) : NO_NVML;
    if (code == NVML_SUCCESS)
        return NULL;
    unlock_gpu_clocks(locked);
    return reason_of(code);
}

void unlock_gpu_clocks(struct locked_clocks *locked)
{
    /* Keepers that began later have the line, too, so closing it is not enough. */
    if (locked->line > 0) {
        shutdown(locked->line, SHUT_RDWR);
        close(locked->line);
    }
    while (locked->keeper > 0 && waitpid(locked->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    *locked = (struct locked_clocks){0};
}
