// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is claimed, and the proof of it.

#include "fp8/Proof/Certificate.h"

#include "JSONArray.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

using namespace fp8::proof;
namespace json = llvm::json;

/// What every proof takes for granted.
static constexpr llvm::StringLiteral kAssumptions[] = {
    "issued copies and products complete, and every warp is scheduled",
    "CTAs of a cluster run at the same time and take the same branches",
    "index arithmetic does not wrap or divide by 0; arguments are not negative",
    "memory from which roles read what they decide about does not change",
    "loops in which no role waits or signals end, and their steps are positive",
    "a work queue has a last answer"};

json::Object fp8::proof::makeCertificate(const Skeleton &skeleton,
                                         int64_t clusterSize,
                                         json::Object witness) {
  return json::Object{
      {"version", kCertificateVersion},
      {"kernel", skeleton.kernel},
      {"cluster", clusterSize},
      {"skeleton", toPrograms(skeleton)},
      {"witness", std::move(witness)},
      {"assumptions",
       toArray(kAssumptions, [](llvm::StringRef text) { return text; })}};
}

static std::string getDigest(llvm::StringRef text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

/// Keys are printed in order, and without spaces.
std::string fp8::proof::toText(const json::Object &certificate) {
  return llvm::formatv("{0}", json::Value(json::Object(certificate))).str();
}

std::string fp8::proof::seal(json::Object certificate,
                             std::optional<llvm::StringRef> ptx) {
  certificate.erase("digest");
  if (ptx)
    certificate["ptx"] = getDigest(*ptx);
  certificate["digest"] = getDigest(toText(certificate));
  return llvm::formatv("{0:1}\n", json::Value(std::move(certificate))).str();
}

llvm::Expected<std::string> fp8::proof::seal(llvm::StringRef text,
                                             llvm::StringRef ptx) {
  llvm::Expected<json::Value> certificate = json::parse(text);
  if (!certificate)
    return certificate.takeError();
  json::Object *object = certificate->getAsObject();
  if (!object)
    return llvm::createStringError("a certificate is a JSON object");
  return seal(std::move(*object), ptx);
}
