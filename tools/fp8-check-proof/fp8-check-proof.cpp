// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-check-proof: checks a certificate that a kernel ends for all launches.

#include "Checker.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace fp8::check;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("CERTIFICATE"));
static cl::opt<std::string>
    ptx("ptx", cl::desc("the PTX that the certificate must be of"),
        cl::value_desc("file"));

static const char *const kAssumptions[] = {
    "copies and MMAs that are issued complete, and every warp is scheduled in "
    "the end",
    "the CTAs of a cluster run at the same time",
    "index arithmetic does not wrap, and launch arguments are not negative",
    "memory from which roles read what they decide about does not change",
    "loops without an op that waits or signals end, and steps of loops are "
    "positive",
    "a work queue has a last answer",
    "CTAs of a cluster take the same branches"};

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  require(bool(buffer), "'" + path + "' cannot be read");
  return (*buffer)->getBuffer().str();
}

static std::string getDigest(StringRef text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

/// The parser calls itself for each bracket that is in no string.
static void checkDepth(StringRef text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    inString ^= text[i] == '"';
    if (inString)
      i += text[i] == '\\';
    else
      depth +=
          StringRef("[{").contains(text[i]) - StringRef("]}").contains(text[i]);
    require(depth < 500, "it is nested too deeply");
  }
}

/// The name of the kernel of a certificate that holds.
static std::string check() {
  std::string text = read(file);
  checkDepth(text);
  llvm::Expected<Value> parsed = llvm::json::parse(text);
  if (!parsed)
    throw Rejected{llvm::toString(parsed.takeError())};
  const Value &certificate = *parsed;
  require(getNumber(get(certificate, "version")) == 1,
          "its version is not 1, the one that is known here");
  llvm::json::Object content = *certificate.getAsObject();
  content.erase("digest");
  require(getText(get(certificate, "digest")) ==
              getDigest(llvm::formatv("{0}", Value(std::move(content))).str()),
          "it was changed after it was written: its digest differs");
  require(ptx.empty() ||
              getText(get(certificate, "ptx")) == getDigest(read(ptx)),
          "it is of another PTX than '" + ptx + "'");
  StringRef name = getText(get(certificate, "kernel"));
  require(name == getText(get(get(certificate, "skeleton"), "kernel")),
          "it is of two kernels");
  require(get(certificate, "assumptions") ==
              Value(llvm::json::Array(kAssumptions)),
          "its assumptions are not those of its version");
  replay(certificate);
  return name.str();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(
      argc, argv, "checks a certificate that a kernel ends for all launches\n");
  try {
    std::string name = check();
    llvm::outs() << "accepted: kernel '" << name
                 << "' ends for all launches, if\n";
    for (const char *assumption : kAssumptions)
      llvm::outs() << "- " << assumption << "\n";
    return 0;
  } catch (const Rejected &its) {
    llvm::errs() << "fp8-check-proof: rejected: " << its.reason << "\n";
    return 1;
  }
}
