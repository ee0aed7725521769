// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Module-level PTX: directives and function signatures.

#include "PTX/Parser.h"

#include <algorithm>

using namespace fp8::sim;

namespace {
constexpr uint64_t kMaxParameterBytes =
    32764; // PTX ISA 5.4.3: parameters of an entry, sm_70 and later
} // namespace

int fp8::sim::typeBytes(std::string_view name) {
  static const std::unordered_map<std::string_view, int> sizes = {
      {"b8", 1},   {"u8", 1},    {"s8", 1},   {"b16", 2},   {"u16", 2},
      {"s16", 2},  {"f16", 2},   {"bf16", 2}, {"b32", 4},   {"u32", 4},
      {"s32", 4},  {"f32", 4},   {"b64", 8},  {"u64", 8},   {"s64", 8},
      {"f64", 8},  {"b128", 16}, {"pred", 0}, {"f16x2", 4}, {"bf16x2", 4},
      {"tf32", 4}, {"e4m3", 1},  {"e5m2", 1}};
  auto it = sizes.find(name);
  return it == sizes.end() ? -1 : it->second;
}

bool Parser::fail(const Token &token, std::string message) {
  if (diagnostics.empty())
    diagnostics.push_back({token.line, token.column, std::move(message)});
  return false;
}

std::string Parser::describe(const Token &token) {
  if (token.kind == Token::Kind::End)
    return "the end of the text";
  if (token.kind == Token::Kind::Directive)
    return "'." + std::string(token.text) + "'";
  return "'" + std::string(token.text) + "'";
}

bool Parser::accept(char punctuation) {
  if (!peek().is(punctuation))
    return false;
  take();
  return true;
}

bool Parser::expect(char punctuation, const char *where) {
  if (accept(punctuation))
    return true;
  return fail(std::string("expected '") + punctuation + "' " + where +
              ", found " + describe(peek()));
}

bool Parser::expectInteger(uint64_t &value, const char *what) {
  if (peek().kind != Token::Kind::Integer)
    return fail(std::string("expected ") + what + ", found " +
                describe(peek()));
  value = take().value;
  return true;
}

bool Parser::expectIdentifier(std::string &name, const char *what) {
  if (peek().kind != Token::Kind::Identifier)
    return fail(std::string("expected ") + what + ", found " +
                describe(peek()));
  name = std::string(take().text);
  return true;
}

bool Parser::parse(ast::Module &into) {
  module = &into;
  if (!diagnostics.empty())
    return false;
  if (!peek().isDirective("version"))
    return fail("expected '.version' at the start of a PTX module, found " +
                describe(peek()));
  while (!atEnd())
    if (!parseDirective())
      return false;
  if (into.target.empty())
    return fail("module has no '.target'");
  if (!resolveAliases())
    return false;
  for (const ast::Function &f : into.functions)
    if (f.isEntry && f.hasBody)
      into.entries.push_back(f.signature);
  return true;
}

bool Parser::parseDirective() {
  if (accept(';'))
    return true;
  bool isExtern = false;
  while (peek().isDirective("visible") || peek().isDirective("extern") ||
         peek().isDirective("weak") || peek().isDirective("common"))
    isExtern |= take().text == "extern";
  const Token &token = peek();
  if (token.kind != Token::Kind::Directive)
    return fail("expected a directive, found " + describe(token));
  if (token.text == "version")
    return parseVersion();
  if (token.text == "target")
    return parseTarget();
  if (token.text == "address_size") {
    take();
    uint64_t bits;
    if (!expectInteger(bits, "an address size"))
      return false;
    return bits == 64 || fail("address size must be 64");
  }
  if (token.text == "entry" || token.text == "func")
    return parseFunction(token.text == "entry");
  if (token.text == "global" || token.text == "const" ||
      token.text == "shared" || token.text == "tex")
    return parseVariable(module->variables, isExtern);
  if (token.text == "file")
    return parseFile();
  if (token.text == "section")
    return skipSection();
  if (token.text == "loc")
    return fail("'.loc' is outside a function");
  if (token.text == "alias")
    return parseAlias();
  if (token.text == "pragma")
    return skipStatement();
  return fail("unknown directive " + describe(token));
}

