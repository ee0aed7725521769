// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Putting arguments on a backend.
#include "Upload.h"

namespace fp8::run {

launch::Expected<launch::LaunchPlan>
uploadAndBind(const launch::Manifest &manifest,
              const std::vector<PreparedArgument> &arguments, Backend &backend,
              std::vector<launch::ArgumentValue> &values) {
  values.clear();
  for (const PreparedArgument &argument : arguments) {
    auto address =
        backend.upload(argument.name, argument.bytes, argument.access);
    if (!address)
      return address.takeError();
    values.push_back(argument.value);
    values.back().address = *address;
  }
  return launch::bindLaunch(manifest, values, backend.properties());
}

} // namespace fp8::run
