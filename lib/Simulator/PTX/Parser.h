// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PTX parser: module-level directives in Parser.cpp, variables in
// VariableParser.cpp, function bodies in StatementParser.cpp.

#ifndef FP8_LIB_SIMULATOR_PTX_PARSER_H
#define FP8_LIB_SIMULATOR_PTX_PARSER_H

#include "PTX/Lexer.h"
#include "fp8/Simulator/PTXAst.h"

#include <string>
#include <unordered_map>

namespace fp8::sim {

/// Stops at the first error: what follows one in PTX is rarely worth reading.
class Parser {
public:
  Parser(std::vector<Token> tokens, std::vector<Diagnostic> &diagnostics)
      : tokens(std::move(tokens)), diagnostics(diagnostics) {}

  /// False after an error.
  bool parse(ast::Module &module);

  /// A constant of 64 bits.
  struct Constant {
    uint64_t bits = 0;
    bool isUnsigned = false;
  };

private:
  std::vector<Token> tokens;
  std::vector<Diagnostic> &diagnostics;
  size_t at = 0;
  ast::Module *module = nullptr;
  ast::Function *function = nullptr;
  uint32_t scope = 0;
  uint32_t location = 0;
  static constexpr unsigned kMaxNesting = 64;
  unsigned depth = 0;
  bool inCall = false; ///< whose operands have lists in parentheses
  /// The registers that a name stands for; one unless it is a vector.
  struct RegisterName {
    uint32_t first;
    unsigned elements = 1;
  };
  /// One table of register names a scope.
  std::vector<std::unordered_map<std::string, RegisterName>> registerScopes;
  std::vector<std::pair<std::string, uint32_t>> registerRanges;

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  const Token &take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool atEnd() const { return peek().kind == Token::Kind::End; }
  bool fail(std::string message) { return fail(peek(), std::move(message)); }
  bool fail(const Token &token, std::string message);
  bool expect(char punctuation, const char *where);
  bool expectInteger(uint64_t &value, const char *what);
  bool expectIdentifier(std::string &name, const char *what);
  bool accept(char punctuation);
  static std::string describe(const Token &token);

  // Parser.cpp
  bool parseDirective();
  bool parseVersion();
  bool parseTarget();
  bool parseFile();
  bool skipStatement();
  bool skipSection();
  bool parseVariable(std::vector<ast::Variable> &into, bool isExtern);
  bool parseAlias();
  bool resolveAliases();
  bool parseInitialiser(ast::Variable &variable);
  bool parseInitialiserValue(ast::Variable &variable, uint64_t &offset);
  bool parseInitialAddress(ast::Variable &variable, uint64_t offset,
                           uint64_t mask);
  bool parseAlign(uint64_t &align);
  bool parseFunction(bool isEntry);
  bool parseParameters(std::vector<EntryParameter> &into);
  bool parseParameter(EntryParameter &parameter);
  bool declareParameters(std::vector<EntryParameter> &parameters);
  bool parseBounds(Entry &entry);
  bool parseTriple(std::array<uint32_t, 3> &into);

  // StatementParser.cpp
  bool parseBody();
  bool parseStatement();
  bool parseBodyDirective();
  bool parseFunctionVariables();
  bool parseLocation();
  bool parseBranchTargets(const std::string &label);
  bool parsePrototype(const std::string &label);
  bool parseInstruction();
  bool parseOperand(ast::Operand &operand);
  bool parseOperandAtom(ast::Operand &operand);
  bool parseRestOfPair(ast::Operand &operand);
  bool parseAddress(ast::Operand &operand);
  bool parseOperandList(std::vector<ast::Operand> &into, char close);
  bool parseName(ast::Operand &operand);

  // ConstantParser.cpp
  /// Whether a constant expression follows, rather than a name.
  bool startsConstant() const;
  bool parseConstant(uint64_t &value, const char *what);
  bool parseConditional(Constant &value, const char *what);
  /// With operators of the precedence `least` and tighter ones.
  bool parseBinary(Constant &value, unsigned least, const char *what);
  bool parseUnary(Constant &value, const char *what);
  /// Adds the terms behind a name, if there are any.
  bool parseOffset(int64_t &offset);

  // RegisterParser.cpp
  bool parseRegisters();
  bool declareRegister(const Token &token, const std::string &name,
                       unsigned bits, unsigned elements);
  bool parseRegister(ast::Operand &operand, const RegisterName &reg);
  const RegisterName *findRegister(const std::string &name) const;
};

/// Bytes of a fundamental type's name ("b32", "f64", "pred" is 0), or -1 when
/// it is none.
int typeBytes(std::string_view name);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PTX_PARSER_H
