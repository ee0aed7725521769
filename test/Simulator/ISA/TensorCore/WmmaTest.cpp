// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma: every shape, type and layout, from memory to memory, against products
// in double of random elements.

#include "ISA/TensorCore/MmaElements.h"
#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

struct Case {
  std::string shape, d, a, b, c;
  std::string aLayout = "row", bLayout = "col", cLayout = "row", tail = "";
  bool shared = false;   ///< operands go through shared memory
  bool doubled = false;  ///< A's fragment is added to itself
  uint32_t padding = 16; ///< bytes behind each row of a matrix

  std::string name() const {
    return shape + " " + d + " " + a + " " + b + " " + c + " " + aLayout +
           bLayout + cLayout + tail + (shared ? " shared" : "");
  }
};

/// A matrix in memory, its elements row by row.
struct Matrix {
  uint32_t rows, columns;
  std::string type;
  bool columnMajor;
  uint32_t padding;
  std::vector<uint64_t> elements;

  uint32_t stride() const { // in elements
    return (columnMajor ? rows : columns) + padding * 8 / bitsOf(type);
  }
  uint32_t bytes() const {
    return stride() * (columnMajor ? columns : rows) * bitsOf(type) / 8;
  }
  uint64_t &at(uint32_t row, uint32_t column) {
    return elements[row * columns + column];
  }
  uint32_t placeOf(uint32_t row, uint32_t column) const { // in bits
    return (columnMajor ? column * stride() + row : row * stride() + column) *
           bitsOf(type);
  }
  std::vector<uint8_t> image() {
    std::vector<uint8_t> out(bytes());
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t column = 0; column < columns; ++column)
        for (uint32_t bit = 0; bit < bitsOf(type); ++bit)
          if (at(row, column) >> bit & 1) {
            uint32_t place = placeOf(row, column) + bit;
            out[place / 8] |= uint8_t(1u << place % 8);
          }
    return out;
  }
  void read(const std::vector<uint8_t> &image) {
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t column = 0; column < columns; ++column)
        std::memcpy(&at(row, column), &image[placeOf(row, column) / 8],
                    bitsOf(type) / 8);
  }
};

/// Registers of a fragment of A or B (PTX ISA 9.7.14.4.1).
uint32_t operandRegisters(const std::string &type, uint32_t elements) {
  return type == "f16"
             ? 8
             : std::max(1u, elements * std::min(32u, bitsOf(type)) / 1024);
}
uint32_t sumRegisters(const std::string &type, uint32_t elements) {
  return elements / 32 / (type == "f16" ? 2 : 1);
}

class Problem {
public:
  explicit Problem(const Case &form) : form(form), random(11) {
    EXPECT_EQ(std::sscanf(form.shape.c_str(), "m%un%uk%u", &m, &n, &k), 3);
    a = make(m, k, form.a, form.aLayout);
    b = make(k, n, form.b, form.bLayout);
    c = make(m, n, form.c, form.cLayout);
    d = make(m, n, form.d, form.cLayout);
  }
  Case form;
  uint32_t m, n, k;
  Matrix a, b, c, d;
  Report report;

