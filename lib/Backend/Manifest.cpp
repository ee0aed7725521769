// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest: the host function that launches the kernel, as JSON.

#include "fp8/Backend/Manifest.h"
#include "ManifestParameters.h"
#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/Profile.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fp8;
using llvm::json::Array;
using llvm::json::Object;

/// The version of files without problem options or a programmatic launch, with
/// those, with what waits that give up mean, with profiles, with constant
/// arguments, and with parameters that say what is constant: earlier versions'
/// readers know no such keys.
static constexpr int64_t manifestVersion = 1;
static constexpr int64_t manifestVersionWithOptions = 2;
static constexpr int64_t manifestVersionWithWaits = 3;
static constexpr int64_t manifestVersionWithProfile = 4;
static constexpr int64_t manifestVersionWithConstants = 5;
static constexpr int64_t manifestVersionWithConstancy = 6;
static constexpr int64_t manifestVersionWithBoxes = 7;
static constexpr StringLiteral producer = "fp8 " FP8_VERSION;
/// A cluster of more CTAs than this needs the launcher's consent
/// (CUDA driver API, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED).
static constexpr int64_t maxPortableCluster = 8;

static FailureOr<gpu::LaunchFuncOp> findLaunch(ModuleOp module,
                                               const KernelModule &kernel) {
  SmallVector<gpu::LaunchFuncOp> launches;
  gpu::GPUModuleOp gpuModule = kernel.gpuModule;
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() == gpuModule.getNameAttr() &&
        launch.getKernelName().getValue() == kernel.getName())
      launches.push_back(launch);
  });
  FunctionOpInterface function = kernel.function;
  if (launches.empty())
    return function.emitOpError(
        "has no gpu.launch_func that calls it, so no launch manifest can be "
        "written; add a host function that launches it, or pass --no-manifest");
  if (launches.size() > 1) {
    InFlightDiagnostic error = function.emitOpError(
        "is launched more than once; a launch manifest describes one launch");
    for (gpu::LaunchFuncOp launch : launches)
      error.attachNote(launch.getLoc()) << "launched here";
    return error;
  }
  return launches.front();
}

/// The host function, known to do nothing that the manifest leaves out.
static FailureOr<func::FuncOp> findHost(gpu::LaunchFuncOp launch) {
  auto host = dyn_cast<func::FuncOp>(launch->getParentOp());
  if (!host || !host.getBody().hasOneBlock())
    return launch.emitOpError("must be in the only block of a func.func to "
                              "be written to a launch manifest");
  for (Operation &op : host.getBody().front()) {
    bool isExported =
        isa<cf::AssertOp, gpu::LaunchFuncOp, gpu::WaitOp, func::ReturnOp>(op);
    if (isExported || isMemoryEffectFree(&op))
      continue;
    InFlightDiagnostic error =
        op.emitOpError("has effects that a launch manifest cannot express; "
                       "move it to a function that launches no kernel");
    error.attachNote(launch.getLoc()) << "the kernel is launched here";
    return error;
  }
  return host;
}

static FailureOr<Value> checkedArgument(func::FuncOp host, unsigned index) {
  BlockArgument argument = host.getArgument(index);
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.isStrided())
    return host.emitOpError("argument ")
           << index << " must be a strided memref to be written to a launch "
           << "manifest, but got " << argument.getType();
  int64_t offset = type.getStridesAndOffset().second;
  if (offset != 0 && !ShapedType::isDynamic(offset))
    return host.emitOpError("argument ")
           << index << " must start at its element 0, but its layout has the "
           << "offset " << offset;
  return argument;
}

static Array toJSON(ArrayRef<int64_t> sizes) {
  Array array;
  for (int64_t size : sizes)
    array.push_back(ShapedType::isDynamic(size) ? llvm::json::Value(nullptr)
                                                : llvm::json::Value(size));
  return array;
}

/// JSON has no other text, and MLIR's strings are any bytes.
static LogicalResult checkText(Operation *op, StringRef text, StringRef what) {
  if (llvm::json::isUTF8(text))
    return success();
  return op->emitOpError("has ")
         << what << " that is not UTF-8; a launch manifest must be UTF-8";
}

