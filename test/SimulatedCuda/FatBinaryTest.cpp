// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FatBinary.h"

#include "gmock/gmock.h"

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <zstd.h>

using namespace fp8::cuda;
using testing::HasSubstr;

namespace {
/// A fat binary, as nvcc 13.0 lays it out.
class Container {
public:
  Container &addPTX(unsigned architecture, std::string text) {
    text.resize((text.size() + 8) / 8 * 8, '\0');
    return add(1, architecture, text, 0, 0);
  }
  Container &addCompressed(unsigned architecture, const std::string &text) {
    std::string frame(ZSTD_compressBound(text.size()), '\0');
    frame.resize(
        ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 3));
    size_t bytes = frame.size();
    frame.resize((bytes + 7) / 8 * 8, '\0');
    return add(1, architecture, frame, bytes, text.size());
  }
  Container &addMachineCode(unsigned architecture,
                            std::string code = "\177ELF....") {
    code.resize((code.size() + 7) / 8 * 8, 0);
    return add(2, architecture, code, 0, 0);
  }
  /// The whole; the text that a test breaks lies at its end.
  std::string &bytes() {
    uint64_t size = images.size();
    whole.assign(16, '\0');
    uint32_t magic = 0xba55ed50;
    uint16_t version = 1, header = 16;
    std::memcpy(&whole[0], &magic, 4);
    std::memcpy(&whole[4], &version, 2);
    std::memcpy(&whole[6], &header, 2);
    std::memcpy(&whole[8], &size, 8);
    return whole += images;
  }

private:
  std::string images, whole;

  Container &add(uint16_t kind, uint32_t architecture,
                 const std::string &payload, uint32_t compressed,
                 uint64_t plain) {
    std::string header(64, '\0');
    uint32_t headerBytes = 64;
    uint64_t padded = payload.size();
    std::memcpy(&header[0], &kind, 2);
    std::memcpy(&header[4], &headerBytes, 4);
    std::memcpy(&header[8], &padded, 8);
    std::memcpy(&header[16], &compressed, 4);
    std::memcpy(&header[28], &architecture, 4);
    std::memcpy(&header[56], &plain, 8);
    images += header + payload;
    return *this;
  }
};

std::string textIn(Container container, unsigned architecture) {
  auto text = findPTX(container.bytes().data(), architecture);
  return text ? *text : "error: " + text.error();
}

TEST(FatBinary, TakesTheNearestArchitectureThatIsNotAbove) {
  Container container;
  container.addMachineCode(90)
      .addPTX(80, "eighty")
      .addCompressed(90, "ninety")
      .addPTX(100, "hundred");
  EXPECT_EQ(textIn(container, 80), "eighty");
  EXPECT_EQ(textIn(container, 89), "eighty");
  EXPECT_EQ(textIn(container, 90), "ninety");
  EXPECT_EQ(textIn(container, 103), "hundred");
  EXPECT_EQ(textIn(container, 70),
            "error: the program has no PTX for sm_70; compile it with -gencode "
            "arch=compute_70a,code=compute_70a, and without -rdc=true, which "
            "leaves only machine code");
}

TEST(FatBinary, TextOfAnArchitectureOrAFamilyRunsOnNoOther) {
  const std::string one = ".target sm_90a", family = ".target sm_100f",
                    all = ".target sm_80";
  Container container;
  container.addPTX(80, all).addPTX(90, one).addPTX(100, family);
  EXPECT_EQ(textIn(container, 90), one);
  EXPECT_EQ(textIn(container, 100), family);
  EXPECT_EQ(textIn(container, 103), family);
  EXPECT_EQ(textIn(container, 110), all);
  EXPECT_EQ(textIn(Container().addPTX(90, one), 100).substr(0, 6), "error:");
}

TEST(FatBinary, ReadsLongCompressedText) {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    text += "add.u32 %r" + std::to_string(i) + ", 1;\n";
  EXPECT_EQ(textIn(Container().addCompressed(90, text), 90), text);
}

TEST(FatBinary, TakesTextAndWrappersToo) {
  auto text = findPTX(".version 8.0\n", 90);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, ".version 8.0\n");
  Container container;
  container.addPTX(90, "ninety");
  struct {
    uint32_t magic = 0x466243b1, version = 1;
    const void *data, *file = nullptr;
  } wrapper;
  wrapper.data = container.bytes().data();
  text = findPTX(&wrapper, 90);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "ninety");
}

/// Machine code with these kernels: a header, and the names of its sections.
std::string machineCode(const std::vector<std::string> &kernels) {
  std::string names(1, '\0');
  for (const std::string &kernel : kernels)
    names += ".text." + kernel + std::string(1, '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof(header) + names.size();
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) +
         names;
}

TEST(FatBinary, FindsTheTextOfMachineCode) {
  namespace fs = std::filesystem;
  fs::path folder =
      fs::temp_directory_path() / ("fat-binary-" + std::to_string(getpid()));
  fs::create_directories(folder);
  auto write = [&](const char *name, const std::string &text, int age) {
    std::ofstream(folder / name) << text;
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() -
                                           std::chrono::hours(age));
  };
  write("other.ptx", ".visible .entry gem(\n) {}", 0);
  write("old.ptx", ".visible .entry gemm(\n) { old }", 2);
  write("new.ptx", ".visible .entry gemm(\n) { new }", 1);
  write("both.ptx", ".entry gemm(\n) {}\n.entry scale() {}", 0);
  write("none.ptx", ".version 9.0\n", 0);
  write("gemm.txt", ".visible .entry gemm(\n) { no }", 0);
  auto find = [&](const std::string &code) {
    auto text = findPTX(code.data(), 90, folder);
    return text ? *text : "error: " + text.error();
  };
  EXPECT_EQ(find(machineCode({"gemm"})), ".visible .entry gemm(\n) { new }");
  EXPECT_EQ(find(machineCode({"gemm", "scale"})),
            ".entry gemm(\n) {}\n.entry scale() {}");
  Container container;
  container.addMachineCode(90, machineCode({"gemm"}));
  EXPECT_EQ(find(container.bytes()), ".visible .entry gemm(\n) { new }");
  EXPECT_EQ(find(machineCode({"softmax"})),
            "error: the program loads machine code, and no file of " +
                folder.string() + " has the PTX of its kernels");
  fs::remove_all(folder);
}

TEST(FatBinary, SaysWhatIsWrong) {
  EXPECT_THAT(textIn(Container().addMachineCode(90), 90),
              HasSubstr("has no PTX for sm_90;"));
  auto cubin = findPTX("\177ELF and more", 90);
  EXPECT_THAT(cubin.error(), HasSubstr("has no PTX for sm_90;"));
  Container container;
  std::string &bytes = container.addCompressed(90, "ninety").bytes();
  bytes[16 + 64 + 4] ^= 0x55; // in the frame's header
  EXPECT_THAT(findPTX(bytes.data(), 90).error(),
              HasSubstr("the compressed device code is broken"));
  bytes[16 + 64] = 'x'; // of its magic number
  EXPECT_THAT(findPTX(bytes.data(), 90).error(),
              HasSubstr("compile with --no-compress"));
}
} // namespace
