// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in files, and their elements.
#include "ArrayFile.h"

#include "fp8/Reference/Elements.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fp8::simulated {
namespace {
using launch::Error, launch::Expected;
using tensor::ElementType;

template <typename T>
Number as(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return Number(value);
}

Number signedAt(const uint8_t *at, unsigned bytes) {
  return bytes == 1   ? as<int8_t>(at)
         : bytes == 2 ? as<int16_t>(at)
         : bytes == 4 ? as<int32_t>(at)
                      : as<int64_t>(at);
}

Number unsignedAt(const uint8_t *at, unsigned bytes) {
  return bytes == 1   ? as<uint8_t>(at)
         : bytes == 2 ? as<uint16_t>(at)
         : bytes == 4 ? as<uint32_t>(at)
                      : as<uint64_t>(at);
}

std::optional<ElementType> floatOf(unsigned bytes) {
  if (bytes == 2)
    return ElementType::F16;
  if (bytes == 4)
    return ElementType::F32;
  return bytes == 8 ? std::optional(ElementType::F64) : std::nullopt;
}

/// What stands behind `key` in the header of NumPy's format, a literal of
/// Python, up to the comma or bracket that ends it.
std::string entryOf(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "':");
  if (at == std::string::npos)
    return {};
  at += key.size() + 3;
  size_t end =
      header.find_first_of(header.find('(', at) == at + 1 ? ")" : ",}", at);
  std::string text = header.substr(at, end - at);
  size_t first = text.find_first_not_of(" '(");
  size_t last = text.find_last_not_of(" '");
  return first == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

/// The header of a file of NumPy (numpy.lib.format, versions 1 to 3). Returns
/// what is wrong with it, or nothing.
std::optional<std::string> readHeader(const std::string &header,
                                      ArrayFile &array) {
  std::string type = entryOf(header, "descr");
  if (type.size() < 3 || (type[0] != '<' && type[0] != '|'))
    return "elements of type '" + type + "'; they must be little-endian";
  array.elementBytes = unsigned(std::strtoul(type.c_str() + 2, nullptr, 10));
  static const std::pair<char, NumberKind> kinds[] = {
      {'i', NumberKind::Signed},
      {'u', NumberKind::Unsigned},
      {'b', NumberKind::Unsigned},
      {'f', NumberKind::Float},
      {'V', NumberKind::Unknown}};
  const unsigned bytes = array.elementBytes;
  bool known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  for (auto [letter, kind] : kinds)
    if (known && letter == type[1] &&
        (kind != NumberKind::Float || floatOf(bytes))) {
      array.kind = kind;
      return std::nullopt;
    }
  return "elements of type '" + type +
         "', which are no numbers of 1 to 8 bytes";
}

/// The extents of a header.
std::vector<uint64_t> shapeOf(const std::string &header) {
  std::vector<uint64_t> shape;
  std::string text = entryOf(header, "shape");
  for (const char *at = text.c_str(); *at;) {
    char *end;
    uint64_t extent = std::strtoull(at, &end, 10);
    if (end == at)
      break;
    shape.push_back(extent);
    at = end + std::strspn(end, ", ");
  }
  return shape;
}

/// Elements whose first index runs fastest, put so that the last one does.
std::vector<uint8_t> fromFortran(const std::vector<uint8_t> &bytes,
                                 const std::vector<uint64_t> &shape,
                                 unsigned elementBytes) {
  std::vector<uint8_t> ordered(bytes.size());
  std::vector<uint64_t> index(shape.size());
  for (uint64_t to = 0; to + elementBytes <= bytes.size(); to += elementBytes) {
    uint64_t from = 0;
    for (size_t i = shape.size(); i-- > 0;)
      from = from * shape[i] + index[i];
    if ((from + 1) * elementBytes <= bytes.size())
      std::memcpy(&ordered[to], &bytes[from * elementBytes], elementBytes);
    for (size_t i = shape.size(); i-- > 0 && ++index[i] == shape[i];)
      index[i] = 0;
  }
  return ordered;
}

Expected<std::vector<uint8_t>> readBytes(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr uint64_t limit = uint64_t(16) << 30;
  auto fail = [&](const std::string &why) {
    return Error{"cannot read '" + path + "': " + why};
  };
  std::error_code code;
  if (fs::is_directory(path, code))
    return fail("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(std::strerror(errno));
  uint64_t size = fs::file_size(path, code);
  if (code)
    return fail("it is no ordinary file");
  if (size > limit)
    return fail("it is larger than " + std::to_string(limit) + " bytes");
  std::vector<uint8_t> bytes(size);
  file.read(reinterpret_cast<char *>(bytes.data()), std::streamsize(size));
  if (!file && size)
    return fail("reading failed");
  return bytes;
}
} // namespace

Number ArrayFile::at(uint64_t index, ElementType type) const {
  const uint8_t *place = bytes.data() + index * elementBytes;
  switch (kind) {
  case NumberKind::Signed:
    return signedAt(place, elementBytes);
  case NumberKind::Unsigned:
    return unsignedAt(place, elementBytes);
  case NumberKind::Float:
    return numberAt(*floatOf(elementBytes), place, 0);
  case NumberKind::Unknown:
    break;
  }
  return numberAt(type, bytes.data(), index);
}

uint64_t ArrayFile::elements(ElementType type) const {
  return bytes.size() / (elementBytes ? elementBytes : byteSize(type));
}

std::optional<ElementType> ArrayFile::dtype() const {
  if (kind == NumberKind::Float)
    return floatOf(elementBytes);
  if (kind == NumberKind::Unknown)
    return std::nullopt;
  return elementBytes == 1   ? ElementType::I8
         : elementBytes == 2 ? ElementType::I16
         : elementBytes == 4 ? ElementType::I32
                             : ElementType::I64;
}

Expected<ArrayFile> readArrayFile(const std::string &path) {
  auto bytes = readBytes(path);
  if (!bytes)
    return bytes.takeError();
  ArrayFile array;
  constexpr char magic[] = "\x93NUMPY";
  constexpr size_t magicBytes = sizeof(magic) - 1, versionBytes = 2;
  bool isNumpy = bytes->size() > magicBytes + versionBytes + 4 &&
                 std::memcmp(bytes->data(), magic, magicBytes) == 0;
  if (!isNumpy) {
    array.bytes = std::move(*bytes);
    return array;
  }
  size_t start = magicBytes + versionBytes;
  size_t lengthBytes = (*bytes)[magicBytes] == 1 ? 2 : 4;
  size_t length = size_t(unsignedAt(bytes->data() + start, lengthBytes));
  start += lengthBytes;
  if (length > bytes->size() - start)
    return Error{"cannot read '" + path + "': its header is cut off"};
  std::string header(bytes->begin() + long(start),
                     bytes->begin() + long(start + length));
  if (auto problem = readHeader(header, array))
    return Error{"cannot read '" + path + "': it has " + *problem};
  array.bytes.assign(bytes->begin() + long(start + length), bytes->end());
  if (entryOf(header, "fortran_order") == "True")
    array.bytes = fromFortran(array.bytes, shapeOf(header), array.elementBytes);
  return array;
}

Number numberAt(ElementType type, const uint8_t *data, uint64_t index,
                bool isUnsigned) {
  const uint8_t *place = data + index * byteSize(type);
  if (!floatFormat(type))
    return isUnsigned ? unsignedAt(place, byteSize(type))
                      : signedAt(place, byteSize(type));
  return type == ElementType::F64 ? as<double>(place)
                                  : reference::load(type, data, index);
}

void fillRandom(ElementType type, uint64_t seed, std::vector<uint8_t> &bytes) {
  // splitmix64, whose first number is already far from its seed.
  auto next = [state = seed]() mutable {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  const size_t size = byteSize(type);
  for (size_t i = 0; i + size <= bytes.size(); i += size) {
    uint64_t bits = next();
    double number = double(bits >> 11) / double(uint64_t(1) << 52) - 1;
    if (!floatFormat(type))
      std::memcpy(&bytes[i], &bits, size);
    else if (type == ElementType::F64)
      std::memcpy(&bytes[i], &number, size);
    else
      reference::store(type, bytes.data(), i / size, number);
  }
}

} // namespace fp8::simulated
