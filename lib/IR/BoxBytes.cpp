// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about boxes whose bytes are an argument of the kernel.

#include "BoxBytes.h"

using namespace mlir;
using namespace mlir::fp8;

BlockArgument mlir::fp8::getBoxBytes(Value map) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto kernel =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!kernel || !argument.getOwner()->isEntryBlock())
    return {};
  // The entry block has a GPU function's workgroup memory as well.
  for (BlockArgument bytes :
       kernel.getArguments().take_front(kernel.getNumArguments())) {
    auto number = kernel.getArgAttrOfType<IntegerAttr>(bytes.getArgNumber(),
                                                       kBoxBytesAttrName);
    if (number && number.getInt() == argument.getArgNumber())
      return bytes;
  }
  return {};
}

LogicalResult mlir::fp8::verifyNumbers(FunctionOpInterface function,
                                       unsigned argument, StringRef name,
                                       ArrayRef<int64_t> numbers) {
  Type type = function.getArgumentTypes()[argument];
  if (!type.isInteger(32))
    return function.emitOpError() << "argument " << argument << " has '" << name
                                  << "', and so must be i32, but is " << type;
  int64_t arguments = function.getNumArguments();
  for (int64_t number : numbers)
    if (number < 0 || number >= arguments)
      return function.emitOpError() << "'" << name << "' of argument "
                                    << argument << " names argument " << number
                                    << ", but the kernel has " << arguments;
  return success();
}

LogicalResult mlir::fp8::verifyBoxBytes(FunctionOpInterface function,
                                        unsigned argument, int64_t number) {
  if (failed(verifyNumbers(function, argument, kBoxBytesAttrName, number)))
    return failure();
  Type type = function.getArgumentTypes()[number];
  // Conversions make pointers of maps.
  if (!function->hasAttr(Fp8Dialect::kLinearAttrName) ||
      function.getFunctionBody().empty())
    return success();
  if (!isa<TensorMapType>(type))
    return function.emitOpError()
           << "'" << kBoxBytesAttrName << "' of argument " << argument
           << " must name a tensor map, but argument " << number << " is "
           << type;
  bool hasBarriers = function->hasAttr(Fp8Dialect::kBarriersAttrName);
  auto counts = [&](Operation *user) {
    return isa<TmaPrefetchOp>(user) ||
           (hasBarriers ? isa<CopyTileOp, PrefetchMapOp>(user)
                        : isa<TmaLoadOp>(user));
  };
  for (Operation *user : function.getArgument(number).getUsers())
    if (!counts(user)) {
      InFlightDiagnostic error =
          user->emitOpError()
          << "uses tensor map " << number << ", whose boxes have the bytes of "
          << "argument " << argument << "; only "
          << (hasBarriers ? "fp8.copy_tile and prefetches"
                          : "fp8.tma_load and fp8.tma_prefetch")
          << " may, since no other op counts such bytes "
             "(M7); pass a second map without '"
          << kBoxBytesAttrName << "'";
      error.attachNote(function.getLoc())
          << "'" << kBoxBytesAttrName << "' is an attribute of this kernel";
      return error;
    }
  return success();
}

/// True if as many copies through the map complete at the barrier as it is told
/// of, in the op's block. What else is in the block is not verified yet.
static bool areTold(Operation *op, BlockArgument map, BlockArgument bytes,
                    Value barrier) {
  auto count = [&](BlockArgument argument, auto isUse) {
    return llvm::count_if(argument.getUsers(), [&](Operation *user) {
      return user->getBlock() == op->getBlock() && isUse(user) &&
             llvm::is_contained(user->getOperands(), barrier);
    });
  };
  return count(map, llvm::IsaPred<CopyTileOp>) ==
         count(bytes, llvm::IsaPred<MbarrierExpectOp>);
}

LogicalResult mlir::fp8::verifyToldBytes(CopyTileOp copy) {
  BlockArgument bytes = getBoxBytes(copy.getMap());
  if (!bytes || areTold(copy, cast<BlockArgument>(copy.getMap()), bytes,
                        copy.getBarrier()))
    return success();
  return copy.emitOpError()
         << "copies a box whose bytes are argument " << bytes.getArgNumber()
         << " of the kernel, and so one fp8.mbarrier_expect in its block must "
            "tell its barrier of them (B6); add one, with 'as' and that "
            "argument, or remove what is one too many";
}

LogicalResult mlir::fp8::verifyToldBytes(MbarrierExpectOp expect) {
  auto kernel = expect->getParentOfType<FunctionOpInterface>();
  if (!expect.getLaunched() || !kernel ||
      !kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
    return success();
  auto bytes = dyn_cast<BlockArgument>(expect.getLaunched());
  for (BlockArgument map :
       kernel.getArguments().take_front(kernel.getNumArguments())) {
    auto type = dyn_cast<TensorMapType>(map.getType());
    if (!type || !bytes || getBoxBytes(map) != bytes)
      continue;
    if (int64_t most = type.getTile().getSizeInBytes();
        int64_t(expect.getBytes()) != most)
      return expect.emitOpError()
             << "tells of the bytes of a box of tensor map "
             << map.getArgNumber() << ", which are " << most
             << " at most (B6), but got " << expect.getBytes();
    if (areTold(expect, map, bytes, expect.getBarrier()))
      return success();
    return expect.emitOpError()
           << "tells of the bytes of a box of tensor map " << map.getArgNumber()
           << ", and so one fp8.copy_tile in its block must copy such a box to "
              "its barrier (B6); add one, or remove this";
  }
  return expect.emitOpError()
         << "tells a number that the launch decides, which must be an argument "
            "of the kernel with '"
         << kBoxBytesAttrName << "' (B6); pass the bytes of a map as one";
}