static FailureOr<Array> emitArguments(func::FuncOp host,
                                      const ManifestExpressions &expressions) {
  Array arguments;
  llvm::StringSet<> names;
  for (unsigned index = 0; index < host.getNumArguments(); ++index) {
    FailureOr<Value> argument = checkedArgument(host, index);
    if (failed(argument))
      return failure();
    StringRef name = expressions.getArgumentName(index);
    if (failed(checkText(host, name, "a name of an argument")))
      return failure();
    if (!names.insert(name).second)
      return host.emitOpError("names two arguments '") << name << "'";
    auto type = cast<MemRefType>(argument->getType());
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    auto access = host.getArgAttrOfType<StringAttr>(index, kAccessAttrName);
    StringRef accessName = access ? access.getValue() : "readwrite";
    if (!llvm::is_contained({"read", "write", "readwrite", "constant"},
                            accessName))
      return host.emitOpError("argument ")
             << index << " has fp8.access = \"" << accessName
             << "\", which must be \"read\", \"write\", \"readwrite\" or "
                "\"constant\"";
    arguments.push_back(
        Object{{"name", name},
               {"dtype", element},
               {"shape", toJSON(type.getShape())},
               {"strides", toJSON(type.getStridesAndOffset().first)},
               {"access", accessName}});
  }
  return arguments;
}

/// A memref without a layout is contiguous, and code made from it relies on
/// that: a stride its type does not state equals the product of the sizes
/// inside it.
static void addContiguity(func::FuncOp host,
                          const ManifestExpressions &expressions,
                          Array &constraints) {
  for (BlockArgument argument : host.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    if (!type.getLayout().isIdentity())
      continue;
    for (int64_t axis = type.getRank() - 2; axis >= 0; --axis) {
      if (!ShapedType::isDynamic(type.getStridesAndOffset().first[axis]))
        continue;
      llvm::json::Value inner = expressions.getDim(argument, axis + 1);
      llvm::json::Value product =
          axis + 2 == type.getRank()
              ? inner
              : Object{{"mul", Array{expressions.getStride(argument, axis + 1),
                                     std::move(inner)}}};
      StringRef name = expressions.getArgumentName(argument.getArgNumber());
      constraints.push_back(
          Object{{"condition",
                  Object{{"eq", Array{expressions.getStride(argument, axis),
                                      std::move(product)}}}},
                 {"rule", (name + " must be contiguous").str()}});
    }
  }
}

static FailureOr<Array> emitConstraints(func::FuncOp host,
                                        ManifestExpressions &expressions) {
  Array constraints;
  addContiguity(host, expressions, constraints);
  for (auto check : host.getBody().getOps<cf::AssertOp>()) {
    FailureOr<llvm::json::Value> condition =
        expressions.getExpression(check.getArg(), check);
    if (failed(condition) || failed(checkText(check, check.getMsg(), "a rule")))
      return failure();
    constraints.push_back(
        Object{{"condition", std::move(*condition)}, {"rule", check.getMsg()}});
  }
  return constraints;
}

static FailureOr<std::array<int64_t, 3>>
getConstants(gpu::KernelDim3 size, gpu::LaunchFuncOp launch, StringRef what,
             ManifestExpressions &expressions) {
  std::array<int64_t, 3> constants;
  std::array<Value, 3> values = {size.x, size.y, size.z};
  for (auto [constant, value] : llvm::zip_equal(constants, values)) {
    FailureOr<int64_t> number = expressions.getConstant(value, launch, what);
    if (failed(number))
      return failure();
    constant = *number;
  }
  return constants;
}

static FailureOr<Object> emitLaunch(gpu::LaunchFuncOp launch,
                                    ManifestExpressions &expressions) {
  Array grid;
  gpu::KernelDim3 gridSize = launch.getGridSizeOperandValues();
  for (Value size : {gridSize.x, gridSize.y, gridSize.z}) {
    FailureOr<llvm::json::Value> expression =
        expressions.getExpression(size, launch);
    if (failed(expression))
      return failure();
    grid.push_back(std::move(*expression));
  }
  auto block = getConstants(launch.getBlockSizeOperandValues(), launch,
                            "block size", expressions);
  if (failed(block))
    return failure();
  std::array<int64_t, 3> cluster = {1, 1, 1};
  if (launch.hasClusterSize()) {
    auto size = getConstants(launch.getClusterSizeOperandValues(), launch,
                             "cluster size", expressions);
    if (failed(size))
      return failure();
    cluster = *size;
  }
  int64_t sharedMemory = 0;
  if (Value size = launch.getDynamicSharedMemorySize()) {
    FailureOr<int64_t> bytes =
        expressions.getConstant(size, launch, "dynamic shared memory size");
    if (failed(bytes))
      return failure();
    sharedMemory = *bytes;
  }
  // Extents are anything; too many CTAs are an error of the launch.
  bool nonPortable =
      double(cluster[0]) * cluster[1] * cluster[2] > maxPortableCluster;
  Object result{{"grid", std::move(grid)},
                {"block", Array{(*block)[0], (*block)[1], (*block)[2]}},
                {"cluster", Array{cluster[0], cluster[1], cluster[2]}},
                {"shared_memory_bytes", sharedMemory},
                {"non_portable_cluster", nonPortable}};
  if (launch->hasAttr(mlir::fp8::Fp8Dialect::kProgrammaticAttrName))
    result["programmatic"] = true;
  return result;
}

