// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads fat binaries. NVIDIA documents none of the layout; `cuobjdump
// --dump-ptx` on what nvcc 13.0 writes shows it.
#include "FatBinary.h"

#include <cstdint>
#include <cstring>
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

launch::Expected<std::string> readText(const ImageHeader &header,
                                       const char *payload) {
  if (!header.compressedBytes)
    return std::string(payload, strnlen(payload, header.paddedBytes));
  if (load<uint32_t>(payload) != kZstdFrame)
    return launch::Error{"the PTX is compressed, but not by zstd as nvcc 13 "
                         "does it; compile with --no-compress"};
  std::string text(header.plainBytes, '\0');
  size_t bytes = ZSTD_decompress(text.data(), text.size(), payload,
                                 header.compressedBytes);
  if (ZSTD_isError(bytes))
    return launch::Error{std::string("the compressed PTX is broken: ") +
                         ZSTD_getErrorName(bytes)};
  text.resize(strnlen(text.data(), bytes));
  return text;
}

bool isMachineCode(const void *data) { return std::memcmp(data, kElf, 4) == 0; }
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
    if (image.isPTX) {
      auto text = readText(header, at + header.headerBytes);
      if (!text)
        return text.takeError();
      image.text = std::move(*text);
    }
    images.push_back(std::move(image));
    at += header.headerBytes + header.paddedBytes;
  }
  return images;
}

launch::Expected<std::string> findPTX(const void *data, unsigned architecture) {
  const launch::Error noPTX{"the program has no PTX for sm_" +
                            std::to_string(architecture) +
                            "; compile it with -gencode arch=compute_" +
                            std::to_string(architecture) + "a,code=compute_" +
                            std::to_string(architecture) + "a"};
  if (load<uint32_t>(data) == kWrapper)
    data = load<Wrapper>(data).container;
  if (isMachineCode(data))
    return noPTX;
  if (!isFatBinary(data))
    return std::string(static_cast<const char *>(data));
  auto images = readFatBinary(data);
  if (!images)
    return images.takeError();
  const Image *best = nullptr;
  for (const Image &image : *images)
    if (image.isPTX && image.architecture <= architecture &&
        (!best || image.architecture > best->architecture))
      best = &image;
  if (!best)
    return noPTX;
  return best->text;
}

} // namespace fp8::cuda