  void run() {
    Device device;
    std::vector<KernelArgument> arguments;
    std::string body = ".reg .b64 %p<4>; .reg .b32 %s; .reg .b32 %t;\n"
                       ".shared .align 32 .b8 tile[8192];\n";
    const char *names = "abcd";
    Matrix *matrices[] = {&a, &b, &c, &d};
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      std::vector<uint8_t> image = matrices[i]->image();
      uint64_t address =
          *device.allocate(std::string(1, names[i]), image.size());
      if (i < 3)
        device.write(address, image.data(), image.size());
      else
        result = address;
      arguments.push_back(KernelArgument::value(address));
      body += std::string("ld.param.u64 %p") + std::to_string(i) + ", [" +
              names[i] + "];\n";
    }
    const uint32_t counts[] = {
        operandRegisters(form.a, m * k), operandRegisters(form.b, n * k),
        sumRegisters(form.c, m * n), sumRegisters(form.d, m * n)};
    std::string lists[4];
    for (int i = 0; i < 4; ++i) {
      const std::string &type = matrices[i]->type;
      body += std::string(".reg .") +
              (type == "f32"   ? "f32"
               : type == "f64" ? "f64"
               : type == "s32" ? "s32"
                               : "b32") +
              " %" + names[i] + "<" + std::to_string(counts[i]) + ">;\n";
      for (uint32_t r = 0; r < counts[i]; ++r)
        lists[i] +=
            (r ? ", %" : "%") + std::string(1, names[i]) + std::to_string(r);
    }
    for (int i = 0; i < 3; ++i)
      body += load(i, *matrices[i], lists[i]);
    if (form.doubled)
      for (uint32_t r = 0; r < counts[0]; ++r)
        body += "add.f16x2 %a" + std::to_string(r) + ", %a" +
                std::to_string(r) + ", %a" + std::to_string(r) + ";\n";
    std::string types =
        form.a == "f16" ? form.d + "." + form.c
                        : form.d + "." + form.a + "." + form.b + "." + form.c;
    std::string operation = form.a == "b1" ? form.tail.substr(1) + "." : "";
    body += "wmma.mma." + operation + "sync.aligned." + form.aLayout + "." +
            form.bLayout + "." + form.shape + "." + types +
            (form.a == "b1" ? "" : form.tail) + " {" + lists[3] + "}, {" +
            lists[0] + "}, {" + lists[1] + "}, {" + lists[2] + "};\n";
    body += "wmma.store.d.sync.aligned." + form.cLayout + "." + form.shape +
            ".global." + form.d + " [%p3], {" + lists[3] + "}, " +
            std::to_string(d.stride()) + ";\nret;";
    LaunchConfig config;
    config.block = {32, 1, 1};
    report = test::run(device,
                       kernel(".param .u64 a, .param .u64 b, .param .u64 c, "
                              ".param .u64 d",
                              body, "sm_90a"),
                       arguments, config);
    std::vector<uint8_t> image(d.bytes());
    EXPECT_TRUE(device.read(result, image.data(), image.size()));
    d.read(image);
  }

  /// The largest error, relative to the sum of magnitudes.
  double worst() {
    double most = 0;
    for (uint32_t row = 0; row < m; ++row)
      for (uint32_t column = 0; column < n; ++column) {
        double sum = decoded(form.c, c.at(row, column)),
               magnitude = std::fabs(sum);
        for (uint32_t x = 0; x < k; ++x) {
          uint64_t left = a.at(row, x), right = b.at(x, column);
          double product = form.tail == ".xor.popc"
                               ? double(left ^ right)
                               : decoded(form.a, left) * decoded(form.b, right);
          sum += product * (form.doubled ? 2 : 1);
          magnitude += std::fabs(product);
        }
        double error =
            std::fabs(decoded(form.d, d.at(row, column)) - sum) / magnitude;
        most = error <= most ? most : error;
      }
    return most;
  }

private:
  std::mt19937_64 random;

  Matrix make(uint32_t rows, uint32_t columns, const std::string &type,
              const std::string &layout) {
    Matrix matrix{rows, columns, type, layout == "col", form.padding, {}};
    for (uint32_t i = 0; i < rows * columns; ++i)
      matrix.elements.push_back(
          type == "s32"
              ? uint64_t(uint32_t(random() % 2001) - 1000) & 0xffffffff
              : randomElement(type, random));
    return matrix;
  }

  /// Without padding the stride is left out.
  std::string load(int index, const Matrix &matrix, const std::string &list) {
    const std::string name(1, "abc"[index]),
        pointer = "%p" + std::string(1, "012"[index]);
    const std::string head = "wmma.load." + name + ".sync.aligned." +
                             (matrix.columnMajor ? "col." : "row.") +
                             form.shape + ".",
                      tail = "." + matrix.type + " {" + list + "}, [",
                      stride = form.padding
                                   ? "], " + std::to_string(matrix.stride())
                                   : "]";
    if (!form.shared)
      return head + "global" + tail + pointer + stride + ";\n";
    std::string copy = "mov.u32 %t, %tid.x; bar.warp.sync -1;\n";
    for (uint32_t at = 0; at < matrix.bytes(); at += 4)
      copy += "ld.global.b32 %s, [" + pointer + "+" + std::to_string(at) +
              "]; { .reg .pred %q; setp.eq.u32 %q, %t, 0; @%q st.shared.b32 "
              "[tile+" +
              std::to_string(at) + "], %s; }\n";
    return copy + "bar.warp.sync -1;\n" + head + "shared" + tail + "tile" +
           stride + ";\n";
  }
};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto layouts = [&](Case form) {
    for (const char *a : {"row", "col"})
      for (const char *b : {"row", "col"})
        for (const char *c : {"row", "col"}) {
          form.aLayout = a, form.bLayout = b, form.cLayout = c;
          cases.push_back(form);
        }
  };
  for (const char *shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
    for (const char *d : {"f16", "f32"})
      for (const char *c : {"f16", "f32"})
        layouts({shape, d, "f16", "f16", c});
    layouts({shape, "f32", "bf16", "bf16", "f32"});
    for (const char *type : {"s8", "u8"})
      layouts({shape, "s32", type, type, "s32"});
  }
  layouts({"m16n16k8", "f32", "tf32", "tf32", "f32"});
  layouts({"m8n8k4", "f64", "f64", "f64", "f64"});
  for (const char *c : {"row", "col"}) {
    for (const char *type : {"s4", "u4"})
      cases.push_back({"m8n8k32", "s32", type, type, "s32", "row", "col", c});
    for (const char *tail : {".and.popc", ".xor.popc"})
      cases.push_back(
          {"m8n8k128", "s32", "b1", "b1", "s32", "row", "col", c, tail});
  }
  return cases;
}

