/* of_type.h: one run() for every type of element.
 *
 * Included after DEFINE_RUN(TYPE, T), which defines run_TYPE(call), the work for elements
 * of one type: TYPE is TYPE_I32, say, and T the type in which such elements add up, without
 * a sign where they are integers, so that sums wrap. Here it is used for each line of
 * types.def, and run() calls the one that a call's type asks for. */
#define TYPE(NAME, name, T, SUM, ...) DEFINE_RUN(TYPE_##NAME, SUM)
#include "../bench/types.def"
#undef TYPE
#undef DEFINE_RUN

static void run(const struct call *call)
{
    static void (*const run_of_type[TYPE_COUNT])(const struct call *) = {
#define TYPE(NAME, ...) [TYPE_##NAME] = run_TYPE_##NAME,
#include "../bench/types.def"
#undef TYPE
    };
    run_of_type[call->problem.type](call);
}
