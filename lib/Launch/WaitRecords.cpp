// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of waits that gave up, in words.
#include "fp8/Launch/WaitRecords.h"

#include <cstdio>

namespace fp8::launch {
namespace {
constexpr uint32_t barrierBytes =
    8; // PTX ISA, "Size and alignment of mbarrier"

/// What the records of one role at one kind of barrier have in common.
struct Group {
  const WaitTable::Role *role;
  const WaitTable::Barrier *barrier;
  const WaitRecord *first;
  unsigned others = 0;
};

const WaitTable::Role *findRole(const WaitTable &table, uint32_t warp) {
  for (const WaitTable::Role &role : table.roles)
    if (warp - role.firstWarp < role.warps)
      return &role;
  return nullptr;
}

const WaitTable::Barrier *findBarrier(const WaitTable &table, uint32_t offset) {
  for (const WaitTable::Barrier &barrier : table.barriers)
    if ((offset - barrier.offset) / barrierBytes < barrier.depth)
      return &barrier;
  return nullptr;
}

std::string describe(const Group &group) {
  const WaitRecord &record = *group.first;
  std::string text =
      (group.role ? "role '" + group.role->name + "', " : std::string()) +
      "warp " + std::to_string(record.warp) + " of CTA (" +
      std::to_string(record.cta[0]) + ", " + std::to_string(record.cta[1]) +
      ", " + std::to_string(record.cta[2]) + ")";
  if (group.others)
    text += " and " + std::to_string(group.others) + " more warp" +
            (group.others > 1 ? "s" : "") + " like it";
  char waited[32];
  std::snprintf(waited, sizeof(waited), "%.3g", double(record.waited) / 1e9);
  text += " waited " + std::string(waited) + " s for ";
  if (!group.barrier)
    return text + "the mbarrier at shared memory offset " +
           std::to_string(record.offset) + ", parity " +
           std::to_string(record.parity);
  const WaitTable::Barrier &barrier = *group.barrier;
  text += "the " + barrier.name + " barrier of '" + barrier.ring + "', stage " +
          std::to_string((record.offset - barrier.offset) / barrierBytes) +
          ", parity " + std::to_string(record.parity);
  const char *link = "; it needs ";
  for (const WaitTable::Arrival &arrival : barrier.arrivals) {
    text += link + std::to_string(arrival.count) + " arrival" +
            (arrival.count == 1 ? "" : "s") + " of '" + arrival.role + "' (" +
            arrival.how + ")";
    link = " and ";
  }
  if (barrier.bytes)
    text += link + std::to_string(barrier.bytes) + " bytes";
  return text;
}
} // namespace

std::vector<std::string> describe(const WaitTable &table,
                                  const WaitRecord *records) {
  std::vector<Group> groups;
  for (uint32_t i = 0; i < kWaitRecords; ++i) {
    const WaitRecord &record = records[i];
    if (record.isWritten != 1)
      continue;
    Group found{findRole(table, record.warp), findBarrier(table, record.offset),
                &record};
    bool isNew = true;
    for (Group &group : groups)
      if (group.role == found.role && group.barrier == found.barrier &&
          (found.barrier || group.first->offset == record.offset)) {
        ++group.others;
        isNew = false;
        break;
      }
    if (isNew)
      groups.push_back(found);
  }
  std::vector<std::string> lines;
  for (const Group &group : groups)
    lines.push_back(describe(group));
  return lines;
}

} // namespace fp8::launch
