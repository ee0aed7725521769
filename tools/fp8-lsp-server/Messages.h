// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole messages of the language server protocol, on file descriptors.

#ifndef FP8_TOOLS_LSP_MESSAGES_H
#define FP8_TOOLS_LSP_MESSAGES_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Transport.h"

#include <cstdio>
#include <optional>

namespace mlir::fp8::server {

/// Reads messages until the stream ends.
class MessageReader {
public:
  MessageReader(std::FILE *in, llvm::lsp::JSONStreamStyle style)
      : in(in), input(in, style) {}

  /// The next message. Text that is no JSON is skipped. None at the end.
  std::optional<llvm::json::Value> read();

private:
  std::FILE *in;
  llvm::lsp::JSONTransportInputOverFile input;
};

/// Writes messages, each with the header that the protocol wants.
class MessageWriter {
public:
  MessageWriter(int descriptor, bool pretty)
      : descriptor(descriptor), pretty(pretty) {}

  /// Returns false if nobody reads any more.
  bool write(const llvm::json::Value &message);

private:
  int descriptor;
  bool pretty;
};

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_MESSAGES_H
