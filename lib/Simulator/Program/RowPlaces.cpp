// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register has two rows, but few have values in both. Rows without values
// share one place, so that the others lie close together in the host's caches.

#include "Program/RowPlaces.h"

#include <utility>

using namespace fp8::sim;

void fp8::sim::placeRows(Program &program) {
  constexpr uint32_t lanes = 32;
  const uint32_t unused = 0;
  uint32_t next = unused + lanes;
  auto take = [&] { return std::exchange(next, next + lanes); };
  for (const ast::Register &reg : program.function->registers) {
    program.places.push_back(reg.bits > 1 ? take() : unused);
    program.places.push_back(reg.bits > 64 ? take() : unused);
  }
  for (size_t i = 0; i < program.constants.size(); ++i)
    program.places.push_back(take());
  program.placesEnd = next;
}
