// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the launch manifest.
#include "fp8/Launch/Manifest.h"

#include "ExpressionReader.h"
#include "JsonReader.h"

#include <limits>

namespace fp8::launch {
namespace {
// CUDA C++ Programming Guide, "Technical Specifications".
constexpr int64_t maxThreadsPerBlock = 1024;
constexpr int64_t maxBlockZ = 64;
constexpr int64_t maxPortableCluster = 8;
constexpr int64_t maxCluster = 16;
constexpr size_t maxArgumentRank = 8;

ElementType readElementType(const JsonValue &json) {
  std::string text = json.string();
  if (std::optional<ElementType> type = tensor::parseElementType(text))
    return *type;
  json.fail("'" + JsonValue::printable(text) + "' is not one of " +
            tensor::kElementTypes.str());
}

std::vector<std::optional<int64_t>> readStaticSizes(const JsonValue &json,
                                                    int64_t low) {
  std::vector<std::optional<int64_t>> sizes;
  for (const JsonValue &size : json.array()) {
    if (size.isNull())
      sizes.push_back(std::nullopt);
    else
      sizes.push_back(size.integer(low, std::numeric_limits<int64_t>::max()));
  }
  return sizes;
}

ArgumentSpec readArgument(const JsonValue &json, int64_t version,
                          const Manifest &manifest) {
  json.expectObject({"name", "dtype", "shape", "strides", "access"}, {});
  ArgumentSpec argument;
  argument.name = json["name"].nonEmptyString();
  if (manifest.findArgument(argument.name))
    json["name"].fail("another argument has the name '" +
                      JsonValue::printable(argument.name) +
                      "'; names must be unique");
  argument.dtype = readElementType(json["dtype"]);
  argument.shape = readStaticSizes(json["shape"], 0);
  argument.strides = readStaticSizes(json["strides"], 0);
  if (argument.shape.size() > maxArgumentRank)
    json["shape"].fail("rank " + std::to_string(argument.shape.size()) +
                       " is above the limit of " +
                       std::to_string(maxArgumentRank));
  if (argument.strides.size() != argument.shape.size())
    json["strides"].fail("expected one stride for each of the " +
                         std::to_string(argument.shape.size()) +
                         " dimensions, found " +
                         std::to_string(argument.strides.size()));
  argument.access =
      json["access"].oneOf<Access>({{"read", Access::Read},
                                    {"write", Access::Write},
                                    {"readwrite", Access::ReadWrite},
                                    {"constant", Access::Constant}});
  if (argument.access == Access::Constant && version < 5)
    json["access"].fail(
        "\"constant\" needs version 5, but the file has version " +
        std::to_string(version));
  return argument;
}

Constraint readConstraint(const JsonValue &json, const Manifest &manifest) {
  json.expectObject({"condition", "rule"}, {});
  return {readExpression(json["condition"], manifest),
          json["rule"].nonEmptyString()};
}

void readCluster(const JsonValue &json, LaunchSpec &launch) {
  std::vector<JsonValue> sizes = json["cluster"].array(3);
  int64_t blocks = 1;
  for (unsigned i = 0; i < 3; ++i) {
    launch.cluster[i] = sizes[i].integer(1, maxCluster);
    blocks *= launch.cluster[i];
  }
  launch.nonPortableCluster = json["non_portable_cluster"].boolean();
  if (blocks > maxCluster)
    json["cluster"].fail("a cluster of " + std::to_string(blocks) +
                         " blocks is above the limit of " +
                         std::to_string(maxCluster));
  if (blocks > maxPortableCluster && !launch.nonPortableCluster)
    json["cluster"].fail("a cluster of " + std::to_string(blocks) +
                         " blocks is not portable (more than " +
                         std::to_string(maxPortableCluster) +
                         "); set launch.non_portable_cluster");
}

LaunchSpec readLaunch(const JsonValue &json, int64_t version,
                      const Manifest &manifest) {
  json.expectObject({"grid", "block", "cluster", "shared_memory_bytes",
                     "non_portable_cluster"},
                    {"programmatic"});
  LaunchSpec launch;
  if (json.has("programmatic")) {
    if (version < 2)
      json["programmatic"].fail("needs version 2, but the file has version " +
                                std::to_string(version));
    launch.programmatic = json["programmatic"].boolean();
  }
  std::vector<JsonValue> grid = json["grid"].array(3);
  for (unsigned i = 0; i < 3; ++i)
    launch.grid[i] = readExpression(grid[i], manifest);

  std::vector<JsonValue> block = json["block"].array(3);
  int64_t threads = 1;
  for (unsigned i = 0; i < 3; ++i) {
    launch.block[i] =
        block[i].integer(1, i == 2 ? maxBlockZ : maxThreadsPerBlock);
    threads *= launch.block[i];
  }
  if (threads > maxThreadsPerBlock)
    json["block"].fail(std::to_string(threads) +
                       " threads are above the limit of " +
                       std::to_string(maxThreadsPerBlock) + " per block");

  readCluster(json, launch);
  launch.sharedMemoryBytes = json["shared_memory_bytes"].integer(
      0, std::numeric_limits<uint32_t>::max());
  return launch;
}

std::vector<uint32_t> readExtents(const JsonValue &json, size_t rank,
                                  int64_t high) {
  std::vector<uint32_t> extents;
  for (const JsonValue &extent : json.array(rank))
    extents.push_back(extent.integer(1, high));
  return extents;
}

/// A number is checked here, an expression with the arguments of a call.
Expression readBoxExtent(const JsonValue &json, int64_t version,
                         const Manifest &manifest) {
  if (json.isNumber())
    json.integer(1, tensor::kMaxBoxExtent);
  else if (version < 7)
    json.fail("an expression needs version 7, but the file has version " +
              std::to_string(version));
  return readExpression(json, manifest);
}

TensorMapSpec readTensorMap(const JsonValue &json, int64_t version,
                            const Manifest &manifest) {
  json.expectObject({"kind", "argument", "dtype", "dims", "strides_bytes",
                     "box", "element_strides", "swizzle", "interleave",
                     "l2_promotion", "oob_fill"},
                    {});
  TensorMapSpec map;
  map.argument = readArgumentReference(json["argument"], manifest);
  map.dtype = readElementType(json["dtype"]);
  for (const JsonValue &dim : json["dims"].array())
    map.dims.push_back(readExpression(dim, manifest));
  size_t rank = map.dims.size();
  if (rank < 1 || rank > tensor::kMaxRank)
    json["dims"].fail("a tensor map has 1 to 5 dimensions, found " +
                      std::to_string(rank));
  for (const JsonValue &stride : json["strides_bytes"].array(rank - 1))
    map.stridesBytes.push_back(readExpression(stride, manifest));
  for (const JsonValue &extent : json["box"].array(rank))
    map.box.push_back(readBoxExtent(extent, version, manifest));
  map.elementStrides =
      readExtents(json["element_strides"], rank, tensor::kMaxElementStride);
  using tensor::Swizzle, tensor::Interleave, tensor::L2Promotion,
      tensor::OobFill;
  std::vector<std::pair<std::string_view, Swizzle>> swizzles;
  for (Swizzle swizzle : tensor::kSwizzles)
    swizzles.emplace_back(spelling(swizzle), swizzle);
  map.swizzle = json["swizzle"].oneOf<Swizzle>(swizzles);
  map.interleave =
      json["interleave"].oneOf<Interleave>({{"none", Interleave::None},
                                            {"16B", Interleave::B16},
                                            {"32B", Interleave::B32}});
  map.l2Promotion =
      json["l2_promotion"].oneOf<L2Promotion>({{"none", L2Promotion::None},
                                               {"64B", L2Promotion::B64},
                                               {"128B", L2Promotion::B128},
                                               {"256B", L2Promotion::B256}});
  map.oobFill = json["oob_fill"].oneOf<OobFill>(
      {{"zero", OobFill::Zero}, {"nan", OobFill::NaN}});
  return map;
}

ScalarSpec readScalar(const JsonValue &json, const Manifest &manifest) {
  json.expectObject({"kind", "type", "value"}, {});
  return {json["type"].oneOf<ElementType>({{"i8", ElementType::I8},
                                           {"i16", ElementType::I16},
                                           {"i32", ElementType::I32},
                                           {"i64", ElementType::I64}}),
          readExpression(json["value"], manifest)};
}

ConstancySpec readConstancy(const JsonValue &json, int64_t version,
                            const Manifest &manifest) {
  json.expectObject({"kind", "arguments"}, {});
  if (version < 6)
    json["kind"].fail(
        "\"constant\" needs version 6, but the file has version " +
        std::to_string(version));
  ConstancySpec constancy;
  for (const JsonValue &argument : json["arguments"].array())
    constancy.arguments.push_back(readArgumentReference(argument, manifest));
  if (constancy.arguments.empty())
    json["arguments"].fail("expected at least one argument");
  return constancy;
}

ParameterSpec readParameter(const JsonValue &json, int64_t version,
                            const Manifest &manifest) {
  if (!json.isObject() || !json.has("kind"))
    json.fail("expected an object with the key 'kind'");
  enum class Kind { TensorMap, Pointer, Scalar, Constancy };
  switch (json["kind"].oneOf<Kind>({{"tensor_map", Kind::TensorMap},
                                    {"pointer", Kind::Pointer},
                                    {"scalar", Kind::Scalar},
                                    {"constant", Kind::Constancy}})) {
  case Kind::TensorMap:
    return readTensorMap(json, version, manifest);
  case Kind::Scalar:
    return readScalar(json, manifest);
  case Kind::Constancy:
    return readConstancy(json, version, manifest);
  case Kind::Pointer:
    break;
  }
  json.expectObject({"kind", "argument"}, {});
  return PointerSpec{readArgumentReference(json["argument"], manifest)};
}

uint32_t readCount(const JsonValue &json, int64_t low = 0) {
  return uint32_t(json.integer(low, std::numeric_limits<uint32_t>::max()));
}

WaitTable::Barrier readBarrier(const JsonValue &json) {
  json.expectObject({"ring", "name", "offset", "depth", "arrivals", "bytes"},
                    {});
  WaitTable::Barrier barrier;
  barrier.ring = json["ring"].nonEmptyString();
  barrier.name = json["name"].nonEmptyString();
  barrier.offset = readCount(json["offset"]);
  barrier.depth = readCount(json["depth"], 1);
  barrier.bytes = readCount(json["bytes"]);
  for (const JsonValue &arrival : json["arrivals"].array()) {
    arrival.expectObject({"role", "count", "how"}, {});
    barrier.arrivals.push_back({arrival["role"].nonEmptyString(),
                                readCount(arrival["count"]),
                                arrival["how"].string()});
  }
  return barrier;
}

/// The roles and barriers that stamps and records of waits are about.
template <typename Table>
void readNames(const JsonValue &json, Table &table) {
  table.variable = json["variable"].nonEmptyString();
  for (const JsonValue &role : json["roles"].array()) {
    role.expectObject({"name", "first_warp", "warps"}, {});
    table.roles.push_back({role["name"].nonEmptyString(),
                           readCount(role["first_warp"]),
                           readCount(role["warps"], 1)});
  }
  for (const JsonValue &barrier : json["barriers"].array())
    table.barriers.push_back(readBarrier(barrier));
}

WaitTable readDebugWaits(const JsonValue &json) {
  json.expectObject({"variable", "limit_ms", "roles", "barriers"}, {});
  WaitTable table;
  table.limitMs = readCount(json["limit_ms"], 1);
  readNames(json, table);
  return table;
}

ProfileTable readProfile(const JsonValue &json) {
  json.expectObject({"variable", "ctas", "stamps", "roles", "barriers"}, {});
  constexpr int64_t most = 1 << 25; // stamps in 2^28 bytes, which all fit in
  ProfileTable table;
  table.ctas = uint32_t(json["ctas"].integer(1, most));
  table.stamps = uint32_t(json["stamps"].integer(1, most));
  readNames(json, table);
  if (uint64_t(table.ctas) * table.stamps * table.roles.size() > most)
    json["stamps"].fail("all stamps together must be at most " +
                        std::to_string(most) + ", but there are " +
                        std::to_string(table.units() * table.stamps));
  return table;
}

/// The version; 0 if there is none.
int64_t readVersion(const JsonValue &json) {
  // Before anything else: a newer file should be told apart from a broken one.
  if (!json.has("version"))
    return 0;
  int64_t version = json["version"].integer();
  if (version < 1 || version > Manifest::supportedVersion)
    json["version"].fail(
        "version " + std::to_string(version) +
        " is not supported; this reader supports versions 1 to " +
        std::to_string(Manifest::supportedVersion) +
        (version < 1 ? "" : "; read it with a newer fp8"));
  return version;
}

void readProblem(const JsonValue &json, int64_t version, Manifest &manifest) {
  if (json.has("problem"))
    manifest.problem = json["problem"].nonEmptyString();
  if (!json.has("problem_options"))
    return;
  if (version < 2)
    json["problem_options"].fail("needs version 2, but the file has version " +
                                 std::to_string(version));
  if (manifest.problem.empty())
    json["problem_options"].fail("also needs the key 'problem'");
  for (const auto &[name, value] : json["problem_options"].members())
    manifest.problemOptions[name] = value.integer();
}

Manifest readManifest(const JsonValue &json) {
  int64_t version = readVersion(json);
  json.expectObject({"version", "producer", "chip", "kernel", "arguments",
                     "constraints", "launch", "parameters"},
                    {"problem", "problem_options", "debug_waits", "profile"});
  Manifest manifest;
  manifest.producer = json["producer"].string();
  manifest.chip = json["chip"].nonEmptyString();
  manifest.kernel = json["kernel"].nonEmptyString();
  readProblem(json, version, manifest);
  for (const JsonValue &argument : json["arguments"].array())
    manifest.arguments.push_back(readArgument(argument, version, manifest));
  for (const JsonValue &constraint : json["constraints"].array())
    manifest.constraints.push_back(readConstraint(constraint, manifest));
  manifest.launch = readLaunch(json["launch"], version, manifest);
  for (const JsonValue &parameter : json["parameters"].array())
    manifest.parameters.push_back(readParameter(parameter, version, manifest));
  if (json.has("debug_waits")) {
    if (version < 3)
      json["debug_waits"].fail("needs version 3, but the file has version " +
                               std::to_string(version));
    manifest.debugWaits = readDebugWaits(json["debug_waits"]);
  }
  if (json.has("profile")) {
    if (version < 4)
      json["profile"].fail("needs version 4, but the file has version " +
                           std::to_string(version));
    manifest.profile = readProfile(json["profile"]);
  }
  return manifest;
}
} // namespace

Expected<Manifest> parseManifest(std::string_view text) {
  try {
    nlohmann::json json = parseJson(text);
    return readManifest(JsonValue(json, ""));
  } catch (const JsonError &error) {
    return Error{error.message};
  }
}

std::vector<std::string> Manifest::argumentNames() const {
  std::vector<std::string> names;
  for (const ArgumentSpec &argument : arguments)
    names.push_back(argument.name);
  return names;
}

std::optional<unsigned> Manifest::findArgument(std::string_view name) const {
  for (unsigned i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name)
      return i;
  return std::nullopt;
}

} // namespace fp8::launch
