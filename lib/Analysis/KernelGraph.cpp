// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's roles, rings and barriers as a graph for Graphviz.

#include "fp8/Analysis/KernelReport.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fp8;

/// A label's text in quotes; lines are ended by `\n`.
static std::string quote(const Twine &text) {
  std::string result = "\"";
  for (char c : text.str())
    result += c == '\n'               ? std::string("\\n")
              : c == '"' || c == '\\' ? std::string("\\") + c
                                      : std::string(1, c);
  return result + "\"";
}

static std::string getRoleNode(const Twine &role) {
  return quote("role " + role);
}

/// What is handed over is green and drawn through, what is handed back orange
/// and dashed, everything that is done once grey and dotted.
static StringRef getStyle(const BarrierReport &barrier) {
  if (barrier.name == "full")
    return "style=solid, color=\"#1b7837\", fontcolor=\"#1b7837\"";
  if (barrier.name == "empty")
    return "style=dashed, color=\"#b35806\", fontcolor=\"#b35806\"";
  return "style=dotted, color=\"#6b6b6b\", fontcolor=\"#6b6b6b\"";
}

static void printRole(raw_ostream &os, const RoleReport &role) {
  int64_t last = role.warps.first + role.warps.count - 1;
  std::string warps = "warp " + std::to_string(role.warps.first);
  if (role.warps.count > 1)
    warps = "warps " + std::to_string(role.warps.first) + " to " +
            std::to_string(last);
  os << "  " << getRoleNode(role.name)
     << " [shape=box, style=\"rounded,filled\", fillcolor=\"#dce9f7\", label="
     << quote(role.name + "\n" + warps) << "];\n";
}

static void printRing(raw_ostream &os, const RingReport &ring, StringRef node) {
  std::string label = ring.name + "\n" + std::to_string(ring.stages) +
                      (ring.stages == 1 ? " stage" : " stages");
  if (ring.sharedMemoryBytes)
    label += "\n" + std::to_string(ring.sharedMemoryBytes) + " bytes";
  if (ring.tmemColumns)
    label += "\n" + std::to_string(ring.tmemColumns) + " columns";
  os << "  " << node
     << " [shape=box3d, fillcolor=\"#fdf3d8\", label=" << quote(label)
     << "];\n";
}

/// The arrivals at a barrier and the waits for it, each as an edge between a
/// role and the ring. All edges of a ring lie from its producers to it, and
/// from it to the others, so that data flow from left to right; those against
/// that direction have their arrow at the back.
static void printEdges(raw_ostream &os, const BarrierReport &barrier,
                       StringRef node,
                       llvm::function_ref<bool(StringRef)> isProducer) {
  auto print = [&](StringRef role, bool toRing, StringRef label,
                   StringRef tooltip) {
    std::string name = getRoleNode(role);
    bool before = isProducer(role);
    os << "  " << (before ? StringRef(name) : node) << " -> "
       << (before ? node : StringRef(name)) << " ["
       << (before == toRing ? "" : "dir=back, ") << getStyle(barrier)
       << ", label=" << quote(label) << ", tooltip=" << quote(tooltip)
       << "];\n";
  };
  for (const ArrivalReport &arrival : barrier.arrivers) {
    std::string label = barrier.name + ": " + std::to_string(arrival.count);
    if (barrier.bytes && &arrival == barrier.arrivers.begin())
      label += " and " + std::to_string(barrier.bytes) + " bytes";
    print(arrival.role, /*toRing=*/true, label, arrival.how);
  }
  for (const std::string &waiter : barrier.waiters)
    print(waiter, /*toRing=*/false, barrier.name, barrier.phase);
}

void KernelReport::printGraph(raw_ostream &os) const {
  StringRef font = "fontname=\"Helvetica,Arial,sans-serif\"";
  os << "digraph " << quote(name) << " {\n"
     << "  label="
     << quote(Twine(name) + ", " + Twine(32 * cta.warps) + " threads")
     << "; labelloc=t; rankdir=LR; nodesep=0.35; ranksep=0.9; pad=0.2; "
        "bgcolor=white;\n"
     << "  graph [" << font << ", fontsize=16];\n"
     << "  node [" << font
     << ", fontsize=13, style=filled, color=\"#44546a\", "
        "margin=\"0.18,0.1\"];\n"
     << "  edge [" << font << ", fontsize=10, arrowsize=0.7];\n";
  for (const RoleReport &role : roles)
    printRole(os, role);
  for (auto [i, ring] : llvm::enumerate(rings)) {
    std::string node = "ring" + std::to_string(i);
    printRing(os, ring, node);
    const BarrierReport &first = ring.barriers.front();
    auto isProducer = [&](StringRef role) {
      return llvm::any_of(first.arrivers, [&](const ArrivalReport &arrival) {
        return arrival.role == role;
      });
    };
    for (const BarrierReport &barrier : ring.barriers)
      printEdges(os, barrier, node, isProducer);
  }
  os << "}\n";
}
