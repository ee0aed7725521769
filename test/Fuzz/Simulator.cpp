// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8-fuzz-simulator: mutated PTX, launch manifests and launch descriptions
// into what reads, binds and executes them.
#include "Mutator.h"
#include "Worker.h"

#include "fp8/SimulatedLaunch/DescribedLaunch.h"

#include <cstring>
#include <iostream>

using namespace fp8;
using namespace fp8::fuzz;

namespace {
constexpr uint64_t kBufferLimit = 1 << 20;  // bytes of one argument
constexpr uint64_t kMemoryLimit = 16 << 20; // bytes of the device

/// Extents of a call. Their names are those of `fp8-run`'s problems, so that
/// what has not been mutated binds.
class Arguments {
public:
  Arguments(const launch::Manifest &manifest, Random &random)
      : random(random), m(pick({1, 16, 64, 130})), n(pick({8, 16, 64, 136})),
        k(pick({16, 128, 272, 400})) {
    for (const launch::ArgumentSpec &spec : manifest.arguments)
      values.push_back(make(spec));
  }

  std::vector<launch::ArgumentValue> values;

  /// Bytes from the first element to the last, or 0 where that is too much.
  static uint64_t bytes(const launch::ArgumentValue &value) {
    uint64_t last = 0;
    for (size_t axis = 0; axis < value.shape.size(); ++axis) {
      uint64_t step;
      if (value.shape[axis] <= 0 || value.strides[axis] < 0 ||
          __builtin_mul_overflow(uint64_t(value.shape[axis] - 1),
                                 uint64_t(value.strides[axis]), &step) ||
          __builtin_add_overflow(last, step, &last))
        return 0;
    }
    return last < kBufferLimit ? (last + 1) * byteSize(value.dtype) : 0;
  }

private:
  int64_t pick(const std::vector<int64_t> &choices) {
    return random.of(choices);
  }

  int64_t extent(const std::string &name, bool outer) const {
    int64_t blocks = (k + 127) / 128;
    if (name == "a")
      return outer ? m : k;
    if (name == "a_scale")
      return outer ? blocks : m;
    if (name == "b")
      return outer ? n : k;
    if (name == "b_scale")
      return outer ? (n + 127) / 128 : blocks;
    if (name == "bias")
      return outer ? 1 : n;
    if (name == "d" || name == "c")
      return outer ? m : n;
    return outer ? 4 : 256;
  }

  launch::ArgumentValue make(const launch::ArgumentSpec &spec) {
    launch::ArgumentValue value;
    value.dtype = spec.dtype;
    size_t rank = spec.shape.size();
    for (size_t axis = 0; axis < rank; ++axis)
      value.shape.push_back(
          spec.shape[axis].value_or(extent(spec.name, axis + 1 < rank)));
    value.strides.resize(rank);
    int64_t stride = 1;
    for (size_t axis = rank; axis-- > 0;) {
      value.strides[axis] = spec.strides[axis].value_or(stride);
      // Rows as TMA wants them.
      if (__builtin_mul_overflow(stride, value.shape[axis], &stride) ||
          __builtin_add_overflow(stride, 15, &stride))
        stride = 16;
      stride = stride / 16 * 16;
    }
    return value;
  }

  Random &random;
  int64_t m, n, k;
};

class SimulatorTarget : public Target {
public:
  explicit SimulatorTarget(const std::string &folder)
      : kernels(folder, ".ptx"), manifests(folder, ".ptx.json"),
        descriptions(folder, ".launch.json") {
    for (size_t i = 0; i < manifests.texts().size(); ++i)
      manifestOf[manifests.texts()[i].name] = i;
    for (const Corpus::Text &kernel : kernels.texts())
      for (const Corpus::Text &description : descriptions.texts())
        if (kernel.name + ".launch.json" == description.name)
          described.emplace_back(&kernel, &description);
  }

  Input make(Random &random) override {
    if (!described.empty() && random.chance(20))
      return makeDescribed(random);
    const Corpus::Text &kernel = choose(random);
    auto own = manifestOf.find(kernel.name + ".json");
    const Corpus::Text &manifest = own == manifestOf.end() || random.chance(5)
                                       ? random.of(manifests.texts())
                                       : manifests.texts()[own->second];
    bool both = random.chance(10), ptx = both || random.chance(75);
    Input input;
    input[".ptx"] = ptx ? mutate(kernels, kernel, random, {}) : kernel.bytes;
    input[".ptx.json"] =
        !ptx || both ? mutate(manifests, manifest, random, {}) : manifest.bytes;
    return input;
  }