/// PTX ISA 11.2.3.
bool Parser::parseAlias() {
  take();
  std::string alias, function;
  if (!expectIdentifier(alias, "a function name") ||
      !expect(',', "after the alias") ||
      !expectIdentifier(function, "a function name"))
    return false;
  module->aliases[alias] = function;
  return expect(';', "at the end of '.alias'");
}

static void rename(ast::Operand &operand,
                   const std::map<std::string, std::string> &names) {
  if (operand.kind == ast::Operand::Kind::Symbol)
    if (auto found = names.find(operand.name); found != names.end())
      operand.name = found->second;
  for (ast::Operand &element : operand.elements)
    rename(element, names);
}

/// Lets what names an alias name its function.
bool Parser::resolveAliases() {
  const auto &aliases = module->aliases;
  if (aliases.empty())
    return true;
  for (const auto &[alias, name] : aliases) {
    auto found = module->findFunction(name);
    if (!found || !module->functions[*found].hasBody)
      return fail("'" + alias + "' is an alias of '" + name +
                  "', which the module does not define");
  }
  auto resolve = [&](std::string &name) {
    if (auto found = aliases.find(name); found != aliases.end())
      name = found->second;
  };
  for (ast::Function &f : module->functions) {
    for (ast::Instruction &inst : f.instructions)
      for (ast::Operand &operand : inst.operands)
        rename(operand, aliases);
    for (auto &[label, prototype] : f.prototypes)
      for (std::string &target : prototype.targets)
        resolve(target);
  }
  for (ast::Variable &variable : module->variables)
    for (ast::Variable::Relocation &relocation : variable.relocations)
      resolve(relocation.symbol);
  return true;
}

bool Parser::parseVersion() {
  take();
  const Token &token = take();
  if (token.kind != Token::Kind::Float || token.bits != 0 || token.real < 1 ||
      token.real > 99)
    return fail(token,
                "expected a PTX version such as 8.8, found " + describe(token));
  module->version = unsigned(token.real * 10 + 0.5);
  return true;
}

bool Parser::parseTarget() {
  take();
  do {
    std::string name;
    if (!expectIdentifier(name, "a target"))
      return false;
    if (module->target.empty() && name.rfind("sm_", 0) == 0)
      module->target = name;
  } while (accept(','));
  return true;
}

bool Parser::parseFile() {
  take();
  uint64_t index;
  if (!expectInteger(index, "a file number"))
    return false;
  if (peek().kind != Token::Kind::String)
    return fail("expected a file name, found " + describe(peek()));
  module->files[unsigned(index)] = std::string(take().text);
  uint64_t ignored;
  while (accept(','))
    if (!expectInteger(ignored, "a time stamp or file size"))
      return false;
  return true;
}

bool Parser::skipStatement() {
  while (!atEnd() && !peek().is(';'))
    take();
  return expect(';', "at the end of the directive");
}

bool Parser::skipSection() {
  take();
  while (!atEnd() && !peek().is('{'))
    take();
  if (!expect('{', "to open the section"))
    return false;
  for (unsigned open = 1; open;) {
    if (atEnd())
      return fail("section is not closed");
    const Token &token = take();
    open += token.is('{');
    open -= token.is('}');
  }
  return true;
}

bool Parser::parseFunction(bool isEntry) {
  ast::Function f;
  f.isEntry = isEntry;
  f.line = peek().line;
  take();
  if (!isEntry && accept('(')) {
    if (!parseParameters(f.returns))
      return false;
  }
  if (!expectIdentifier(f.signature.name, "a function name"))
    return false;
  if (accept('(') && !parseParameters(f.signature.parameters))
    return false;
  if (!parseBounds(f.signature))
    return false;
  if (accept(';')) {
    module->functions.push_back(std::move(f));
    return true;
  }
  f.hasBody = true;
  if (!expect('{', "to open the function's body"))
    return false;
  for (const ast::Function &other : module->functions)
    if (other.hasBody && other.signature.name == f.signature.name)
      return fail("function '" + f.signature.name + "' is defined twice");
  function = &f;
  registerScopes.assign(1, {});
  bool ok = declareParameters(f.returns) &&
            declareParameters(f.signature.parameters) && parseBody();
  function = nullptr;
  if (ok)
    module->functions.push_back(std::move(f));
  return ok;
}

