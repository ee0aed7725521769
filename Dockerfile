# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   docker build -t fp8 .                      # the wheel, installed
#   docker run --rm -v "$PWD:/work" fp8 fp8-opt examples/gemm.mlir --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o gemm.ptx
#   docker build -t fp8-dev --target dev .     # what ./dev needs, for work on fp8 itself
#   docker run --rm -v "$PWD:/fp8" fp8-dev ./dev demo
FROM debian:bookworm-slim AS dev
# A repository may be mounted on /fp8: ptxas lies outside of it, and git trusts its owner.
WORKDIR /opt/setup
COPY dev ./
RUN ./dev setup && ln -s "$PWD"/build/ptxas/lib/python3*/site-packages/nvidia/cu13/bin/ptxas /usr/local/bin/ \
 && git config --system safe.directory /fp8 && rm -rf /var/lib/apt/lists/*
WORKDIR /fp8

FROM dev AS build
COPY . .
RUN ./dev wheel

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/* && python3 -m venv /opt/fp8
RUN --mount=type=bind,from=build,source=/fp8/build/python,target=/wheel /opt/fp8/bin/pip install --no-cache-dir "$(ls /wheel/*.whl)[numpy,ptxas]"
ENV PATH=/opt/fp8/bin:$PATH
WORKDIR /work
CMD ["python3", "-m", "fp8"]
