/* of_type.h: one run() for every element type.
 *
 * Included after DEFINE_RUN(TYPE, STORED, T), which defines run_TYPE(call) for elements of one
 * type: TYPE is, for example, TYPE_I32, STORED its C type, and T the type in which such elements
 * are added, unsigned for integers so that sums wrap. widen_STORED() and narrow_STORED() convert
 * between the two (bench/half.h). This header applies DEFINE_RUN to each line of types.def, and
 * defines a run() that calls the function for the call's type. */
#define TYPE(NAME, name, T, SUM, ...) DEFINE_RUN(TYPE_##NAME, T, SUM)
#include "../bench/types.def"
#undef DEFINE_RUN

static void run(const struct call *call)
{
    static void (*const run_of_type[TYPE_COUNT])(const struct call *) = {
#define TYPE(NAME, ...) [TYPE_##NAME] = run_TYPE_##NAME,
#include "../bench/types.def"
    };
    run_of_type[call->problem.type](call);
}
