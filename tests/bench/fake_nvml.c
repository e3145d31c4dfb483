/* A libnvidia-ml.so.1 for the real nvidia-ml-py, driven by the environment, which is read at every call:
   FAKE_NVML_MODE   ok, notsupported, nodriver, wddm, mig, v2fails (as in WSL), lost
   FAKE_NVML_USED   MiB
   FAKE_NVML_COUNT  of GPUs, at most 2
   FAKE_NVML_PID    who holds memory on the last GPU; unset: nobody
   Built with -DNOV2 it is a driver from before version 2 of the memory's structure. */
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef void *Device;
typedef struct { unsigned long long total, free, used; } Memory1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } Memory2;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } Process;

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, NO_DRIVER = 9, LOST = 15, UNKNOWN = 999 };
#define MIB (1ull << 20)
#define TOTAL (143771 * MIB)
#define RESERVED (600 * MIB)

static char devices[2], parts[2];

static const char *said(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static int is(const char *mode) { return !strcmp(said("FAKE_NVML_MODE", "ok"), mode); }

static unsigned long long used(void) { return strtoull(said("FAKE_NVML_USED", "1000"), NULL, 10) * MIB; }

Result nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    return is("nodriver") ? NO_DRIVER : OK;
}
Result nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
Result nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(Result result) {
    switch (result) {
    case NOT_SUPPORTED: return "Not Supported";
    case NO_DRIVER: return "Driver Not Loaded";
    case LOST: return "GPU is lost";
    default: return "Unknown Error";
    }
}

static unsigned count(void) { return (unsigned)atoi(said("FAKE_NVML_COUNT", "1")); }

Result nvmlDeviceGetCount_v2(unsigned *found) {
    *found = count();
    return OK;
}
Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Device *device) {
    *device = &devices[index];
    return OK;
}
Result nvmlDeviceGetName(Device device, char *name, unsigned length) {
    (void)device;
    strncpy(name, "FAKE H200", length);
    return OK;
}
Result nvmlDeviceGetUUID(Device device, char *uuid, unsigned length) {
    int is_part = device == &parts[0] || device == &parts[1];
    strncpy(uuid, is_part ? "MIG-00000000-0000-0000-0000-000000000000" : "GPU-00000000-0000-0000-0000-000000000000", length);
    uuid[39] = (char)('0' + (is_part ? (char *)device - parts : (char *)device - devices));
    return OK;
}

Result nvmlDeviceGetMigMode(Device device, unsigned *now, unsigned *pending) {
    (void)device;
    *now = *pending = 1;
    return is("mig") ? OK : NOT_SUPPORTED;
}
Result nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned *found) {
    (void)device;
    *found = 7;
    return OK;
}
Result nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device *part) {
    (void)device;
    if (index != 0 && index != 2) return NOT_FOUND; /* numbers have gaps */
    *part = &parts[index / 2];
    return OK;
}

Result nvmlDeviceGetMemoryInfo(Device device, Memory1 *memory) {
    (void)device;
    if (is("notsupported")) return NOT_SUPPORTED;
    if (is("lost")) return LOST;
    memory->total = TOTAL;
    memory->used = used() + RESERVED; /* as drivers since R510 do */
    memory->free = memory->total - memory->used;
    return OK;
}
#ifndef NOV2
Result nvmlDeviceGetMemoryInfo_v2(Device device, Memory2 *memory) {
    (void)device;
    if (is("notsupported")) return NOT_SUPPORTED;
    if (is("v2fails")) return UNKNOWN;
    if (is("lost")) return LOST;
    memory->total = TOTAL;
    memory->reserved = RESERVED;
    memory->used = used();
    memory->free = memory->total - memory->used - RESERVED;
    return OK;
}
#endif

Result nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned *room, Process *found) {
    const char *pid = getenv("FAKE_NVML_PID");
    if (!pid || device != &devices[count() - 1]) {
        *room = 0;
        return OK;
    }
    if (*room < 1) {
        *room = 1;
        return TOO_SMALL;
    }
    *room = 1;
    found[0].pid = (unsigned)atoi(pid);
    found[0].used = is("wddm") ? ~0ull : 5120 * MIB;
    found[0].instance = found[0].compute = 0xffffffff;
    return OK;
}
