// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of cp.async.bulk.tensor, cp.async.bulk.prefetch.tensor and
// cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.27).

#include "ISA/Copy/TensorCopy.h"

#include "Program/Decoder.h"

#include <algorithm>
#include <utility>

using namespace fp8::sim;

namespace {

/// To the end of the list.
bool pushRows(Decoder &d, Inst &i, const std::vector<ast::Operand> &operands,
              Type type) {
  for (const ast::Operand &operand : operands) {
    uint32_t row;
    if (!d.row(operand, type, row))
      return false;
    d.program.lists.push_back(row);
    ++i.listCount;
  }
  return true;
}

/// `[map, {coordinates}]`: source 1, and the list.
bool mapAndCoordinates(Decoder &d, Inst &i, TensorCopy &copy) {
  const ast::Operand *whole;
  int64_t offset = i.offset;
  if (!d.address(i, &whole))
    return false;
  if (whole->elements.size() != 2 ||
      whole->elements[1].kind != ast::Operand::Kind::Vector)
    return d.fail("needs a tensor operand [map, {coordinates}]");
  const std::vector<ast::Operand> &coordinates = whole->elements[1].elements;
  if (coordinates.size() != copy.coordinates())
    return d.fail("needs " + std::to_string(copy.coordinates()) +
                  " coordinates, not " + std::to_string(coordinates.size()));
  copy.mapOffset = uint64_t(std::exchange(i.offset, offset));
  // A parameter's name stands for its address in parameter space.
  const ast::Operand &base = whole->elements[0];
  if (base.kind == ast::Operand::Kind::Symbol)
    for (const EntryParameter &parameter : d.function.signature.parameters)
      if (parameter.name == base.name)
        copy.mapOffset += kParamWindow;
  i.list = uint32_t(d.program.lists.size());
  return pushRows(d, i, coordinates, Type::S32);
}

/// `, {offsets}` of the pixels of W, H and D, behind the coordinates.
bool takeOffsets(Decoder &d, Inst &i, TensorCopy &copy) {
  if (copy.mode != BoxMode::Im2col)
    return true;
  copy.offsets = uint8_t(copy.rank - 2);
  const ast::Operand *offsets = d.takeOperand();
  if (!offsets || offsets->kind != ast::Operand::Kind::Vector ||
      offsets->elements.size() != copy.offsets)
    return d.fail("needs {" + std::to_string(copy.offsets) +
                  " offsets} of its pixels");
  return pushRows(d, i, offsets->elements, Type::U16);
}

/// The load mode, which is that of boxes unless it is named. `offsets`: pixels
/// come with offsets.
bool takeMode(Decoder &d, TensorCopy &copy, const char *rows, bool offsets) {
  if (d.hasQualifier("im2col::w") || d.hasQualifier("im2col::w::128"))
    return d.fail("is not supported in the modes .im2col::w");
  if (d.take("tile"))
    return true;
  if (d.take(offsets ? "im2col" : "im2col_no_offs")) {
    copy.mode = BoxMode::Im2col;
    return copy.rank >= 3 || d.fail("needs .3d to .5d with its mode");
  }
  if (*rows && d.take(rows)) {
    copy.mode = BoxMode::Rows;
    return copy.rank == 2 || d.fail("needs .2d with ." + std::string(rows));
  }
  return true;
}

bool takeRank(Decoder &d, TensorCopy &copy) {
  int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0)
    return d.fail("needs .1d to .5d");
  copy.rank = uint8_t(rank + 1);
  return true;
}

bool finishHint(Decoder &d) { return !d.cacheHint || d.takeOperand(); }

bool decodeStore(Decoder &d, Inst &i, TensorCopy &copy) {
  i.fn = storeTensor;
  if (d.takeOneOf({"shared::cta"}) < 0 || !d.take("bulk_group"))
    return d.fail("stores from .shared::cta with .bulk_group only");
  // The map comes first in the text; the shared address is source 0 for all
  // copies.
  if (!mapAndCoordinates(d, i, copy))
    return false;
  i.s[1] = i.s[0];
  i.sources = 0;
  if (!d.address(i))
    return false;
  i.sources = 2;
  return finishHint(d);
}

} // namespace

bool fp8::sim::decodeBulkTensor(Decoder &d, Inst &i) {
  TensorCopy &copy = i.make<TensorCopy>();
  d.take("tensor");
  bool prefetch = d.take("prefetch");
  if (!takeRank(d, copy))
    return false;
  d.dropCacheHints();
  if (prefetch) {
    i.fn = prefetchTensor;
    if (!d.take("L2") || !d.take("global"))
      return d.fail("is not supported in this form");
    if (!takeMode(d, copy, "tile::gather4", true) ||
        !mapAndCoordinates(d, i, copy) || !takeOffsets(d, i, copy))
      return false;
    i.s[1] = i.s[0];
    i.sources = 2;
    return finishHint(d);
  }
  const std::vector<std::string> &q = d.text().qualifiers;
  size_t global = size_t(std::find(q.begin(), q.end(), "global") - q.begin());
  size_t shared = size_t(std::find_if(q.begin(), q.end(),
                                      [](const std::string &s) {
                                        return s.rfind("shared", 0) == 0;
                                      }) -
                         q.begin());
  if (!d.take("global"))
    return d.fail("needs .global");
  if (global < shared)
    return takeMode(d, copy, "tile::scatter4", false) &&
           decodeStore(d, i, copy);
  if (d.takeOneOf({"shared::cluster", "shared::cta"}) < 0)
    return d.fail("needs .shared::cluster or .shared::cta");
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.fail("needs .mbarrier::complete_tx::bytes");
  bool multicast = d.take("multicast::cluster");
  copy.pair = d.takeOneOf({"cta_group::1", "cta_group::2"}) == 1;
  i.fn = loadTensor;
  if (!takeMode(d, copy, "tile::gather4", true) || !d.address(i) ||
      !mapAndCoordinates(d, i, copy) || !d.address(i, copy.barrierOffset) ||
      !takeOffsets(d, i, copy))
    return false;
  if (multicast && !d.source(i, Type::U16))
    return false;
  return finishHint(d);
}

bool fp8::sim::decodeReduceTensor(Decoder &d, Inst &i) {
  TensorCopy &copy = i.make<TensorCopy>();
  if (!takeRank(d, copy) || !takeMode(d, copy, "", false))
    return false;
  d.dropCacheHints();
  if (!d.take("global"))
    return d.fail("needs .global");
  return takeReduction(d, copy.reduction) && decodeStore(d, i, copy);
}
