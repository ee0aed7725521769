// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass fp8-lower-launches; Passes.td says what it does.
//
// First every kernel is emitted, which reads the functions that launch it; then
// these functions are rewritten, and the kernels erased. The structs are those
// of fp8-c/Host.h.

#include "fp8/Backend/KernelObject.h"
#include "fp8/Backend/Manifest.h"
#include "fp8/Backend/PTX.h"
#include "fp8/Backend/Passes.h"
#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/Profile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8LOWERLAUNCHES
#include "fp8/Backend/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

static constexpr StringLiteral launchFunctionName = "fp8HostLaunch";

namespace {
/// A launch, and what of its kernel the program is to hold.
struct EmittedLaunch {
  gpu::LaunchFuncOp launch;
  FunctionOpInterface kernel;
  std::string manifest;
};

/// The types of the C API, as LLVM has them.
struct HostTypes {
  explicit HostTypes(MLIRContext *context)
      : pointer(LLVM::LLVMPointerType::get(context)),
        integer(IntegerType::get(context, 64)),
        argument(LLVM::LLVMStructType::getLiteral(
            context, {pointer, integer, integer, pointer, pointer})),
        kernel(LLVM::LLVMStructType::getLiteral(
            context, {pointer, integer, pointer, pointer})) {}

  Type pointer, integer; // size_t, int64_t and uint64_t
  Type argument;         // Fp8Argument: dtype, address, rank, shape, strides
  Type kernel;           // Fp8HostKernel: image, bytes, manifest, loaded
};

/// Makes the constants of a module that calls of the runtime refer to.
class ConstantBuilder {
public:
  ConstantBuilder(ModuleOp module, const HostTypes &types)
      : symbols(module), types(types), builder(module.getContext()) {}

  /// A string of its own, with a zero behind it.
  LLVM::GlobalOp addText(Location loc, const Twine &name, StringRef text);
  /// The string that names an element type to the runtime; one for each type.
  LLVM::GlobalOp getTypeName(Location loc, Type type);
  /// The Fp8HostKernel of an image of `bytes` bytes.
  LLVM::GlobalOp addKernel(Location loc, const Twine &name,
                           LLVM::GlobalOp image, int64_t bytes,
                           LLVM::GlobalOp manifest);

private:
  LLVM::GlobalOp add(Location loc, const Twine &name, Type type,
                     bool isConstant, Attribute value);

  SymbolTable symbols;
  const HostTypes &types;
  OpBuilder builder;
  DenseMap<Type, LLVM::GlobalOp> typeNames;
};

/// Replaces the launches of functions by calls.
class LaunchLowering {
public:
  LaunchLowering(ConstantBuilder &constants, const HostTypes &types,
                 LLVM::LLVMFuncOp callee)
      : constants(constants), types(types), callee(callee) {}

  /// In the place of `launch`, calls the runtime with the arguments of its
  /// function.
  void addCall(gpu::LaunchFuncOp launch, LLVM::GlobalOp kernel);
  /// Erases what the manifest has of the function: launches, checks and what
  /// they alone need. An error if something else needs it, too.
  LogicalResult eraseExported(func::FuncOp host);

private:
  Value addArguments(OpBuilder &builder, func::FuncOp host, Value count);
  Value addArgument(OpBuilder &builder, BlockArgument argument);
  Value addSizes(OpBuilder &builder, Location loc, ValueRange sizes);
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, types.integer, value);
  }

  ConstantBuilder &constants;
  const HostTypes &types;
  LLVM::LLVMFuncOp callee;
};

struct LowerLaunchesPass
    : public mlir::fp8::impl::Fp8LowerLaunchesBase<LowerLaunchesPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerTranslationInterfaces(registry);
  }
  void runOnOperation() override;

private:
  FailureOr<EmittedLaunch> emitLaunch(gpu::LaunchFuncOp launch);
  LogicalResult lower(ArrayRef<EmittedLaunch> launches);
  void eraseKernels();

  /// Of each kernel that is launched, PTX or a cubin.
  llvm::MapVector<Operation *, std::string> images;
};
} // namespace

LLVM::GlobalOp ConstantBuilder::add(Location loc, const Twine &name, Type type,
                                    bool isConstant, Attribute value) {
  builder.clearInsertionPoint();
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, isConstant,
                             LLVM::Linkage::Internal, name.str(), value);
  symbols.insert(global);
  return global;
}

LLVM::GlobalOp ConstantBuilder::addText(Location loc, const Twine &name,
                                        StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  return add(loc, name, type, /*isConstant=*/true,
             builder.getStringAttr(bytes));
}