bool Parser::parseParameters(std::vector<EntryParameter> &into) {
  if (accept(')'))
    return true;
  uint64_t total = 0;
  do {
    EntryParameter parameter;
    if (!parseParameter(parameter))
      return false;
    total += parameter.sizeBytes;
    if (total > kMaxParameterBytes)
      return fail("parameters take more than 32764 bytes");
    into.push_back(std::move(parameter));
  } while (accept(','));
  return expect(')', "after the parameters");
}

bool Parser::parseParameter(EntryParameter &parameter) {
  if (!peek().isDirective("param") && !peek().isDirective("reg"))
    return fail("expected '.param', found " + describe(peek()));
  // The parser of the body gives it an index.
  parameter.reg = take().text == "reg" ? 0 : -1;
  int bytes = -1;
  uint64_t align = 0;
  while (peek().kind == Token::Kind::Directive) {
    const Token &token = peek();
    if (token.text == "align") {
      if (!parseAlign(align))
        return false;
      continue;
    }
    static const char *const attributes[] = {"ptr", "global", "shared", "const",
                                             "local"};
    bool attribute = std::find(std::begin(attributes), std::end(attributes),
                               token.text) != std::end(attributes);
    if (!attribute) {
      bytes = typeBytes(token.text);
      if (bytes < 0)
        return fail("unknown parameter type " + describe(token));
    }
    take();
  }
  if (bytes < 0 || (bytes == 0 && parameter.reg < 0))
    return fail("parameter has no type");
  if (!expectIdentifier(parameter.name, "a parameter name"))
    return false;
  parameter.sizeBytes = uint64_t(bytes);
  parameter.alignBytes = uint64_t(bytes);
  if (accept('[')) {
    uint64_t count = 0;
    if (!peek().is(']') && !expectInteger(count, "an array size"))
      return false;
    if (!expect(']', "after the array size"))
      return false;
    if (count > kMaxParameterBytes)
      return fail("parameter '" + parameter.name + "' is too large");
    parameter.sizeBytes *= count;
  }
  if (align)
    parameter.alignBytes = std::max(parameter.alignBytes, align);
  return true;
}

/// Gives the `.reg` parameters of a `.func` registers.
bool Parser::declareParameters(std::vector<EntryParameter> &parameters) {
  for (EntryParameter &parameter : parameters) {
    if (parameter.reg < 0)
      continue;
    if (function->isEntry)
      return fail("parameter '" + parameter.name +
                  "' of an entry must be a .param");
    parameter.reg = int32_t(function->registers.size());
    if (!registerScopes.back()
             .emplace(parameter.name, RegisterName{uint32_t(parameter.reg)})
             .second)
      return fail("register '" + parameter.name + "' is declared twice");
    function->registers.push_back(
        {parameter.name,
         parameter.sizeBytes ? unsigned(parameter.sizeBytes) * 8 : 1});
  }
  return true;
}

bool Parser::parseTriple(std::array<uint32_t, 3> &into) {
  into = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value;
    if (!expectInteger(value, "a dimension"))
      return false;
    if (value > 0xffffffff)
      return fail("dimension is too large");
    into[i] = uint32_t(value);
    if (!accept(','))
      return true;
  }
  return fail("more than three dimensions");
}

bool Parser::parseBounds(Entry &entry) {
  while (peek().kind == Token::Kind::Directive) {
    std::string_view name = peek().text;
    if (name == "maxntid" || name == "reqntid" || name == "reqnctapercluster") {
      take();
      if (!parseTriple(name == "maxntid"   ? entry.maxThreads
                       : name == "reqntid" ? entry.requiredThreads
                                           : entry.requiredClusterDim))
        return false;
    } else if (name == "minnctapersm" || name == "maxnreg" ||
               name == "maxnctapersm" || name == "maxclusterrank") {
      take();
      uint64_t value;
      if (!expectInteger(value, "a number"))
        return false;
      if (name == "maxnreg")
        entry.maxRegisters = uint32_t(value);
      else if (name == "minnctapersm")
        entry.minCtasPerMultiprocessor = uint32_t(value);
    } else if (name == "explicitcluster") {
      take();
      entry.explicitCluster = true;
    } else if (name == "noreturn" || name == "blocksareclusters") {
      take();
    } else if (name == "pragma") {
      if (!skipStatement())
        return false;
    } else {
      return fail("unknown performance directive " + describe(peek()));
    }
  }
  return true;
}
