/* As much of NVIDIA's management library as a reading asks for: one GPU that tells all, one that tells little. */
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3, GPU_IS_LOST = 15 };
typedef struct { unsigned int gpu, memory; } Utilisation;
typedef struct { unsigned long long total, free, used; } Memory;

static int devices[2] = {0, 1};

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlInitWithFlags(unsigned int flags) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned int *count) {
    if (getenv("TEST_GPU_LOST")) return GPU_IS_LOST;
    *count = 2;
    return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, int **device) { *device = &devices[index]; return SUCCESS; }
int nvmlDeviceGetName(int *device, char *name, unsigned int length) {
    strncpy(name, *device ? "Little" : "Talkative", length);
    return SUCCESS;
}
int nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    strncpy(version, "580.95.05", length);
    return SUCCESS;
}
int nvmlDeviceGetCudaComputeCapability(int *device, int *major, int *minor) {
    if (*device) return NOT_SUPPORTED;
    *major = 8;
    *minor = 9;
    return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(int *device, Utilisation *rates) {
    if (*device) return NOT_SUPPORTED;
    rates->gpu = 61;
    rates->memory = 7;
    return SUCCESS;
}
int nvmlDeviceGetTemperature(int *device, unsigned int sensor, unsigned int *degrees) {
    if (*device) return NOT_SUPPORTED;
    *degrees = 54;
    return SUCCESS;
}
int nvmlDeviceGetMemoryInfo(int *device, Memory *memory) {
    if (*device) return NOT_SUPPORTED;
    memory->total = 24000000000ull;
    memory->used = 3200000000ull;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}
