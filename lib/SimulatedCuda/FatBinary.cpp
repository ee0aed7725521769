// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads fat binaries. NVIDIA documents none of the layout; `cuobjdump
// --dump-ptx` on what nvcc 13.0 writes shows it.
#include "FatBinary.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <zstd.h>

namespace fp8::cuda {
namespace {
constexpr uint32_t kContainer = 0xba55ed50;
constexpr uint32_t kWrapper = 0x466243b1;
constexpr uint32_t kZstdFrame = 0xfd2fb528; // RFC 8878, 3.1.1
constexpr uint16_t kPTX = 1;
constexpr char kElf[] = "\177ELF";

struct Wrapper {
  uint32_t magic, version;
  const void *container;
  const void *file;
};
struct ContainerHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes; ///< of all images
};
struct ImageHeader {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t paddedBytes;
  uint32_t compressedBytes; ///< 0: the text is plain
  uint32_t options, ptxVersion, architecture;
  uint32_t unknown[6];
  uint64_t plainBytes; ///< of compressed text
};
static_assert(offsetof(ImageHeader, plainBytes) == 56, "as nvcc 13.0 has it");

template <typename T>
T load(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// The image, which may have zeros behind it.
launch::Expected<std::string> readContent(const ImageHeader &header,
                                          const char *payload) {
  if (!header.compressedBytes)
    return std::string(payload, header.paddedBytes);
  if (load<uint32_t>(payload) != kZstdFrame)
    return launch::Error{"the device code is compressed, but not by zstd as "
                         "nvcc 13 does it; compile with --no-compress"};
  std::string content(header.plainBytes, '\0');
  size_t bytes = ZSTD_decompress(content.data(), content.size(), payload,
                                 header.compressedBytes);
  if (ZSTD_isError(bytes))
    return launch::Error{std::string("the compressed device code is broken: ") +
                         ZSTD_getErrorName(bytes)};
  content.resize(bytes);
  return content;
}

bool isMachineCode(const void *data) { return std::memcmp(data, kElf, 4) == 0; }

/// The bytes of machine code, whose section headers come last.
std::string_view bytesOf(const void *code) {
  auto header = load<Elf64_Ehdr>(code);
  return {static_cast<const char *>(code),
          header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize};
}

/// Whether the machine code has a section for each kernel of the text, and
/// there is one.
bool isOf(std::string_view code, const std::string &text) {
  constexpr std::string_view directive = ".entry ";
  bool any = false;
  for (size_t at = text.find(directive); at != std::string::npos;
       at = text.find(directive, at)) {
    at += directive.size();
    std::string section =
        ".text." + text.substr(at, text.find_first_of("( \n", at) - at);
    any = true;
    if (code.find({section.c_str(), section.size() + 1}) == code.npos)
      return false;
  }
  return any;
}

launch::Expected<std::string> findTextOf(const void *code,
                                         const std::string &folder) {
  std::error_code error;
  std::string found;
  std::filesystem::file_time_type newest;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".ptx")
      continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    auto time = entry.last_write_time(error);
    if (isOf(bytesOf(code), text) && (found.empty() || time > newest)) {
      found = std::move(text);
      newest = time;
    }
  }
  if (found.empty())
    return launch::Error{"the program loads machine code, and no file of " +
                         folder + " has the PTX of its kernels"};
  return found;
}
} // namespace

bool isFatBinary(const void *data) {
  uint32_t magic = load<uint32_t>(data);
  return magic == kContainer || magic == kWrapper;
}

launch::Expected<std::vector<Image>> readFatBinary(const void *data) {
  auto container = load<ContainerHeader>(data);
  if (container.magic != kContainer)
    return launch::Error{"the device code is no fat binary of nvcc"};
  const char *at = static_cast<const char *>(data) + container.headerBytes;
  const char *end = at + container.bytes;
  std::vector<Image> images;
  while (at < end) {
    auto header = load<ImageHeader>(at);
    Image image;
    image.isPTX = header.kind == kPTX;
    image.architecture = header.architecture;
    auto content = readContent(header, at + header.headerBytes);
    if (!content)
      return content.takeError();
    image.content = std::move(*content);
    if (image.isPTX)
      image.content.resize(strnlen(image.content.data(), image.content.size()));
    images.push_back(std::move(image));
    at += header.headerBytes + header.paddedBytes;
  }
  return images;
}

/// Whether the driver compiles the PTX for the architecture. Text for sm_90a is
/// for that one alone, and text for sm_100f for its family (PTX ISA 11.1.2,
/// .target).
static bool isFor(const Image &image, unsigned architecture) {
  if (!image.isPTX || image.architecture > architecture)
    return false;
  constexpr std::string_view directive = ".target sm_";
  size_t at = image.content.find(directive);
  if (at == std::string::npos)
    return true;
  at = image.content.find_first_not_of("0123456789", at + directive.size());
  char suffix = at == std::string::npos ? ' ' : image.content[at];
  constexpr unsigned kFamily = 10;
  return suffix == 'a' ? image.architecture == architecture
         : suffix == 'f'
             ? image.architecture / kFamily == architecture / kFamily
             : true;
}

launch::Expected<std::string> findPTX(const void *data, unsigned architecture,
                                      const std::string &folder) {
  const launch::Error noPTX{"the program has no PTX for sm_" +
                            std::to_string(architecture) +
                            "; compile it with -gencode arch=compute_" +
                            std::to_string(architecture) + "a,code=compute_" +
                            std::to_string(architecture) +
                            "a, and without -rdc=true, which leaves only "
                            "machine code"};
  if (load<uint32_t>(data) == kWrapper)
    data = load<Wrapper>(data).container;
  if (isMachineCode(data) && !folder.empty())
    return findTextOf(data, folder);
  if (isMachineCode(data))
    return noPTX;
  if (!isFatBinary(data))
    return std::string(static_cast<const char *>(data));
  auto images = readFatBinary(data);
  if (!images)
    return images.takeError();
  const Image *best = nullptr;
  for (const Image &image : *images)
    if (isFor(image, architecture) &&
        (!best || image.architecture > best->architecture))
      best = &image;
  if (best)
    return best->content;
  for (const Image &image : *images)
    if (!folder.empty() && isMachineCode(image.content.data()))
      return findTextOf(image.content.data(), folder);
  return noPTX;
}

} // namespace fp8::cuda
