# An image with CUDA that has scanbench built.
#
#   docker build -t scanbench .
#   docker run --rm --gpus=all scanbench make run
#   docker run --rm --gpus=all scanbench ./scanbench --n=2^26
#
# Without a GPU, leave out --gpus=all: GPU algorithms then run in the emulator. To build for
# one architecture only: --build-arg ARCHS=90.
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
ARG ARCHS="80 90"
WORKDIR /scanbench
COPY . .
RUN sh scripts/install-deps.sh build run && \
    apt-get install -y -qq --no-install-recommends libtbb-dev libhwy-dev && \
    rm -rf /var/lib/apt/lists/*
RUN make -j"$(nproc)" ARCHS="$ARCHS"
CMD ["make", "run"]