LLVM::GlobalOp ConstantBuilder::getTypeName(Location loc, Type type) {
  LLVM::GlobalOp &name = typeNames[type];
  if (!name) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    name = addText(loc, "fp8_type_" + text, text);
  }
  return name;
}

LLVM::GlobalOp ConstantBuilder::addKernel(Location loc, const Twine &name,
                                          LLVM::GlobalOp image, int64_t bytes,
                                          LLVM::GlobalOp manifest) {
  // The runtime keeps what it has loaded in the last field, null at first.
  LLVM::GlobalOp global =
      add(loc, name, types.kernel, /*isConstant=*/false, Attribute());
  builder.createBlock(&global.getInitializerRegion());
  Value value = LLVM::ZeroOp::create(builder, loc, types.kernel);
  Value fields[] = {
      LLVM::AddressOfOp::create(builder, loc, image),
      LLVM::ConstantOp::create(builder, loc, types.integer, bytes),
      LLVM::AddressOfOp::create(builder, loc, manifest)};
  for (auto [index, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(builder, loc, value, field, index);
  LLVM::ReturnOp::create(builder, loc, value);
  return global;
}

Value LaunchLowering::addSizes(OpBuilder &builder, Location loc,
                               ValueRange sizes) {
  Value array =
      LLVM::AllocaOp::create(builder, loc, types.pointer, types.integer,
                             constant(builder, loc, sizes.size()));
  for (auto [index, size] : llvm::enumerate(sizes)) {
    Value place = LLVM::GEPOp::create(
        builder, loc, types.pointer, types.integer, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value number =
        arith::IndexCastOp::create(builder, loc, types.integer, size);
    LLVM::StoreOp::create(builder, loc, number, place);
  }
  return array;
}

/// The Fp8Argument of a function's memref.
Value LaunchLowering::addArgument(OpBuilder &builder, BlockArgument argument) {
  Location loc = argument.getLoc();
  auto type = cast<MemRefType>(argument.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, argument);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, argument);
  if (type.getStridesAndOffset().second != 0) {
    Value elementBytes = arith::ConstantIndexOp::create(
        builder, loc, type.getElementTypeBitWidth() / 8);
    Value offset =
        arith::MulIOp::create(builder, loc, metadata.getOffset(), elementBytes);
    address = arith::AddIOp::create(builder, loc, address, offset);
  }
  Value fields[] = {
      LLVM::AddressOfOp::create(
          builder, loc, constants.getTypeName(loc, type.getElementType())),
      arith::IndexCastOp::create(builder, loc, types.integer, address),
      constant(builder, loc, type.getRank()),
      addSizes(builder, loc, metadata.getSizes()),
      addSizes(builder, loc, metadata.getStrides())};
  Value value = LLVM::UndefOp::create(builder, loc, types.argument);
  for (auto [index, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(builder, loc, value, field, index);
  return value;
}

Value LaunchLowering::addArguments(OpBuilder &builder, func::FuncOp host,
                                   Value count) {
  Value array = LLVM::AllocaOp::create(builder, host.getLoc(), types.pointer,
                                       types.argument, count);
  for (BlockArgument argument : host.getArguments()) {
    Value value = addArgument(builder, argument);
    Value place = LLVM::GEPOp::create(
        builder, argument.getLoc(), types.pointer, types.argument, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(argument.getArgNumber())});
    LLVM::StoreOp::create(builder, argument.getLoc(), value, place);
  }
  return array;
}

void LaunchLowering::addCall(gpu::LaunchFuncOp launch, LLVM::GlobalOp kernel) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  auto host = launch->getParentOfType<func::FuncOp>();
  // The function may be inlined into a loop: what a call takes of the stack, it
  // gives back.
  Value stack = LLVM::StackSaveOp::create(builder, loc, types.pointer);
  Value count = constant(builder, loc, host.getNumArguments());
  Value arguments = addArguments(builder, host, count);
  Value address = LLVM::AddressOfOp::create(builder, loc, kernel);
  LLVM::CallOp::create(builder, loc, callee,
                       ValueRange{address, arguments, count});
  LLVM::StackRestoreOp::create(builder, loc, stack);
}

LogicalResult LaunchLowering::eraseExported(func::FuncOp host) {
  Block &body = host.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (&op == body.getTerminator())
      continue;
    bool isExported = isa<cf::AssertOp, gpu::LaunchFuncOp, gpu::WaitOp>(op);
    bool isOurs = isExported ||
                  isa_and_present<gpu::GPUDialect, Fp8Dialect>(op.getDialect());
    if (!op.use_empty()) {
      if (!isOurs)
        continue;
      InFlightDiagnostic error = op.emitOpError(
          "is removed together with the launch of a kernel, but another op "
          "uses its result; return nothing that depends on it");
      error.attachNote((*op.user_begin())->getLoc()) << "used here";
      return error;
    }
    if (isExported || isMemoryEffectFree(&op))
      op.erase();
  }
  host->removeAttr(Fp8Dialect::kProblemAttrName);
  for (unsigned index = 0; index < host.getNumArguments(); ++index)
    for (StringRef name : {Fp8Dialect::kNameAttrName, kAccessAttrName})
      host.removeArgAttr(index, name);
  return success();
}

FailureOr<EmittedLaunch>
LowerLaunchesPass::emitLaunch(gpu::LaunchFuncOp launch) {
  auto function = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernel());
  // What else a kernel may be in, MLIR's verifier refuses.
  if (!function)
    return launch.emitOpError("launches ")
           << launch.getKernel()
           << ", which is already in a gpu.binary; run --fp8-lower-launches "
              "before --gpu-module-to-binary";
  FailureOr<KernelModule> kernel = getKernelModule(function);
  if (failed(kernel))
    return failure();
  // The manifest first: it is quick, and what it refuses needs no backend.
  FailureOr<std::string> manifest = emitManifest(launch, *kernel);
  if (failed(manifest))
    return failure();
  if (!images.contains(function)) {
    std::optional<PtxasOptions> assembler;
    if (kind == EmitKind::Cubin)
      assembler = PtxasOptions{ptxas};
    FailureOr<KernelObject> object = makeKernelObject(*kernel, assembler);
    if (failed(object))
      return failure();
    images[function] = object->cubin ? std::move(object->cubin->binary)
                                     : std::move(object->ptx);
  }
  return EmittedLaunch{launch, function, std::move(*manifest)};
}

