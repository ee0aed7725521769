// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the patches of the tables. Keys keep their order, so that a message
// about the second of two keys is about the same one as before the patch.
#include "ManifestInputs.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

using Json = nlohmann::ordered_json;

std::string patched(const std::string &text, const Json &patch) {
  return Json::parse(text).patch(patch).dump(2) + "\n";
}

std::string replaced(const std::string &text, const std::string &path,
                     const Json &value) {
  return patched(text, {{{"op", "replace"}, {"path", path}, {"value", value}}});
}

std::vector<RefusedManifest> readRefused(const std::string &table) {
  std::vector<RefusedManifest> manifests;
  for (const auto &row : Json::parse(readInput(table))) {
    std::string name = row.at("name"), text = readInput(row.at("base"));
    try {
      if (row.contains("patch"))
        text = patched(text, row.at("patch"));
    } catch (const Json::exception &error) {
      throw std::runtime_error("the patch of '" + name + "' in " + table +
                               " does not apply: " + error.what());
    }
    manifests.push_back({name, text, row.at("error")});
  }
  return manifests;
}
