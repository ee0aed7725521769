// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch description: a JSON file that says how any PTX kernel is launched,
// on which buffers, and what is expected of them. docs/launch.schema.json is
// its schema.
#ifndef FP8_SIMULATEDLAUNCH_DESCRIPTION_H
#define FP8_SIMULATEDLAUNCH_DESCRIPTION_H

#include "fp8/Launch/Manifest.h"
#include "fp8/Simulator/Simulator.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fp8::simulated {

/// A place in a buffer; without one, the address 0.
struct BufferPlace {
  std::string buffer;
  uint64_t offset = 0; ///< bytes
};

/// A tensor map whose address is known when the buffers have theirs.
struct PlacedMap {
  BufferPlace place;
  sim::TensorMap map;
};

struct ValueField;

/// A value as the kernel gets it: bytes, with the contents of a file over them
/// and fields over those; an address; or a tensor map.
struct Value {
  std::variant<std::vector<uint8_t>, BufferPlace, PlacedMap> content;
  std::string file; ///< of the bytes; empty: there is none
  std::vector<ValueField> fields;
};

struct ValueField {
  uint64_t offset = 0; ///< bytes
  Value value;
};

/// What a buffer holds before the launch.
enum class Contents {
  Given,  ///< by the caller, under the buffer's name
  File,   ///< of NumPy (.npy), or the bare bytes
  Zeros,  ///< all bits 0
  Poison, ///< nothing: the kernel must not read what it has not written
  Random  ///< numbers from -1 to 1, or of an integer type all bits
};

struct BufferSpec {
  std::string name;
  std::optional<tensor::ElementType> dtype;
  std::vector<int64_t> shape; ///< of `dtype`
  uint64_t bytes = 0;         ///< if the contents do not say it
  Contents contents = Contents::Given;
  std::string file;
  uint64_t seed = 0; ///< of random contents
  launch::Access access = launch::Access::ReadWrite;
  std::vector<ValueField> fields; ///< over the contents: pointers, tensor maps
};

/// What a buffer must hold after the launch.
struct Expectation {
  std::string buffer;
  tensor::ElementType dtype = tensor::ElementType::F32; ///< of the buffer
  std::string file;          ///< of the same number of elements
  std::string mask;          ///< elements that count; empty: all
  double frobenius = 0;      ///< largest norm of the differences, relative
  std::optional<double> max; ///< largest difference of an element
};

struct Description {
  std::string entry; ///< empty: the module's only one
  sim::LaunchConfig config;
  bool cooperative = false; ///< all CTAs run at the same time, and may meet
  std::vector<BufferSpec> buffers;
  std::vector<Value> arguments;
  std::map<std::string, Value> variables; ///< of the module
  std::vector<Expectation> expected;

  const BufferSpec *findBuffer(const std::string &name) const;
};

/// Reads and checks a description. Errors say where in the JSON they are:
/// "arguments[2].tensor_map.box".
launch::Expected<Description> parseDescription(std::string_view text);

} // namespace fp8::simulated

#endif // FP8_SIMULATEDLAUNCH_DESCRIPTION_H
