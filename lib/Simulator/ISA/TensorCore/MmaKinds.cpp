// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the table of MMA kinds.

#include "ISA/TensorCore/MmaKinds.h"

#include <algorithm>
#include <cctype>
#include <vector>

using namespace fp8::sim;

namespace {

const MmaKindRow kKinds[] = {
#define FP8_MMA_KIND(ID, NAME, K, PRODUCTS, TRAITS)                            \
  {NAME, K, fp8::chip::ProductKind::PRODUCTS, TRAITS},
#include "ISA/TensorCore/MmaKinds.def"
};

const MmaFormatRow kFormats[] = {
#define FP8_MMA_FORMAT(ID, NAME, BITS, LEAST) {NAME, BITS, LEAST},
#include "ISA/TensorCore/MmaKinds.def"
};

struct Operand {
  MmaKind kind;
  uint32_t code;
  MmaFormat format;
};
const Operand kOperands[] = {
#define FP8_MMA_OPERAND(KIND, CODE, FORMAT)                                    \
  {MmaKind::KIND, CODE, MmaFormat::FORMAT},
#include "ISA/TensorCore/MmaKinds.def"
};

struct Result {
  MmaKind kind;
  uint32_t code;
  MmaResult result;
  const char *name;
};
const Result kResults[] = {
#define FP8_MMA_RESULT(KIND, CODE, RESULT)                                     \
  {MmaKind::KIND, CODE, MmaResult::RESULT, #RESULT},
#include "ISA/TensorCore/MmaKinds.def"
};

struct Scale {
  MmaKind kind;
  uint32_t count;
  uint32_t block;
  ScaleType type;
  const char *name;
};
const Scale kScales[] = {
#define FP8_MMA_SCALE(KIND, COUNT, BLOCK, TYPE)                                \
  {MmaKind::KIND, COUNT, BLOCK, ScaleType::TYPE, #TYPE},
#include "ISA/TensorCore/MmaKinds.def"
};

/// "a, b or c".
std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (size_t n = 0; n < parts.size(); ++n)
    text += (n == 0 ? "" : n + 1 == parts.size() ? " or " : ", ") + parts[n];
  return text;
}

/// The texts that `say` makes of the rows of a kind, each once.
template <typename Row, size_t N, typename F>
std::string list(const Row (&rows)[N], MmaKind kind, F say) {
  std::vector<std::string> parts;
  for (const Row &row : rows)
    if (row.kind == kind)
      if (std::string part = say(row);
          !part.empty() &&
          std::find(parts.begin(), parts.end(), part) == parts.end())
        parts.push_back(part);
  return join(parts);
}

std::string coded(uint32_t code, std::string name) {
  for (char &c : name)
    c = char(std::tolower(c));
  return std::to_string(code) + " (" + name + ")";
}

std::string vectorName(const Scale &scale) {
  return "scale_vec::" + std::to_string(scale.count) + "X";
}
std::string blockName(const Scale &scale) {
  return "block" + std::to_string(scale.block);
}

} // namespace

const MmaKindRow &fp8::sim::getRow(MmaKind kind) {
  return kKinds[unsigned(kind)];
}
const MmaFormatRow &fp8::sim::getRow(MmaFormat format) {
  return kFormats[unsigned(format)];
}

std::optional<MmaKind> fp8::sim::findKind(std::string_view name) {
  for (unsigned n = 0; n < std::size(kKinds); ++n)
    if (name == kKinds[n].name)
      return MmaKind(n);
  return std::nullopt;
}

MmaKind fp8::sim::findKind(MmaFormat format) {
  return std::find_if(std::begin(kOperands), std::end(kOperands),
                      [&](const Operand &row) { return row.format == format; })
      ->kind;
}

std::optional<MmaFormat> fp8::sim::findOperand(MmaKind kind, uint32_t code) {
  for (const Operand &row : kOperands)
    if (row.kind == kind && row.code == code)
      return row.format;
  return std::nullopt;
}

std::optional<MmaResult> fp8::sim::findResult(MmaKind kind, uint32_t code) {
  for (const Result &row : kResults)
    if (row.kind == kind && row.code == code)
      return row.result;
  return std::nullopt;
}

bool fp8::sim::hasScales(MmaKind kind) {
  return std::any_of(std::begin(kScales), std::end(kScales),
                     [&](const Scale &row) { return row.kind == kind; });
}

uint32_t fp8::sim::findScaleCount(MmaKind kind, std::string_view qualifier) {
  uint32_t count = 0;
  for (const Scale &row : kScales) {
    if (row.kind != kind)
      continue;
    if (qualifier == vectorName(row) || qualifier == blockName(row))
      return row.count;
    if (qualifier.empty()) {
      if (count && count != row.count)
        return 0;
      count = row.count;
    }
  }
  return count;
}

bool fp8::sim::takesScales(MmaKind kind, uint32_t count, ScaleType type) {
  return std::any_of(
      std::begin(kScales), std::end(kScales), [&](const Scale &row) {
        return row.kind == kind && row.count == count && row.type == type;
      });
}

std::string fp8::sim::listOperands(MmaKind kind) {
  return list(kOperands, kind, [](const Operand &row) {
    return coded(row.code, getRow(row.format).name);
  });
}

std::string fp8::sim::listResults(MmaKind kind) {
  return list(kResults, kind,
              [](const Result &row) { return coded(row.code, row.name); });
}

std::string fp8::sim::listScaleTypes(MmaKind kind, uint32_t count) {
  return list(kScales, kind, [&](const Scale &row) {
    return row.count == count ? coded(uint32_t(row.type), row.name)
                              : std::string();
  });
}

std::string fp8::sim::listScaleCounts(MmaKind kind) {
  return list(kScales, kind, [](const Scale &row) {
    return "." + vectorName(row) + " (." + blockName(row) + ")";
  });
}
