#!/bin/sh
# version.sh VERSION CC NVCC_VERSION: prints version.h, the facts about a build.
set -eu
# In a tree made by `git archive`, a file has the commit, and any repository is another one.
commit=$(sed -n 's/^\([0-9a-f]\{7\}\).*/\1/p' "$(dirname "$0")/commit.txt" 2>/dev/null || true)
if [ -z "$commit" ]; then
    commit=$(git rev-parse --short=7 HEAD 2>/dev/null || true)
    if [ -n "$commit" ] && ! git diff --quiet HEAD 2>/dev/null; then
        commit=$commit-dirty
    fi
fi
# $2 may be a compiler with flags.
# shellcheck disable=SC2086
compiler=$($2 -dumpfullversion -dumpversion 2>/dev/null || echo unknown)
case $($2 --version 2>/dev/null | head -n 1) in
*clang*) compiler=clang_$compiler ;;
*) compiler=gcc_$compiler ;;
esac
cat <<EOF
#define SCANBENCH_VERSION "v$1"
#define SCANBENCH_COMMIT "${commit:+g$commit}"
#define SCANBENCH_COMPILER "$compiler"
#define SCANBENCH_NVCC "$3"
EOF
