// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exchange family: CTAs that divide K add their sums up.

#include "BindingRegion.h"
#include "OpRules.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult ExchangeOp::verify() {
  if (failed(verifyInEntryBlock(*this, "P3")))
    return failure();
  int64_t ctas = getExchange().getType().getCtas(),
          inCluster = getClusterShape(*this).k;
  if (ctas != inCluster)
    return emitOpError() << "is among " << ctas << " CTAs, but clusters of '"
                         << Fp8Dialect::kClusterAttrName << "' have "
                         << inCluster << " along K (J1)";
  return success();
}

LogicalResult mlir::fp8::verifyExchanged(Operation *op, FragmentType fragment,
                                         ExchangeType exchange) {
  if (fragment == exchange.getFragment())
    return success();
  return op->emitOpError() << "the exchange is of " << exchange.getFragment()
                           << " (J2), but the fragment is " << fragment;
}

LogicalResult ReduceScatterOp::verify() {
  return verifyExchanged(*this, getFragment().getType(),
                         getExchange().getType());
}

LogicalResult ReduceScatterOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &types) {
  auto exchange = dyn_cast<ExchangeType>(operands[1].getType());
  if (!exchange)
    return emitOptionalError(location, "expected an exchange");
  types.assign({exchange.getShare(), exchange});
  return success();
}
