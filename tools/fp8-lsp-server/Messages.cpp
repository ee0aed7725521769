// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole messages of the language server protocol.

#include "Messages.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"

#include <unistd.h>

using namespace mlir::fp8::server;

std::optional<llvm::json::Value> MessageReader::read() {
  std::string text;
  while (!std::feof(in) && !std::ferror(in)) {
    if (failed(input.readMessage(text)))
      continue;
    if (llvm::Expected<llvm::json::Value> message = llvm::json::parse(text))
      return std::move(*message);
    else
      llvm::consumeError(message.takeError());
  }
  return std::nullopt;
}

bool MessageWriter::write(const llvm::json::Value &message) {
  std::string body = llvm::formatv(pretty ? "{0:2}\n" : "{0}", message).str();
  std::string text =
      llvm::formatv("Content-Length: {0}\r\n\r\n{1}", body.size(), body).str();
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    ssize_t count = llvm::sys::RetryAfterSignal(-1, ::write, descriptor,
                                                rest.data(), rest.size());
    if (count < 0)
      return false;
    rest = rest.drop_front(count);
  }
  return true;
}
