// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds documentation and repairs to what MLIR's language server answers.

#include "Proxy.h"
#include "Documentation.h"
#include "ProofDiagnostics.h"
#include "Repairs.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;
namespace json = llvm::json;

const Proxy::Amendment Proxy::amendments[] = {
    {"textDocument/hover", &Proxy::amendHover},
    {"textDocument/completion", &Proxy::amendCompletions},
    {"textDocument/codeAction", &Proxy::amendCodeActions},
};

const Proxy::Amendment *Proxy::findAmendment(StringRef method) {
  auto *found = llvm::find_if(amendments, [&](const Amendment &amendment) {
    return amendment.method == method;
  });
  return found == std::end(amendments) ? nullptr : found;
}

static StringRef getUri(const json::Object &parameters) {
  const json::Object *document = parameters.getObject("textDocument");
  return document ? document->getString("uri").value_or("") : "";
}

/// Reads a part of the parameters; its default if it is malformed, which
/// MLIR's server reports.
template <typename T>
static T read(const json::Object &parameters, StringRef key) {
  T result{};
  json::Path::Root root;
  if (const json::Value *value = parameters.get(key);
      value && !fromJSON(*value, result, root))
    return T{};
  return result;
}

void Proxy::forwardRequests(MessageReader &editor) {
  while (std::optional<json::Value> message = editor.read()) {
    if (const json::Object *object = message->getAsObject())
      observe(*object);
    if (!toServer.write(*message))
      return;
  }
}

void Proxy::forwardAnswers(MessageReader &server) {
  while (std::optional<json::Value> message = server.read()) {
    if (json::Object *object = message->getAsObject())
      amend(*object);
    if (!toEditor.write(*message))
      return;
  }
}

void Proxy::observe(const json::Object &message) {
  StringRef method = message.getString("method").value_or("");
  const json::Object *parameters = message.getObject("params");
  if (!parameters)
    return;
  StringRef uri = getUri(*parameters);
  std::lock_guard<std::mutex> lock(mutex);
  const json::Object *opened = parameters->getObject("textDocument");
  if (method == "textDocument/didOpen" && opened)
    documents[uri] = opened->getString("text").value_or("").str();
  else if (method == "textDocument/didChange")
    changeDocument(uri, *parameters);
  else if (method == "textDocument/didClose")
    documents.erase(uri);
  else if (const json::Value *id = message.get("id");
           id && findAmendment(method))
    requests[llvm::formatv("{0}", *id).str()] = {method.str(), *parameters,
                                                 documents.lookup(uri)};
}

void Proxy::changeDocument(StringRef uri, const json::Object &parameters) {
  auto changes = read<std::vector<llvm::lsp::TextDocumentContentChangeEvent>>(
      parameters, "contentChanges");
  std::string &text = documents[uri];
  if (failed(llvm::lsp::TextDocumentContentChangeEvent::applyTo(changes, text)))
    text.clear();
}

void Proxy::amend(json::Object &answer) {
  if (answer.getString("method") == "textDocument/publishDiagnostics")
    if (json::Object *parameters = answer.getObject("params"))
      amendDiagnostics(*parameters);
  const json::Value *id = answer.get("id");
  json::Value *result = answer.get("result");
  if (!id || answer.get("method"))
    return;
  std::string key = llvm::formatv("{0}", *id).str();
  Request request;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = requests.find(key);
    if (found == requests.end())
      return;
    request = std::move(found->second);
    requests.erase(found);
  }
  if (result)
    (this->*findAmendment(request.method)->amend)(request, *result);
}

void Proxy::amendDiagnostics(json::Object &parameters) {
  StringRef uri = parameters.getString("uri").value_or("");
  json::Array *diagnostics = parameters.getArray("diagnostics");
  constexpr int kError = 1;
  auto isError = [&](const json::Value &diagnostic) {
    const json::Object *object = diagnostic.getAsObject();
    return object && object->getInteger("severity") == kError;
  };
  if (!diagnostics || llvm::any_of(*diagnostics, isError))
    return;
  std::string text;
  {
    std::lock_guard<std::mutex> lock(mutex);
    text = documents.lookup(uri);
  }
  for (json::Value &found : getProofDiagnostics(registry, text, uri))
    diagnostics->push_back(std::move(found));
}

void Proxy::amendHover(const Request &request, json::Value &result) {
  auto position = read<llvm::lsp::Position>(request.parameters, "position");
  std::string text = getDocumentation(getNameAt(request.text, position));
  json::Object *hover = result.getAsObject();
  const json::Object *contents = hover ? hover->getObject("contents") : nullptr;
  StringRef answer =
      contents ? contents->getString("value").value_or("") : StringRef();
  // Of a value, MLIR's server names the op that makes it.
  constexpr StringLiteral kMaker = "Operation: \"";
  if (text.empty() && answer.starts_with(kMaker))
    text = getDocumentation(
        answer.drop_front(kMaker.size()).take_until([](char c) {
          return c == '"';
        }));
  if (text.empty())
    return;
  if (!answer.empty())
    text += "\n\n---\n\n" + answer.str();
  if (!hover) {
    result = json::Object{};
    hover = result.getAsObject();
  }
  (*hover)["contents"] =
      json::Object{{"kind", "markdown"}, {"value", std::move(text)}};
}

void Proxy::amendCompletions(const Request &request, json::Value &result) {
  // What stands in front, "!fp8.", tells what the words are names of.
  auto position = read<llvm::lsp::Position>(request.parameters, "position");
  std::string front = getNameAt(request.text, position);
  front.resize(front.find('.') + 1);
  json::Object *list = result.getAsObject();
  json::Array *items = list ? list->getArray("items") : nullptr;
  if (!items || front.empty())
    return;
  for (json::Value &item : *items) {
    json::Object *completion = item.getAsObject();
    if (!completion)
      continue;
    std::string text = getDocumentation(
        front + completion->getString("label").value_or("").str());
    if (!text.empty())
      (*completion)["documentation"] =
          json::Object{{"kind", "markdown"}, {"value", std::move(text)}};
  }
}

/// The diagnostics of the request that stand on the line.
static json::Array getDiagnostics(const json::Object &parameters, int line) {
  json::Array chosen;
  const json::Object *context = parameters.getObject("context");
  const json::Array *all = context ? context->getArray("diagnostics") : nullptr;
  if (all)
    for (const json::Value &diagnostic : *all)
      if (const json::Object *object = diagnostic.getAsObject();
          object && read<llvm::lsp::Range>(*object, "range").start.line == line)
        chosen.push_back(diagnostic);
  return chosen;
}

void Proxy::amendCodeActions(const Request &request, json::Value &result) {
  json::Array actions;
  auto range = read<llvm::lsp::Range>(request.parameters, "range");
  for (Repair &repair : findRepairs(registry, request.text, range))
    actions.push_back(json::Object{
        {"title", repair.title},
        {"kind", "quickfix"},
        {"diagnostics", getDiagnostics(request.parameters, repair.line)},
        {"isPreferred", repair.mendsAll},
        {"edit", json::Object{
                     {"changes", json::Object{{getUri(request.parameters).str(),
                                               std::move(repair.edits)}}}}}});
  if (json::Array *others = result.getAsArray())
    for (json::Value &other : *others)
      actions.push_back(std::move(other));
  result = std::move(actions);
}
