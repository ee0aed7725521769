// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that nvcc does not inline: a structure by value and one as result,
// recursion with an array on the stack, function pointers from a table, a
// virtual function, printf and an assertion.
#include <cassert>
#include <cstdint>
#include <cstdio>

struct Pair {
  uint32_t first;
  uint64_t second;
  uint8_t tail[5];
};

__noinline__ __device__ Pair exchange(Pair pair, uint32_t add) {
  Pair result;
  result.first = uint32_t(pair.second) + add;
  result.second = pair.first;
  for (int i = 0; i < 5; ++i)
    result.tail[i] = pair.tail[4 - i];
  return result;
}

/// Sorts by halves, each in an array of its own.
__noinline__ __device__ void sort(uint32_t *values, int count) {
  if (count < 2)
    return;
  uint32_t merged[16];
  int half = count / 2, a = 0, b = half;
  sort(values, half);
  sort(values + half, count - half);
  for (int i = 0; i < count; ++i)
    merged[i] = b == count || (a < half && values[a] < values[b]) ? values[a++]
                                                                  : values[b++];
  for (int i = 0; i < count; ++i)
    values[i] = merged[i];
}

__noinline__ __device__ uint32_t twice(uint32_t x) { return 2 * x; }
__noinline__ __device__ uint32_t square(uint32_t x) { return x * x; }
__noinline__ __device__ uint32_t decrement(uint32_t x) { return x - 1; }
typedef uint32_t (*Operation)(uint32_t);
__device__ Operation operations[3] = {twice, square, decrement};

struct Shape {
  __device__ virtual uint32_t area() const = 0;
};
struct Square : Shape {
  uint32_t side;
  __device__ explicit Square(uint32_t side) : side(side) {}
  __device__ uint32_t area() const override { return side * side; }
};
struct Strip : Shape {
  uint32_t length;
  __device__ explicit Strip(uint32_t length) : length(length) {}
  __device__ uint32_t area() const override { return 3 * length; }
};
__noinline__ __device__ uint32_t areaOf(const Shape &shape) {
  return shape.area();
}

extern "C" __global__ void calls(const uint32_t *in, uint32_t *out,
                                 uint32_t limit) {
  uint32_t thread = threadIdx.x;
  uint32_t values[16];
  for (int i = 0; i < 16; ++i)
    values[i] = in[thread * 16 + i];
  int count = 4 + thread % 13;
  sort(values, count);
  assert(values[0] < limit);
  uint32_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum = sum * 31 + values[i];
  sum = operations[thread % 3](sum);
  Square square(thread);
  Strip strip(thread);
  sum += areaOf(thread & 4 ? static_cast<Shape &>(square) : strip);
  Pair pair = {thread, uint64_t(sum) + (uint64_t(1) << 40), {1, 2, 3, 4, 5}};
  pair = exchange(pair, 7);
  if (thread % 32 == 9)
    printf("thread %u of %s: %5.2f, %llu\n", thread, "calls", thread * 0.5,
           (unsigned long long)pair.second << 33);
  out[thread] = pair.first * 8 + pair.tail[0];
}
