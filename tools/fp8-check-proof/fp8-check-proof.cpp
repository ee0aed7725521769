// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-check-proof: checks a certificate that a kernel ends for all launches.

#include "Checker.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
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
    "issued copies and products complete, and every warp is scheduled",
    "CTAs of a cluster run at the same time and take the same branches",
    "index arithmetic does not wrap or divide by 0; arguments are not negative",
    "memory from which roles read what they decide about does not change",
    "loops in which no role waits or signals end, and their steps are positive",
    "a work queue has a last answer"};

void fp8::check::work() {
  static int64_t left = 100'000'000;
  require(--left > 0, "it takes too much work to check");
}

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  require(bool(buffer), "a file cannot be read");
  return (*buffer)->getBuffer().str();
}

static std::string getDigest(const std::string &text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

static bool checkPart(int depth, Json::parse_event_t, Json &part) {
  bool fits = !part.is_number_unsigned() || part.get<uint64_t>() <= INT64_MAX;
  require(depth < 500 && !part.is_number_float() && fits,
          "it is nested too deeply, or a number is no integer of 64 bits");
  return true;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(
      argc, argv, "checks a certificate that a kernel ends for all launches\n");
  try {
    Json certificate = Json::parse(read(file), checkPart);
    require(certificate.at("version") == 2, "its version is not 2");
    Json content = certificate;
    content.erase("digest");
    require(certificate.at("digest") == getDigest(content.dump()),
            "it was changed after it was written: its digest differs");
    require(ptx.empty() || certificate.at("ptx") == getDigest(read(ptx)),
            "it is of another PTX than the one that is given");
    require(certificate.at("assumptions") == Json(kAssumptions),
            "its assumptions are not those of its version");
    replay(certificate);
    std::string name = certificate.at("kernel");
    llvm::outs() << "accepted: kernel '";
    llvm::outs().write_escaped(name) << "' ends for all launches, if\n";
    for (const char *assumption : kAssumptions)
      llvm::outs() << "- " << assumption << "\n";
    return 0;
  } catch (const std::exception &its) {
    llvm::errs() << "fp8-check-proof: rejected: " << its.what() << "\n";
    return 1;
  }
}
