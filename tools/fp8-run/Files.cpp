// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing files, with an error for everything that can go wrong.
#include "Files.h"

#include "fp8/Files/OutputFiles.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fp8::run {
namespace fs = std::filesystem;

launch::Expected<std::string> readTextFile(const std::string &path) {
  constexpr uint64_t limit = uint64_t(256) << 20;
  auto failure = [&](const std::string &why) {
    return launch::Error{"cannot read '" + path + "': " + why};
  };
  std::error_code code;
  fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    return failure("no such file");
  if (code)
    return failure(code.message());
  if (fs::is_directory(status))
    return failure("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return failure(std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof(buffer)) || file.gcount() > 0) {
    text.append(buffer, file.gcount());
    if (text.size() > limit)
      return failure("it is larger than " + std::to_string(limit) + " bytes");
  }
  if (file.bad())
    return failure("reading failed");
  return text;
}

launch::Expected<std::string> findManifest(const std::string &ptxPath,
                                           const std::string &asked) {
  if (!asked.empty())
    return asked;
  std::string beside = ptxPath + ".json";
  std::error_code code;
  if (fs::exists(beside, code))
    return beside;
  fs::path path(ptxPath);
  if (path.extension() != ".ptx")
    return launch::Error{"no launch manifest '" + beside +
                         "'; name it with --manifest"};
  std::string replaced = path.replace_extension(".json").string();
  if (fs::exists(replaced, code))
    return replaced;
  return launch::Error{"no launch manifest '" + beside + "' or '" + replaced +
                       "'; name it with --manifest"};
}

std::optional<launch::Error> writeFile(const std::string &path,
                                       const std::vector<uint8_t> &bytes) {
  std::string_view contents(reinterpret_cast<const char *>(bytes.data()),
                            bytes.size());
  // The standard output has the summary.
  if (auto error = files::write({{path == "-" ? "./-" : path, contents}}))
    return launch::Error{*error};
  return std::nullopt;
}

} // namespace fp8::run
