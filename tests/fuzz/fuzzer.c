/* fuzzer: libFuzzer's entry point, which calls the function that -DFUZZED names. */
#include "one_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FUZZED(bytes, size);
    return 0;
}
