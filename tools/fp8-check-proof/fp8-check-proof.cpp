// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-check-proof: checks a certificate that a kernel ends for all launches.

#include "Checker.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace fp8::check;
namespace cl = llvm::cl;

/// --help shows these, and none of what LLVM's libraries add.
static cl::OptionCategory category("Options of fp8-check-proof");
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("CERTIFICATE"), cl::cat(category));
static cl::opt<std::string>
    ptx("ptx", cl::desc("the PTX that the certificate must be of"),
        cl::value_desc("file"), cl::cat(category));

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

static constexpr int kVersion = 2;

/// Why nothing can be said about the certificate.
struct CannotCheck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    throw CannotCheck("cannot read '" + path +
                      "': " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// The text without what the reader of JSON puts in front of its own:
/// "[json.exception.parse_error.101] ".
static std::string getReason(const std::exception &its) {
  std::string text = its.what();
  if (size_t begin = text.find("[json.exception."); begin != text.npos)
    if (size_t end = text.find("] ", begin); end != text.npos)
      text.erase(begin, end + 2 - begin);
  return text;
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

static void checkVersion(const Json &certificate) {
  require(certificate.is_object(), "it is no JSON object");
  const Json &version = certificate.at("version");
  if (version != kVersion)
    throw std::runtime_error("its version is " + version.dump() +
                             ", and this checker reads version " +
                             std::to_string(kVersion));
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "fp8-check-proof, fp8 " FP8_VERSION "\n";
    cl::PrintVersionMessage();
  });
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "checks a certificate that a kernel ends for all launches\n",
          &llvm::errs()))
    return 2;
  try {
    if (ptx.getNumOccurrences() && ptx.empty())
      throw CannotCheck("--ptx has no value; name the PTX, or drop --ptx");
    Json certificate = Json::parse(read(file), checkPart);
    checkVersion(certificate);
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
  } catch (const CannotCheck &its) {
    llvm::errs() << "fp8-check-proof: error: " << its.what() << "\n";
    return 2;
  } catch (const std::exception &its) {
    llvm::errs() << "fp8-check-proof: rejected: " << getReason(its) << "\n";
    return 1;
  }
}