LogicalResult LowerLaunchesPass::lower(ArrayRef<EmittedLaunch> launches) {
  HostTypes types(&getContext());
  OpBuilder builder(&getContext());
  auto callee =
      LLVM::lookupOrCreateFn(builder, getOperation(), launchFunctionName,
                             {types.pointer, types.pointer, types.integer},
                             LLVM::LLVMVoidType::get(&getContext()));
  if (failed(callee))
    return failure();
  ConstantBuilder constants(getOperation(), types);
  DenseMap<Operation *, LLVM::GlobalOp> imageGlobals;
  for (auto &[function, image] : images)
    imageGlobals[function] = constants.addText(
        function->getLoc(),
        cast<FunctionOpInterface>(function).getName() + "_image", image);

  LaunchLowering lowering(constants, types, *callee);
  llvm::SetVector<func::FuncOp> hosts;
  for (auto &[launch, kernel, manifest] : launches) {
    FunctionOpInterface function = kernel;
    gpu::LaunchFuncOp op = launch;
    LLVM::GlobalOp manifestGlobal = constants.addText(
        op.getLoc(), function.getName() + "_manifest", manifest);
    LLVM::GlobalOp kernelGlobal = constants.addKernel(
        op.getLoc(), function.getName(), imageGlobals[function],
        images[function].size(), manifestGlobal);
    lowering.addCall(op, kernelGlobal);
    hosts.insert(op->getParentOfType<func::FuncOp>());
  }
  for (func::FuncOp host : hosts)
    if (failed(lowering.eraseExported(host)))
      return failure();
  return success();
}

void LowerLaunchesPass::eraseKernels() {
  llvm::SetVector<Operation *> gpuModules;
  for (auto &[function, image] : images)
    gpuModules.insert(function->getParentOp());
  for (Operation *gpuModule : gpuModules)
    gpuModule->erase();
  ModuleOp module = getOperation();
  module->removeAttr(Fp8Dialect::kDebugWaitsAttrName);
  module->removeAttr(kProfileAttrName);
  if (module.getOps<gpu::GPUModuleOp>().empty())
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
}

void LowerLaunchesPass::runOnOperation() {
  images.clear();
  SmallVector<EmittedLaunch> launches;
  WalkResult walked = getOperation().walk([&](gpu::LaunchFuncOp launch) {
    FailureOr<EmittedLaunch> emitted = emitLaunch(launch);
    if (failed(emitted))
      return WalkResult::interrupt();
    launches.push_back(std::move(*emitted));
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return signalPassFailure();
  if (launches.empty())
    return markAllAnalysesPreserved();
  if (failed(lower(launches)))
    return signalPassFailure();
  eraseKernels();
}
