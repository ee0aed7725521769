// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole buffers are copied: a kernel writes to few of those that it is given.

#include "Machine/Snapshot.h"

using namespace fp8::sim;

void Snapshot::keep(Buffer &buffer) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [place, isNew] = contents.try_emplace(&buffer);
  if (isNew)
    place->second = {buffer.bytes, buffer.initialised};
}

void Snapshot::restore() {
  for (auto &[buffer, content] : contents) {
    buffer->bytes = std::move(content.bytes);
    buffer->initialised = std::move(content.initialised);
  }
  contents.clear();
}
