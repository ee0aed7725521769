// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer expressions of a skeleton, as the kernel's text has them.

#ifndef FP8_PROOF_EXPRESSION_H
#define FP8_PROOF_EXPRESSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace fp8::proof {

/// The number of an expression in its table.
using ExprId = uint32_t;

enum class ExprKind : uint8_t {
  Constant,  ///< `value`
  Parameter, ///< the `value`-th parameter
  Variable,  ///< the `value`-th variable of the process
  Add,
  Multiply,
  FloorDivide,
  Remainder, ///< that of the floor division
  Minimum,
  Maximum,
  // Conditions, 0 or 1.
  Equal,
  Less,
  And,
  Or,
  Not,
  /// The first operand's choice among the two others.
  Select,
  /// What the proof knows nothing about, but that equal operands give an equal
  /// result. `value` is the number of its name.
  Opaque,
  /// The first operand where the second one, a parameter, is `value`.
  Where,
};

struct Expr {
  ExprKind kind;
  int64_t value = 0;
  llvm::SmallVector<ExprId, 3> operands;

  bool operator<(const Expr &other) const {
    return std::tie(kind, value, operands) <
           std::tie(other.kind, other.value, other.operands);
  }
};

/// Who may see different values of what the kernel does not compute.
enum class Scope : uint8_t {
  Launch, ///< nobody
  Cta,    ///< the CTAs of a cluster
  Thread, ///< the threads of a warp
};

/// A launch argument, or what a CTA or a thread reads about itself.
struct Parameter {
  std::string name;
  Scope scope = Scope::Launch;
  int64_t least = 0;
  /// Its largest value, if that is known.
  std::optional<int64_t> most = std::nullopt;
  /// The number of a parameter that is always larger, or larger than `weight`
  /// times this one.
  std::optional<int64_t> below = std::nullopt;
  /// It is a multiple of this.
  int64_t step = 1;
  int64_t weight = 1;
};

/// The expressions of a kernel; equal ones have one number.
class ExprTable {
public:
  ExprId get(ExprKind kind, llvm::ArrayRef<ExprId> operands, int64_t value = 0);
  ExprId getConstant(int64_t value) {
    return get(ExprKind::Constant, {}, value);
  }
  /// The parameter of that name, which is made on the first call.
  ExprId getParameter(const Parameter &parameter);
  ExprId getVariable(unsigned number) {
    return get(ExprKind::Variable, {}, number);
  }
  /// A value that differs by `scope` even if all operands are equal. `isData`:
  /// it may be any number, rather than what a function makes of the operands.
  ExprId getOpaque(llvm::StringRef name, llvm::ArrayRef<ExprId> operands,
                   Scope scope, bool isData = true);

  const Expr &operator[](ExprId id) const { return expressions[id]; }
  llvm::ArrayRef<Parameter> getParameters() const { return parameters; }
  struct Name {
    std::string text;
    Scope scope;
    bool isData;
  };
  const Name &getName(int64_t number) const { return names[number]; }
  llvm::ArrayRef<Name> getNames() const { return names; }
  llvm::ArrayRef<Expr> get() const { return expressions; }

private:
  std::optional<ExprId> fold(ExprKind kind, ExprId left, ExprId right);
  std::optional<ExprId> foldDivision(ExprKind kind, ExprId dividend,
                                     ExprId divisor) const;
  /// The least and the largest value, if the parts of the expression show them.
  std::optional<std::pair<int64_t, int64_t>> getBounds(ExprId id) const;

  std::vector<Expr> expressions;
  std::map<Expr, ExprId> ids;
  std::vector<Parameter> parameters;
  std::vector<Name> names;
};

} // namespace fp8::proof

#endif // FP8_PROOF_EXPRESSION_H
