#!/bin/sh
# sources.sh: lists the C, C++ and CUDA files of this tree, one per line.
set -eu
for folder in . bench bench/* cpu kernels kernels/* timing emulator emulator/* emulator/*/* own library examples examples/course tests/unit tests/commands \
    tests/gpu tests/library tests/broken tests/fuzz; do
    for file in "$folder"/*.c "$folder"/*.cpp "$folder"/*.cu "$folder"/*.h "$folder"/*.hpp "$folder"/*.cuh; do
        if [ -e "$file" ]; then
            echo "${file#./}"
        fi
    done
done