  std::string run(const Input &input, Random &random) override {
    auto kernel = simulated::Kernel::parse(input.at(".ptx"), "input.ptx");
    if (input.count(".launch.json"))
      return runDescribed(kernel, input.at(".launch.json"), random);
    auto manifest = launch::parseManifest(input.at(".ptx.json"));
    if (!manifest)
      return kernel ? "manifest-refused" : "both-refused";
    if (!kernel)
      return "ptx-refused";
    bool fits = !kernel->check(*manifest);
    Arguments arguments(*manifest, random);
    sim::Options options = makeOptions(random);
    if (fits && random.chance(10))
      return runOnHost(*kernel, *manifest, arguments, options);
    return run(*kernel, *manifest, arguments, options, random);
  }

private:
  Input makeDescribed(Random &random) const {
    const auto &[kernel, description] = random.of(described);
    Input input;
    input[".ptx"] = random.chance(20) ? mutate(kernels, *kernel, random, {})
                                      : kernel->bytes;
    input[".launch.json"] = mutate(descriptions, *description, random, {});
    return input;
  }

  static std::string
  runDescribed(const launch::Expected<simulated::Kernel> &kernel,
               const std::string &text, Random &random) {
    auto description = simulated::parseDescription(text);
    if (!description)
      return "description-refused";
    if (!kernel)
      return "described-ptx-refused";
    auto launch = simulated::DescribedLaunch::make(*kernel, *description, "",
                                                   {}, kMemoryLimit);
    if (!launch)
      return "described-loading-refused";
    auto outcome = launch->run(makeOptions(random));
    if (!outcome)
      return "described-launch-refused";
    return "described-" + describe(launch::Expected<simulated::Outcome>(
                              static_cast<simulated::Outcome &>(*outcome)));
  }

  /// What unit tests run is much and short: most of the time goes to whole
  /// kernels.
  const Corpus::Text &choose(Random &random) const {
    for (;;) {
      const Corpus::Text &text = random.of(kernels.texts());
      if (text.name.find("tested-") != 0 || random.chance(20))
        return text;
    }
  }

  static sim::Options makeOptions(Random &random) {
    sim::Options options;
    options.scheduleSeed = random.next();
    options.completion =
        random.chance(80) ? sim::Completion::Late : sim::Completion::AtIssue;
    options.stepLimit = random.chance(90) ? 2000 : 20000;
    options.gridLimit = 64;
    options.multiprocessorCount = 1 + random.below(4);
    options.residentClusters = random.below(4);
    options.exactAccumulation = random.chance(10);
    return options;
  }

  static std::string describe(const launch::Expected<simulated::Outcome> &run) {
    if (!run)
      return "launch-refused";
    if (run->ok())
      return "ran";
    // Rendering is part of what is fuzzed.
    std::string first(
        run->report.errors.empty()
            ? "none"
            : sim::errorKindName(run->report.errors.front().kind));
    return run->report.statistics.warpInstructions ? "stopped-" + first
                                                   : "refused-" + first;
  }

  static std::string run(const simulated::Kernel &kernel,
                         const launch::Manifest &manifest, Arguments &arguments,
                         const sim::Options &options, Random &random) {
    sim::Device device(kMemoryLimit);
    for (size_t i = 0; i < arguments.values.size(); ++i) {
      launch::ArgumentValue &value = arguments.values[i];
      sim::BufferOptions buffer;
      buffer.readOnly = manifest.arguments[i].access == launch::Access::Read;
      buffer.uninitialised =
          manifest.arguments[i].access == launch::Access::Write;
      auto address = device.allocate(manifest.arguments[i].name,
                                     Arguments::bytes(value), buffer);
      if (!address)
        return "no-memory";
      value.address = *address;
    }
    launch::DeviceProperties properties;
    properties.multiprocessorCount = options.multiprocessorCount;
    auto plan = bindLaunch(manifest, arguments.values, properties);
    if (!plan)
      return "binding-refused";
    return describe(kernel.run(device, manifest, *plan, options));
  }

  static std::string runOnHost(const simulated::Kernel &kernel,
                               const launch::Manifest &manifest,
                               Arguments &arguments,
                               const sim::Options &options) {
    std::vector<std::vector<uint8_t>> memory;
    for (launch::ArgumentValue &value : arguments.values) {
      memory.emplace_back(Arguments::bytes(value));
      value.address = reinterpret_cast<uint64_t>(memory.back().data());
      // A caller's array is as large as it says.
      if (memory.back().empty())
        return "no-memory";
    }
    return "host-" + describe(kernel.runOnHost(manifest, arguments.values,
                                               options, kMemoryLimit));
  }

  Corpus kernels, manifests, descriptions;
  /// Kernels with a description of their own.
  std::vector<std::pair<const Corpus::Text *, const Corpus::Text *>> described;
  std::map<std::string, size_t> manifestOf;
};
} // namespace

int main(int argc, char **argv) {
  std::string folder;
  for (int i = 1; i < argc; ++i)
    if (!std::strncmp(argv[i], "--corpus=", 9))
      folder = argv[i] + 9;
  SimulatorTarget target(folder);
  return runWorker(argc, argv, target);
}
