/* build.h: what this program was built from, and by what. */
#pragma once

enum { BUILD_BYTES = 256 };

/* Version, commit and compilers, as --version prints them. */
void format_build(char text[BUILD_BYTES]);

/* The same, and the linker's build ID, in which two builds of one commit with other flags differ
 * as well. */
void identify_build(char text[BUILD_BYTES]);
