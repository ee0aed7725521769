// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding a manifest to the arguments of one call.
#include "fp8/Launch/LaunchPlan.h"

#include "TensorMapBinding.h"
#include "fp8/Launch/HostArray.h"

#include <algorithm>
#include <limits>

namespace fp8::launch {
namespace {
// CUDA C++ Programming Guide, "Technical Specifications".
constexpr int64_t maxGrid[3] = {2147483647, 65535, 65535};

std::string sizes(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::optional<Error> checkSizes(const std::string &name, std::string_view part,
                                const std::vector<std::optional<int64_t>> &spec,
                                const std::vector<int64_t> &actual) {
  for (size_t axis = 0; axis < spec.size(); ++axis)
    if (spec[axis] && *spec[axis] != actual[axis])
      return Error{name + std::string(part) + "[" + std::to_string(axis) +
                   "] is " + std::to_string(actual[axis]) +
                   "; the kernel was compiled for " +
                   std::to_string(*spec[axis])};
  return std::nullopt;
}

std::optional<Error> checkArgument(const ArgumentSpec &spec,
                                   const ArgumentValue &actual) {
  if (actual.dtype != spec.dtype)
    return Error{"argument '" + spec.name + "' has element type " +
                 std::string(spelling(actual.dtype)) +
                 "; the kernel was compiled for " +
                 std::string(spelling(spec.dtype))};
  size_t rank = spec.shape.size();
  if (actual.shape.size() != rank || actual.strides.size() != rank)
    return Error{"argument '" + spec.name + "' has shape " +
                 sizes(actual.shape) + " and strides " + sizes(actual.strides) +
                 "; the kernel takes rank " + std::to_string(rank)};
  for (int64_t extent : actual.shape)
    if (extent < 0)
      return Error{"argument '" + spec.name + "' has the negative extent " +
                   std::to_string(extent)};
  if (auto error = checkSizes(spec.name, ".shape", spec.shape, actual.shape))
    return error;
  return checkSizes(spec.name, ".strides", spec.strides, actual.strides);
}

/// "a.shape[1] = 256, b.shape[1] = 128": the leaves of a condition that failed.
void describeLeaves(const Expression &expression,
                    const std::vector<std::string> &names,
                    const std::vector<ArgumentValue> &arguments,
                    const DeviceProperties &device, std::string &text) {
  using Kind = Expression::Kind;
  for (const Expression &operand : expression.operands())
    describeLeaves(operand, names, arguments, device, text);
  if (expression.kind() != Kind::Dim && expression.kind() != Kind::Stride &&
      expression.kind() != Kind::MultiprocessorCount)
    return;
  std::string leaf = expression.str(names) + " = " +
                     std::to_string(*expression.evaluate(arguments, device));
  if (text.find(leaf) == std::string::npos)
    text += (text.empty() ? "" : ", ") + leaf;
}

std::optional<Error>
checkConstraints(const Manifest &manifest,
                 const std::vector<ArgumentValue> &arguments,
                 const DeviceProperties &device) {
  for (size_t i = 0; i < manifest.constraints.size(); ++i) {
    const Constraint &constraint = manifest.constraints[i];
    Expected<int64_t> holds = constraint.condition.evaluate(arguments, device);
    if (holds && *holds == 1)
      continue;
    std::string place = "constraints[" + std::to_string(i) + "]: ";
    if (!holds)
      return Error{place + holds.error()};
    if (*holds != 0)
      return Error{place + "the condition must be 0 or 1, but is " +
                   std::to_string(*holds)};
    std::vector<std::string> names = manifest.argumentNames();
    std::string leaves;
    describeLeaves(constraint.condition, names, arguments, device, leaves);
    return Error{constraint.rule + " (" + constraint.condition.str(names) +
                 " does not hold" + (leaves.empty() ? "" : ": ") + leaves +
                 ")"};
  }
  return std::nullopt;
}

std::optional<Error> bindGrid(const Manifest &manifest,
                              const std::vector<ArgumentValue> &arguments,
                              const DeviceProperties &device,
                              LaunchPlan &plan) {
  bool empty = false;
  for (unsigned i = 0; i < 3; ++i) {
    auto place = [i] { return "launch.grid[" + std::to_string(i) + "]: "; };
    Expected<int64_t> extent =
        manifest.launch.grid[i].evaluate(arguments, device);
    if (!extent)
      return Error{place() + extent.error()};
    if (*extent < 0 || *extent > maxGrid[i])
      return Error{place() + std::to_string(*extent) +
                   " blocks are out of range; the range is 0 to " +
                   std::to_string(maxGrid[i])};
    plan.grid[i] = *extent;
    empty |= *extent == 0;
  }
  for (unsigned i = 0; i < 3 && !empty; ++i)
    if (plan.grid[i] % plan.cluster[i])
      return Error{"launch.grid[" + std::to_string(i) +
                   "]: " + std::to_string(plan.grid[i]) +
                   " blocks are not a multiple of the cluster's " +
                   std::to_string(plan.cluster[i])};
  return std::nullopt;
}

Expected<BoundParameter> bindScalar(const ScalarSpec &spec,
                                    const std::vector<ArgumentValue> &arguments,
                                    const DeviceProperties &device) {
  Expected<int64_t> value = spec.value.evaluate(arguments, device);
  if (!value)
    return value.takeError();
  unsigned bits = 8 * byteSize(spec.type);
  if (bits < 64) {
    int64_t low = -(int64_t(1) << (bits - 1)), high = (int64_t(1) << bits) - 1;
    if (*value < low || *value > high)
      return Error{std::to_string(*value) + " does not fit in " +
                   std::string(spelling(spec.type))};
  }
  return BoundParameter(BoundScalar{spec.type, *value});
}

/// True if the caller promises that the arguments are constant.
bool isPromised(const ConstancySpec &spec, const Manifest &manifest) {
  return std::all_of(
      spec.arguments.begin(), spec.arguments.end(), [&](unsigned argument) {
        return manifest.arguments[argument].access == Access::Constant;
      });
}

/// The same arrays, described as contiguous ones where no element tells: in
/// axes of at most one element, and in all axes of arrays without elements.
/// Callers' libraries put any stride there (NumPy: "internal memory layout").
std::vector<ArgumentValue>
withFreeStrides(std::vector<ArgumentValue> arguments) {
  for (ArgumentValue &argument : arguments) {
    size_t rank = std::min(argument.shape.size(), argument.strides.size());
    const auto end = argument.shape.begin() + rank;
    bool isEmpty = std::find(argument.shape.begin(), end, 0) != end;
    uint64_t inner = 1; // of a contiguous array, in elements
    for (size_t axis = rank; axis-- > 0;) {
      int64_t &stride = argument.strides[axis];
      if (isEmpty || argument.shape[axis] == 1)
        stride = int64_t(inner);
      inner = uint64_t(stride) * uint64_t(argument.shape[axis]);
    }
  }
  return arguments;
}

BoundBytes getBytes(const ArgumentSpec &spec, const ArgumentValue &argument) {
  Expected<uint64_t> bytes = arrayBytes(spec.name, argument);
  return bytes ? BoundBytes{argument.address, *bytes} : BoundBytes{};
}

Expected<BoundParameter>
bindParameter(const ParameterSpec &spec, const Manifest &manifest,
              const std::vector<ArgumentValue> &arguments,
              const DeviceProperties &device) {
  if (const auto *pointer = std::get_if<PointerSpec>(&spec))
    return BoundParameter(BoundPointer{arguments[pointer->argument].address});
  if (const auto *scalar = std::get_if<ScalarSpec>(&spec))
    return bindScalar(*scalar, arguments, device);
  if (const auto *constancy = std::get_if<ConstancySpec>(&spec))
    return BoundParameter(
        BoundScalar{ElementType::I32, isPromised(*constancy, manifest)});
  const auto &map = std::get<TensorMapSpec>(spec);
  Expected<tensor::TensorMap> bound = bindTensorMap(map, arguments, device);
  if (!bound)
    return Error{"tensor map of '" + manifest.arguments[map.argument].name +
                 "': " + bound.error()};
  return BoundParameter(std::move(*bound));
}
} // namespace

static std::optional<Error>
checkAsGiven(const Manifest &manifest,
             const std::vector<ArgumentValue> &arguments) {
  if (arguments.size() != manifest.arguments.size())
    return Error{"the kernel takes " +
                 std::to_string(manifest.arguments.size()) +
                 " arguments, got " + std::to_string(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (auto error = checkArgument(manifest.arguments[i], arguments[i]))
      return error;
  return std::nullopt;
}

std::optional<Error>
checkArguments(const Manifest &manifest,
               const std::vector<ArgumentValue> &arguments) {
  auto error = checkAsGiven(manifest, arguments);
  return error && checkAsGiven(manifest, withFreeStrides(arguments))
             ? error
             : std::nullopt;
}

static Expected<LaunchPlan>
bindAsGiven(const Manifest &manifest,
            const std::vector<ArgumentValue> &arguments,
            const DeviceProperties &device) {
  if (auto error = checkAsGiven(manifest, arguments))
    return *error;
  if (auto error = checkConstraints(manifest, arguments, device))
    return *error;
  LaunchPlan plan;
  plan.block = manifest.launch.block;
  plan.cluster = manifest.launch.cluster;
  plan.sharedMemoryBytes = manifest.launch.sharedMemoryBytes;
  plan.nonPortableCluster = manifest.launch.nonPortableCluster;
  plan.programmatic = manifest.launch.programmatic;
  if (auto error = bindGrid(manifest, arguments, device, plan))
    return *error;
  if (plan.nothingToLaunch())
    return plan;
  if (plan.sharedMemoryBytes > device.maxSharedMemoryPerBlock)
    return Error{"launch.shared_memory_bytes: " +
                 std::to_string(plan.sharedMemoryBytes) +
                 " bytes are above the device's limit of " +
                 std::to_string(device.maxSharedMemoryPerBlock) + " per block"};
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    Expected<BoundParameter> parameter =
        bindParameter(manifest.parameters[i], manifest, arguments, device);
    if (!parameter)
      return Error{"parameters[" + std::to_string(i) +
                   "]: " + parameter.error()};
    plan.parameters.push_back(std::move(*parameter));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentSpec &spec = manifest.arguments[i];
    if (auto error = checkAddress(spec.name, arguments[i]))
      return *error;
    plan.arguments.push_back(getBytes(spec, arguments[i]));
  }
  return plan;
}

Expected<LaunchPlan> bindLaunch(const Manifest &manifest,
                                const std::vector<ArgumentValue> &arguments,
                                const DeviceProperties &device) {
  Expected<LaunchPlan> plan = bindAsGiven(manifest, arguments, device);
  if (plan)
    return plan;
  Expected<LaunchPlan> other =
      bindAsGiven(manifest, withFreeStrides(arguments), device);
  return other ? std::move(other) : std::move(plan);
}

Expected<LaunchPlan> bindAnywhere(const Manifest &manifest,
                                  std::vector<ArgumentValue> arguments,
                                  const DeviceProperties &device) {
  constexpr uint64_t kAligned = uint64_t(1) << 32;
  for (ArgumentValue &argument : arguments)
    argument.address = kAligned;
  return bindLaunch(manifest, arguments, device);
}

std::optional<Error> checkLaunch(const Manifest &manifest,
                                 const std::vector<ArgumentValue> &arguments,
                                 const DeviceProperties &device) {
  auto plan = bindAnywhere(manifest, arguments, device);
  return plan ? std::nullopt : std::optional(plan.takeError());
}

} // namespace fp8::launch
