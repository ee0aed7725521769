// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch descriptions on the simulated device.
#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include "ArrayFile.h"
#include "Comparison.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace fp8::simulated {
namespace {
using launch::Access, launch::Error;
using MaybeError = std::optional<Error>;

launch::Expected<ArrayFile> readFile(const std::string &directory,
                                     const std::string &file) {
  return readArrayFile((std::filesystem::path(directory) / file).string());
}

const GivenArray *findArray(const std::vector<GivenArray> &arrays,
                            const std::string &name) {
  for (const GivenArray &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}
} // namespace

/// Where the buffers are; it makes values into bytes.
class DescribedLaunch::Addresses {
public:
  std::map<std::string, uint64_t> of;

  sim::KernelArgument make(const Value &value) const {
    if (const auto *place = std::get_if<BufferPlace>(&value.content))
      return sim::KernelArgument::value(at(*place));
    if (const auto *placed = std::get_if<PlacedMap>(&value.content)) {
      sim::TensorMap map = placed->map;
      map.globalAddress = at(placed->place);
      return sim::KernelArgument::tensorMap(map);
    }
    return sim::KernelArgument::structure(
        std::get<std::vector<uint8_t>>(value.content), make(value.fields));
  }

  std::vector<sim::KernelArgument::Field>
  make(const std::vector<ValueField> &fields) const {
    std::vector<sim::KernelArgument::Field> made;
    for (const ValueField &field : fields)
      made.push_back({size_t(field.offset), make(field.value)});
    return made;
  }

private:
  uint64_t at(const BufferPlace &place) const {
    return place.buffer.empty() ? 0 : of.at(place.buffer) + place.offset;
  }
};

MaybeError DescribedLaunch::loadFiles(Value &value,
                                      const std::string &directory) {
  for (ValueField &field : value.fields)
    if (auto error = loadFiles(field.value, directory))
      return error;
  if (value.file.empty())
    return std::nullopt;
  auto file = readFile(directory, value.file);
  if (!file)
    return file.takeError();
  auto &bytes = std::get<std::vector<uint8_t>>(value.content);
  if (file->bytes.size() > bytes.size())
    return Error{"the file '" + value.file + "' has " +
                 std::to_string(file->bytes.size()) +
                 " bytes, but the struct has " + std::to_string(bytes.size())};
  std::copy(file->bytes.begin(), file->bytes.end(), bytes.begin());
  return std::nullopt;
}

MaybeError DescribedLaunch::loadBuffer(BufferSpec &buffer,
                                       const std::string &directory,
                                       const GivenArray *given) {
  std::vector<uint8_t> bytes(buffer.bytes);
  auto take = [&](std::vector<uint8_t> found, const std::string &what) {
    if (buffer.bytes && found.size() != buffer.bytes)
      return MaybeError(Error{what + " has " + std::to_string(found.size()) +
                              " bytes, but buffer '" + buffer.name + "' has " +
                              std::to_string(buffer.bytes)});
    bytes = std::move(found);
    return MaybeError();
  };
  if (given) {
    const auto *from = static_cast<const uint8_t *>(given->data);
    buffer.contents = Contents::Given;
    if (given->readOnly)
      buffer.access = Access::Read;
    if (auto error = take({from, from + given->bytes}, "the array"))
      return error;
  } else if (buffer.contents == Contents::File) {
    auto file = readFile(directory, buffer.file);
    if (!file)
      return Error{"buffer '" + buffer.name + "': " + file.error()};
    if (!buffer.dtype)
      buffer.dtype = file->dtype();
    if (auto error =
            take(std::move(file->bytes), "the file '" + buffer.file + "'"))
      return error;
  } else if (buffer.contents == Contents::Random) {
    fillRandom(*buffer.dtype, buffer.seed, bytes);
  } else if (buffer.contents == Contents::Poison) {
    std::fill(bytes.begin(), bytes.end(), uint8_t(0xff));
  } else if (buffer.contents == Contents::Given) {
    return Error{"buffer '" + buffer.name +
                 "' has no contents; give it a file, a fill or an array"};
  }
  contents.push_back(std::move(bytes));
  for (ValueField &field : buffer.fields)
    if (auto error = loadFiles(field.value, directory))
      return error;
  return std::nullopt;
}

MaybeError DescribedLaunch::loadExpected(const std::string &directory) {
  for (const Expectation &expectation : description.expected) {
    size_t buffer = size_t(description.findBuffer(expectation.buffer) -
                           description.buffers.data());
    uint64_t count = contents[buffer].size() / byteSize(expectation.dtype);
    auto load = [&](const std::string &path, bool &isUnsigned,
                    auto put) -> MaybeError {
      auto file = readFile(directory, path);
      if (!file)
        return file.takeError();
      isUnsigned = file->kind == NumberKind::Unsigned;
      if (file->elements(expectation.dtype) != count)
        return Error{"the file '" + path + "' has " +
                     std::to_string(file->elements(expectation.dtype)) +
                     " elements, but buffer '" + expectation.buffer + "' has " +
                     std::to_string(count)};
      for (uint64_t i = 0; i < count; ++i)
        put(file->at(i, expectation.dtype));
      return std::nullopt;
    };
    Expected &values = expected.emplace_back();
    if (auto error = load(expectation.file, values.isUnsigned,
                          [&](Number v) { values.values.push_back(v); }))
      return error;
    if (!expectation.mask.empty())
      if (bool ignored;
          auto error = load(expectation.mask, ignored,
                            [&](Number v) { values.counts.push_back(v != 0); }))
        return error;
    const std::vector<bool> &counts = values.counts;
    if (!counts.empty() &&
        std::find(counts.begin(), counts.end(), true) == counts.end())
      return Error{"the mask '" + expectation.mask +
                   "' is 0 everywhere, so that nothing of buffer '" +
                   expectation.buffer +
                   "' counts; let an element count, or expect nothing of it"};
  }
  return std::nullopt;
}

MaybeError DescribedLaunch::load(const std::string &directory) {
  for (const GivenArray &array : arrays)
    if (!description.findBuffer(array.name))
      return Error{"an array is given for '" + array.name +
                   "', but the description has no such buffer"};
  uint64_t bytes = 0;
  for (const BufferSpec &buffer : description.buffers)
    bytes += buffer.bytes;
  if (bytes > memoryLimit)
    return Error{"the buffers take " + std::to_string(bytes) +
                 " bytes, but the limit is " + std::to_string(memoryLimit)};
  for (BufferSpec &buffer : description.buffers)
    if (auto error =
            loadBuffer(buffer, directory, findArray(arrays, buffer.name)))
      return error;
  for (Value &argument : description.arguments)
    if (auto error = loadFiles(argument, directory))
      return error;
  for (auto &[name, value] : description.variables)
    if (auto error = loadFiles(value, directory))
      return error;
  return loadExpected(directory);
}

launch::Expected<DescribedLaunch> DescribedLaunch::make(
    const Kernel &kernel, Description description, const std::string &directory,
    const std::vector<GivenArray> &arrays, uint64_t memoryLimit) {
  auto entry = kernel.findEntry(description.entry, "the description");
  if (!entry)
    return entry.takeError();
  description.entry = (*entry)->name;
  DescribedLaunch launch(kernel, std::move(description));
  launch.arrays = arrays;
  launch.memoryLimit = memoryLimit;
  if (auto error = launch.load(directory))
    return *error;
  return launch;
}

void DescribedLaunch::copyBack(const sim::Device &device,
                               const Addresses &addresses,
                               DescribedOutcome &outcome) const {
  for (size_t i = 0; i < description.buffers.size(); ++i) {
    const BufferSpec &buffer = description.buffers[i];
    if (buffer.access == Access::Read)
      continue;
    std::vector<uint8_t> bytes(contents[i].size());
    device.read(addresses.of.at(buffer.name), bytes.data(), bytes.size());
    if (const GivenArray *given = findArray(arrays, buffer.name))
      std::copy(bytes.begin(), bytes.end(),
                static_cast<uint8_t *>(given->data));
    outcome.written.emplace_back(buffer.name, std::move(bytes));
  }
}

launch::Expected<DescribedOutcome>
DescribedLaunch::run(const sim::Options &given) const {
  sim::Device device(memoryLimit);
  sim::Options options = given;
  sim::LaunchConfig config = description.config;
  Addresses addresses;
  for (size_t i = 0; i < contents.size(); ++i) {
    const BufferSpec &buffer = description.buffers[i];
    sim::BufferOptions properties;
    properties.readOnly = buffer.access == Access::Read;
    properties.uninitialised =
        buffer.access == Access::Write || buffer.contents == Contents::Poison;
    auto address = device.allocate(buffer.name, contents[i].size(), properties);
    if (!address)
      return Error{"the simulated device has no memory for '" + buffer.name +
                   "' (" + std::to_string(contents[i].size()) + " bytes)"};
    // Not by Device::write, which would make the bytes readable.
    if (!contents[i].empty())
      std::memcpy(device.data(*address), contents[i].data(),
                  contents[i].size());
    addresses.of[buffer.name] = *address;
  }
  for (const BufferSpec &buffer : description.buffers)
    for (const auto &[offset, value] : addresses.make(buffer.fields))
      device.write(addresses.of[buffer.name] + offset, value.content().data(),
                   value.content().size());
  if (description.cooperative) {
    options.residentClusters = ~0u;
    auto barrier = device.allocate("barrier of the grid", 8);
    if (!barrier)
      return Error{"the simulated device has no memory for the barrier of the "
                   "grid"};
    config.environment = {0, uint32_t(*barrier >> 32), uint32_t(*barrier)};
  }
  std::vector<sim::KernelArgument> arguments;
  for (const Value &argument : description.arguments)
    arguments.push_back(addresses.make(argument));
  sim::Variables variables;
  for (const auto &[name, value] : description.variables)
    variables[name] = addresses.make(value).content();
  DescribedOutcome outcome;
  static_cast<Outcome &>(outcome) = kernel.launch(
      device, description.entry, arguments, config, options, variables);
  if (!outcome.ok())
    return outcome;
  copyBack(device, addresses, outcome);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Expectation &expectation = description.expected[i];
    uint64_t address = addresses.of[expectation.buffer];
    outcome.comparisons.push_back(
        compare(expectation, expected[i].values, expected[i].isUnsigned,
                expected[i].counts, *device.find(address, 0)));
  }
  return outcome;
}

} // namespace fp8::simulated
