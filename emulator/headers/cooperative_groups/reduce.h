/* reduce.h: see cooperative_groups.h. */
#include "../cooperative_groups.h"
