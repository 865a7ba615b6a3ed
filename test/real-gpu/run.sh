#!/bin/sh
# Builds the kernels of msl/ for the NVIDIA GPU of this machine (nvcc) and for its CPU (g++, x86-64 with AVX2), and
# compares.
#
#     test/real-gpu/run.sh                  everything
#     test/real-gpu/run.sh kernels shares   these parts
#     ONLY_BUILD=sm_90 test/real-gpu/run.sh where there is no GPU: does it compile?
set -e
cd "$(dirname "$0")/../.."
out=build/real-gpu
mkdir -p $out
folders="-I test/real-gpu -I msl -I objc/cpu"
flags="-std=gnu++20 -O2 -Wall -Wextra -mavx2 -mfma -ffp-contract=off -Wno-attributes -Wno-unknown-pragmas -Wno-uninitialized -Wno-maybe-uninitialized"
nvcc -arch=${ONLY_BUILD:-native} -std=c++17 -O3 --fmad=false $folders -c test/real-gpu/gpu.cu -o $out/gpu.o
for name in main kernels stream rates; do
  g++ $flags $folders -I msl/cpu -c test/real-gpu/$name.cc -o $out/$name.o
done
for name in launch group fiber pool product-scratch; do
  g++ $flags -I msl -I msl/cpu -c objc/cpu/$name.cc -o $out/cpu-$name.o
done
g++ $flags -O3 -DCOVARIUM_TABLE=kernelsAvx2 -I msl -I msl/cpu -c objc/cpu/simd/kernels.cc -o $out/cpu-kernels.o
nvcc -arch=${ONLY_BUILD:-native} $out/*.o -o $out/real-gpu -lpthread
[ -n "$ONLY_BUILD" ] || $out/real-gpu test/answers/normal-words.json "$@"
