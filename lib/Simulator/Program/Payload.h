// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a family's decoder tells its handlers beyond the operands.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_PAYLOAD_H
#define FP8_LIB_SIMULATOR_PROGRAM_PAYLOAD_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace fp8::sim {

/// Holds one value of a small trivial type, which its family defines. It lies
/// in the instruction itself, so that handlers reach it without indirection.
class Payload {
public:
  /// Replaces the value by a new `T`.
  template <typename T>
  T &make() {
    static_assert(std::is_trivially_copyable_v<T> &&
                      std::is_trivially_destructible_v<T>,
                  "instructions are copied as bytes");
    static_assert(sizeof(T) <= kBytes && alignof(T) <= alignof(uint64_t),
                  "a payload must fit into an instruction");
    type = &Tag<T>::id;
    return *new (bytes) T();
  }

  /// The value, which must be a `T`.
  template <typename T>
  const T &get() const {
    assert(type == &Tag<T>::id && "the decoder made another payload");
    return *std::launder(reinterpret_cast<const T *>(bytes));
  }

private:
  static constexpr size_t kBytes = 32;
  template <typename T>
  struct Tag {
    static constexpr char id = 0;
  };
  alignas(uint64_t) unsigned char bytes[kBytes] = {};
  const char *type = nullptr;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_PAYLOAD_H
