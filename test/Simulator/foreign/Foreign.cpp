// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running the PTX files of this directory.
#include "Foreign.h"

#include "ReadFile.h"

namespace fp8::sim::test {

std::string readKernel(const std::string &fileName) {
  return fp8::test::readFile(std::string(FP8_FOREIGN_DIR) + "/" + fileName);
}

namespace {
size_t find(const std::string &text, const std::string &part,
            unsigned occurrence) {
  size_t at = text.find(part);
  for (; occurrence && at != std::string::npos; --occurrence)
    at = text.find(part, at + part.size());
  EXPECT_NE(at, std::string::npos) << "no such '" << part << "' to change";
  return at;
}
} // namespace

std::string replaced(std::string text, const std::string &from,
                     const std::string &to, unsigned occurrence) {
  size_t at = find(text, from, occurrence);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string withoutLine(std::string text, const std::string &part,
                        unsigned occurrence) {
  size_t at = find(text, part, occurrence);
  if (at == std::string::npos)
    return text;
  size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
  return text.erase(begin, end - begin);
}

Launcher::Launcher(const std::string &text) {
  PTXModule::ParseResult parsed = PTXModule::parse(text);
  for (const Diagnostic &diagnostic : parsed.diagnostics)
    ADD_FAILURE() << diagnostic.str("kernel.ptx");
  if (parsed)
    module = parsed.module;
}

uint64_t Launcher::upload(const std::string &name, const void *data,
                          size_t bytes, bool readOnly) {
  BufferOptions options;
  options.readOnly = readOnly;
  std::optional<uint64_t> address = device.allocate(name, bytes, options);
  EXPECT_TRUE(address && device.write(*address, data, bytes));
  return address.value_or(0);
}

Report Launcher::run(const std::vector<KernelArgument> &arguments,
                     const LaunchConfig &config, uint64_t seed,
                     Completion completion) {
  Options options;
  options.scheduleSeed = seed;
  options.completion = completion;
  options.strict = strict;
  EXPECT_EQ(module.entries().size(), 1u);
  return launch(device, module, module.entries().front().name, arguments,
                config, options);
}

void expectError(const Report &report, ErrorKind kind,
                 const std::vector<std::string> &parts) {
  for (const SimulationError &error : report.errors) {
    bool matches = error.kind == kind;
    for (const std::string &part : parts)
      matches &= error.str().find(part) != std::string::npos;
    if (matches)
      return;
  }
  std::string wanted(errorKindName(kind));
  for (const std::string &part : parts)
    wanted += ", '" + part + "'";
  ADD_FAILURE() << "no error with " << wanted << " among:\n" << report.str();
}

TensorMap matrixMap(uint64_t address, ElementType type, uint64_t columns,
                    uint64_t rows, uint64_t strideBytes, uint32_t boxColumns,
                    uint32_t boxRows, Swizzle swizzle) {
  TensorMap map;
  map.elementType = type;
  map.rank = 2;
  map.globalAddress = address;
  map.dims = {columns, rows};
  map.strides = {strideBytes};
  map.box = {boxColumns, boxRows};
  map.swizzle = swizzle;
  return map;
}

} // namespace fp8::sim::test