void expectRight(const Case &form) {
  Problem p(form);
  p.run();
  ASSERT_TRUE(p.report.ok()) << form.name() << "\n" << p.report.str();
  double bound = form.d == "s32"   ? 0
                 : form.d == "f64" ? 1e-15
                 : form.d == "f16" ? 5e-4
                                   : 4e-7;
  EXPECT_LE(p.worst(), bound) << form.name();
}

} // namespace

TEST(Wmma, EveryShapeTypeAndLayout) {
  for (const Case &form : allCases())
    expectRight(form);
}

TEST(Wmma, FromSharedMemoryAndWithoutStride) {
  for (const char *shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
    Case form{shape, "f32", "f16", "f16", "f32"};
    form.shared = true;
    form.padding = 0;
    expectRight(form);
  }
}

TEST(Wmma, AFragmentCanBeComputedWith) {
  for (const char *shape : {"m16n16k16", "m8n32k16", "m32n8k16"}) {
    Case form{shape, "f32", "f16", "f16", "f32"};
    form.doubled = true;
    expectRight(form);
  }
}

TEST(Wmma, SumsOfTf32HaveFourProducts) {
  // 1 and -1 of the first four products of each sum are gone before 2^-26,
  // which beside them would be cut off, is added (as on an H100).
  Problem p({"m16n16k8", "f32", "tf32", "tf32", "f32"});
  auto bits = [](float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    return uint64_t(word);
  };
  const float row[] = {1, -1, 0, 0, 0x1p-26f, 0, 0, 0};
  for (uint32_t m = 0; m < 16; ++m)
    for (uint32_t k = 0; k < 8; ++k) {
      p.a.at(m, k) = bits(row[k]);
      p.b.at(k, m) = bits(1);
    }
  p.c.elements.assign(256, 0);
  p.run();
  ASSERT_TRUE(p.report.ok()) << p.report.str();
  EXPECT_EQ(decoded("f32", p.d.at(3, 5)), 0x1p-26);
}

TEST(Wmma, RowsAreAligned) {
  Case form{"m16n16k16", "f32", "f16", "f16", "f32"};
  form.padding = 8;
  Problem p(form);
  p.run();
  ASSERT_FALSE(p.report.ok());
  EXPECT_THAT(
      p.report.errors[0].message,
      HasSubstr("needs rows at multiples of 16 bytes, but the stride in "
                "bytes is 40"));
}

TEST(Wmma, AllLanesPassTheSame) {
  Report report;
  compute(
      "mad.lo.u64 %d0, 0, 0, %out; cvt.u64.u32 %d1, %t; shl.b64 %d1, %d1, 4;"
      "add.u64 %d0, %d0, %d1;"
      "wmma.load.c.sync.aligned.row.m8n8k32.global.s32 {%r0, %r1}, [%d0];",
      32, 512, "", &report);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_THAT(report.errors[0].message,
              HasSubstr("needs the same address in all lanes"));
}

TEST(Wmma, WhatWasNotWrittenIsUndefined) {
  // The second half of A's rows of 32 bytes; a product of it is stored.
  Report report;
  compute(".shared .align 32 .b8 tile[512];\n"
          "shl.b32 %r0, %t, 4; mov.b32 %r1, tile; add.u32 %r0, %r0, %r1;"
          "mov.b32 %r2, 0; setp.lt.u32 %p0, %t, 31;"
          "@%p0 st.shared.v4.b32 [%r0], {%r2, %r2, %r2, %r2}; bar.warp.sync -1;"
          "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r10, %r11, "
          "%r12, %r13}, [tile];"
          "st.global.b32 [%o], %r13;",
          32, 32, "", &report);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedMemory)
      << report.str();
}

TEST(Wmma, WhatItDoesNotKnowIsNamed) {
  auto refused = [](const std::string &text) {
    Report report;
    compute(text + ";", 32, 32, "", &report);
    EXPECT_EQ(report.errors.size(), 1u) << report.str();
    return report.errors.empty() ? "" : report.errors[0].message;
  };
  EXPECT_THAT(refused("wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r0}, [%o]"),
              HasSubstr("is not supported with shape .m16n16k8 and operands of "
                        ".f16"));
  EXPECT_THAT(refused("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%o]"),
              HasSubstr("needs .row with elements smaller than a byte"));
  EXPECT_THAT(refused("wmma.load.d.sync.aligned.row.m8n8k32.s32 {%r0}, [%o]"),
              HasSubstr("needs .a, .b or .c"));
  EXPECT_THAT(refused("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%o]"),
              HasSubstr("needs a vector of 8 registers, not 1"));
  EXPECT_THAT(refused("wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 "
                      "{%e0, %e1}, {%e2}, {%e3}, {%e4, %e5}"),
              HasSubstr(".rz"));
}
