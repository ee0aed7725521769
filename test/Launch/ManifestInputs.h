// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The example manifests under Inputs/: those that the reader accepts, in
// valid/, and tables of those that it refuses, most of them as patches.
#ifndef FP8_TEST_LAUNCH_MANIFESTINPUTS_H
#define FP8_TEST_LAUNCH_MANIFESTINPUTS_H

#include "ReadFile.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

inline std::string readInput(const std::string &name) {
  return fp8::test::readFile(std::string(FP8_INPUTS) + "/" + name);
}

/// `text` after a JSON Patch (RFC 6902), formatted as the compiler writes
/// manifests. Throws nlohmann::json::exception where the patch does not apply.
std::string patched(const std::string &text,
                    const nlohmann::ordered_json &patch);

/// `text` with the value at `path`, a JSON pointer to one, replaced.
std::string replaced(const std::string &text, const std::string &path,
                     const nlohmann::ordered_json &value);

/// A manifest that the reader refuses, and its whole message.
struct RefusedManifest {
  std::string name;
  std::string text;
  std::string error;
};

/// The rows of a table, such as "invalid.json": `base`, a file under Inputs/;
/// `patch`, the JSON Patch that makes the manifest of it; without a patch, the
/// manifest is the file byte for byte. Throws std::runtime_error, which names
/// the row, where its patch does not apply.
std::vector<RefusedManifest> readRefused(const std::string &table);

#endif // FP8_TEST_LAUNCH_MANIFESTINPUTS_H
