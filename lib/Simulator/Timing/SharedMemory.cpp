// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who has shared memory when.

#include "Timing/SharedMemory.h"

#include <algorithm>
#include <functional>

using namespace fp8::sim;

void SharedMemory::land(double at, double bytes) {
  landings.push_back({at, bytes / t->sharedBytes});
  std::push_heap(landings.begin(), landings.end(), std::greater<>());
}

void SharedMemory::serveLandings(double at) {
  auto idle = [&](double until) {
    if (until > free) {
      owed = std::max(0.0, owed - (until - free));
      free = until;
    }
  };
  while (!landings.empty() && landings.front().at <= at) {
    std::pop_heap(landings.begin(), landings.end(), std::greater<>());
    idle(landings.back().at);
    owed += landings.back().cycles;
    busy += landings.back().cycles;
    landings.pop_back();
  }
  idle(at);
}

double SharedMemory::take(double at, double cycles) {
  serveLandings(at);
  const double excess = std::max(0.0, owed - t->sharedBacklog);
  owed -= excess;
  busy += cycles;
  free += excess + cycles;
  return free;
}
