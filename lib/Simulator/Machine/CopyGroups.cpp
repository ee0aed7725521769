// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of copies: what is pending in each, and what a wait covers.

#include "Machine/CopyGroups.h"

#include <algorithm>
#include <cstddef>

using namespace fp8::sim;

CopyGroups::Pending &CopyGroups::current(const Inst &inst) {
  if (groups.empty() || groups.back().group != open) {
    groups.emplace_back();
    groups.back().group = open;
  }
  groups.back().inst = &inst;
  return groups.back();
}

bool CopyGroups::complete(uint32_t latest, bool readOnly) const {
  for (const Pending &p : groups)
    if (p.group < open && open - p.group > latest &&
        (p.reads || (!readOnly && p.writes)))
      return false;
  return true;
}

uint32_t CopyGroups::observe(uint32_t latest, bool readOnly) {
  uint32_t time = 0;
  for (size_t i = groups.size(); i-- > 0;) {
    Pending &p = groups[i];
    if (p.group >= open || open - p.group <= latest)
      continue;
    time = std::max(time, p.time);
    p.waitedRead = true;
    if (!readOnly && !p.writes)
      groups.erase(groups.begin() + int64_t(i));
  }
  return time;
}
