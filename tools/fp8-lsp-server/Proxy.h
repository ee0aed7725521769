// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands between an editor and MLIR's language server, and adds to its answers.

#ifndef FP8_TOOLS_LSP_PROXY_H
#define FP8_TOOLS_LSP_PROXY_H

#include "Messages.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

namespace mlir::fp8::server {

/// Forwards every message, in both directions, as it comes. The answers to some
/// requests are amended: a hover shows the documentation of the name under it,
/// completions have theirs, and the code actions have the repairs of the
/// linearity check. MLIR's server has no hooks for these.
class Proxy {
public:
  Proxy(const DialectRegistry &registry, MessageWriter toEditor,
        MessageWriter toServer)
      : registry(registry), toEditor(toEditor), toServer(toServer) {}

  /// Forwards the editor's messages until they end.
  void forwardRequests(MessageReader &editor);
  /// Forwards the server's messages until they end. May run beside the other.
  void forwardAnswers(MessageReader &server);

private:
  /// A request whose answer will be amended, and the text that it is about.
  struct Request {
    std::string method;
    llvm::json::Object parameters;
    std::string text;
  };

  /// What is done to the answers to a request.
  struct Amendment {
    StringLiteral method;
    void (Proxy::*amend)(const Request &request, llvm::json::Value &result);
  };
  static const Amendment amendments[3];
  static const Amendment *findAmendment(StringRef method);

  /// Keeps up with the documents, and remembers requests.
  void observe(const llvm::json::Object &message);
  void changeDocument(StringRef uri, const llvm::json::Object &parameters);
  void amend(llvm::json::Object &answer);
  /// Adds what the proof says, where the server has found no error.
  void amendDiagnostics(llvm::json::Object &parameters);
  void amendHover(const Request &request, llvm::json::Value &result);
  void amendCompletions(const Request &request, llvm::json::Value &result);
  void amendCodeActions(const Request &request, llvm::json::Value &result);

  const DialectRegistry &registry;
  MessageWriter toEditor, toServer;
  std::mutex mutex; ///< of what follows
  llvm::StringMap<std::string> documents;
  llvm::StringMap<Request> requests; ///< by the text of their ids
};

} // namespace mlir::fp8::server

#endif // FP8_TOOLS_LSP_PROXY_H
