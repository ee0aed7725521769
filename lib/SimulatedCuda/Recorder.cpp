// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch descriptions from launches.
#include "Recorder.h"

#include "Memory.h"
#include "Modules.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace fp8::cuda {
namespace {
using Json = nlohmann::ordered_json;

/// Larger buffers hold numbers, which may look like addresses.
constexpr uint64_t kLargestTable = 1 << 20;

class Writer {
public:
  Writer(std::filesystem::path folder, const RecordedLaunch &launch,
         Memory &memory)
      : folder(std::move(folder)), launch(launch), memory(memory) {}

  bool write() {
    Json json;
    json["version"] = 1;
    json["entry"] = launch.entry;
    json["grid"] = launch.config.grid;
    json["block"] = launch.config.block;
    json["cluster"] = launch.config.cluster;
    json["shared_memory_bytes"] = launch.config.dynamicSharedBytes;
    json["programmatic"] = launch.config.programmatic;
    json["cooperative"] = launch.cooperative;
    json["buffers"] = Json::array();
    for (const auto &[address, allocation] : memory.allocations())
      json["buffers"].push_back(describe(allocation));
    json["arguments"] = Json::array();
    for (size_t i = 0; i < launch.arguments.size(); ++i)
      json["arguments"].push_back(describe(launch.arguments[i].content(),
                                           "argument-" + std::to_string(i)));
    json["variables"] = Json::object();
    for (const auto &variable : launch.module.loaded()->variables())
      if (variable.bytes)
        json["variables"][std::string(variable.name)] = describe(variable);
    save("launch.json", json.dump(1) + "\n");
    return ok;
  }

private:
  std::filesystem::path folder;
  const RecordedLaunch &launch;
  Memory &memory;
  bool ok = true;

  void save(const std::string &name, std::string_view bytes) {
    std::ofstream file(folder / name, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    ok &= bool(file.flush());
  }
  static std::string_view text(const std::vector<uint8_t> &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
  static std::string nameOf(const Allocation &allocation) {
    return "memory-" + std::to_string(allocation.number);
  }

  Json describe(const Allocation &allocation) {
    const sim::Buffer *buffer =
        memory.device.find(allocation.address, allocation.bytes);
    Json json{{"name", nameOf(allocation)}, {"bytes", allocation.bytes}};
    if (allocation.bytes) {
      json["file"] = nameOf(allocation) + ".bin";
      save(json["file"], text(buffer->bytes));
    } else {
      json["fill"] = "zeros";
    }
    if (allocation.bytes <= kLargestTable)
      if (Json fields = fieldsOf(buffer->bytes); !fields.empty())
        json["fields"] = std::move(fields);
    return json;
  }

  Json describe(const std::vector<uint8_t> &bytes, const std::string &name) {
    Json json{{"bytes", bytes.size()}, {"file", name + ".bin"}};
    save(json["file"], text(bytes));
    if (Json fields = fieldsOf(bytes); !fields.empty())
      json["fields"] = std::move(fields);
    return Json{{"struct", std::move(json)}};
  }

  Json describe(const sim::LoadedModule::Variable &variable) {
    std::vector<uint8_t> bytes(variable.bytes);
    memory.device.read(variable.address, bytes.data(), bytes.size());
    return describe(bytes, std::string(variable.name));
  }

  /// The tensor maps and addresses in `bytes`.
  Json fieldsOf(const std::vector<uint8_t> &bytes) {
    Json fields = Json::array();
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size();) {
      sim::TensorMap map;
      bool fits = at % sim::kTensorMapAlignment == 0 &&
                  at + sim::kTensorMapBytes <= bytes.size();
      if (fits && !sim::TensorMap::decode(bytes.data() + at, map)) {
        if (Json json = describe(map); !json.empty())
          fields.push_back(
              {{"offset", at}, {"value", {{"tensor_map", std::move(json)}}}});
        at += sim::kTensorMapBytes;
        continue;
      }
      uint64_t word;
      std::memcpy(&word, bytes.data() + at, sizeof(word));
      if (const Allocation *allocation = memory.find(word))
        fields.push_back({{"offset", at}, {"value", place(*allocation, word)}});
      at += sizeof(word);
    }
    return fields;
  }

  static Json place(const Allocation &allocation, uint64_t address) {
    return {{"buffer", nameOf(allocation)},
            {"offset", address - allocation.address}};
  }

  /// Empty for a map of memory that is not there, which stays as it is.
  Json describe(const sim::TensorMap &map) {
    const Allocation *allocation = memory.find(map.globalAddress);
    if (!allocation || map.validate())
      return {};
    Json json = place(*allocation, map.globalAddress);
    auto list = [&](const auto &values, unsigned count) {
      return Json(std::vector<int64_t>(values.begin(), values.begin() + count));
    };
    json["dtype"] = sim::infoOf(map.elementType).name;
    json["dims"] = list(map.dims, map.rank);
    json["strides_bytes"] = list(map.strides, map.rank - 1);
    if (map.mode == sim::TensorMapMode::Im2col)
      json["im2col"] = {
          {"channels", map.box[0]},
          {"pixels", map.box[1]},
          {"lower_corner", list(map.lowerCorner, map.spatialDims())},
          {"upper_corner", list(map.upperCorner, map.spatialDims())}};
    else
      json["box"] = list(map.box, map.rank);
    json["element_strides"] = list(map.elementStrides, map.rank);
    json["swizzle"] = sim::patternOf(map.swizzle).name;
    json["interleave"] = map.interleave == sim::Interleave::None  ? "none"
                         : map.interleave == sim::Interleave::B16 ? "16B"
                                                                  : "32B";
    json["oob_fill"] = map.oobFill == sim::OobFill::Zero ? "zero" : "nan";
    return json;
  }
};
} // namespace

std::optional<launch::Error> record(const std::string &folder,
                                    const std::string &name,
                                    const RecordedLaunch &launch,
                                    Memory &memory) {
  std::filesystem::path place = std::filesystem::path(folder) / name;
  std::error_code error;
  std::filesystem::create_directories(place, error);
  std::filesystem::path ptx =
      std::filesystem::path(folder) / launch.module.fileName();
  bool ok = !error;
  // A file of this name may be there from an earlier program.
  static std::set<std::filesystem::path> written;
  if (ok && written.insert(ptx).second) {
    std::ofstream file(ptx, std::ios::binary);
    file << launch.module.text();
    ok = bool(file.flush());
  }
  if (ok && Writer(place, launch, memory).write())
    return std::nullopt;
  return launch::Error{"cannot write the launch to " + place.string()};
}

} // namespace fp8::cuda