/// Dictionaries, arrays, strings and integers.
static llvm::json::Value toJSON(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    Object object;
    for (NamedAttribute entry : dictionary)
      object[llvm::json::fixUTF8(entry.getName().getValue())] =
          toJSON(entry.getValue());
    return object;
  }
  if (auto elements = dyn_cast<ArrayAttr>(attribute)) {
    Array array;
    for (Attribute element : elements)
      array.push_back(toJSON(element));
    return array;
  }
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().sextOrTrunc(64).getSExtValue();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return llvm::json::fixUTF8(text.getValue());
  return nullptr;
}

FailureOr<std::string> mlir::fp8::emitManifest(ModuleOp module,
                                               const KernelModule &kernel) {
  FailureOr<gpu::LaunchFuncOp> launch = findLaunch(module, kernel);
  if (failed(launch))
    return failure();
  return emitManifest(*launch, kernel);
}

/// True if the launch decides an extent of a tensor map's box.
static bool hasExpressionInBox(const Array &parameters) {
  return llvm::any_of(parameters, [](const llvm::json::Value &parameter) {
    const Array *box = parameter.getAsObject()->getArray("box");
    return box && llvm::any_of(*box, [](const llvm::json::Value &extent) {
             return extent.getAsObject();
           });
  });
}

FailureOr<std::string> mlir::fp8::emitManifest(gpu::LaunchFuncOp launch,
                                               const KernelModule &kernel) {
  FailureOr<func::FuncOp> host = findHost(launch);
  if (failed(host) ||
      failed(checkText(kernel.gpuModule, kernel.getName(), "a kernel's name")))
    return failure();
  auto problem = (*host)->getAttrOfType<StringAttr>("fp8.problem");
  if (problem && failed(checkText(*host, problem, "a problem")))
    return failure();
  ManifestExpressions expressions(*host);
  FailureOr<Array> arguments = emitArguments(*host, expressions);
  if (failed(arguments))
    return failure();
  FailureOr<Array> constraints = emitConstraints(*host, expressions);
  if (failed(constraints))
    return failure();
  FailureOr<Object> launchObject = emitLaunch(launch, expressions);
  if (failed(launchObject))
    return failure();
  FailureOr<Array> parameters =
      emitParameters(launch, kernel.function, expressions);
  if (failed(parameters))
    return failure();

  Object manifest{{"version", manifestVersion},
                  {"producer", producer},
                  {"chip", kernel.chip->name},
                  {"kernel", kernel.getName()},
                  {"arguments", std::move(*arguments)},
                  {"constraints", std::move(*constraints)},
                  {"launch", std::move(*launchObject)},
                  {"parameters", std::move(*parameters)}};
  if (problem)
    manifest["problem"] = problem.getValue();
  if (auto options = launch->getAttrOfType<DictionaryAttr>(
          Fp8Dialect::kProblemOptionsAttrName);
      options && manifest.get("problem")) {
    manifest["version"] = manifestVersionWithOptions;
    manifest["problem_options"] = toJSON(options);
  }
  if (launch->hasAttr(Fp8Dialect::kProgrammaticAttrName))
    manifest["version"] = manifestVersionWithOptions;
  FunctionOpInterface function = kernel.function;
  if (Attribute waits = function->getAttr(Fp8Dialect::kWaitTableAttrName)) {
    manifest["version"] = manifestVersionWithWaits;
    manifest["debug_waits"] = toJSON(waits);
  }
  if (Attribute profile = function->getAttr(kProfileTableAttrName)) {
    manifest["version"] = manifestVersionWithProfile;
    manifest["profile"] = toJSON(profile);
  }
  for (unsigned index = 0; index < host->getNumArguments(); ++index)
    if (isConstant(*host, index))
      manifest["version"] = manifestVersionWithConstants;
  if (!host->getOps<IsConstantOp>().empty())
    manifest["version"] = manifestVersionWithConstancy;
  if (hasExpressionInBox(*manifest.getArray("parameters")))
    manifest["version"] = manifestVersionWithBoxes;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))) << "\n";
  return text;
}
