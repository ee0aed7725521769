// A program that uses the driver, and a library that stands for NVRTC.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

extern "C" int askForTable();

#ifdef LIBRARY
extern "C" int askForTable() {
  auto *ask = reinterpret_cast<CUresult (*)(const void **, const CUuuid *)>(dlsym(RTLD_DEFAULT, "cuGetExportTable"));
  const void *table = nullptr;
  CUuuid id{};
  return ask ? ask(&table, &id) : -1;
}
#else
template <typename Function>
Function *find(const char *name) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &result);
  return reinterpret_cast<Function *>(entry);
}

int main() {
  cudaFree(nullptr);
  std::printf("table: %d\n", askForTable());
  char log[48] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CUmodule module;
  auto load = find<CUresult(CUmodule *, const void *, unsigned, CUjit_option *, void **)>("cuModuleLoadDataEx");
  std::printf("load: %d\n", load(&module, ".version 8.0\n.target sm_90\n.frob\n", 2, options, values));
  std::printf("log: %s, %zu bytes\n", log, reinterpret_cast<size_t>(values[1]));
}
#endif
