// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of the host that share out pieces of work.

#ifndef FP8_LIB_SIMULATOR_MACHINE_WORKERS_H
#define FP8_LIB_SIMULATOR_MACHINE_WORKERS_H

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fp8::sim {

class Workers {
public:
  /// `threads`: at least 1, with the one that calls forEach. The others start
  /// when there is work for them.
  explicit Workers(unsigned threads) : most(threads) {}
  ~Workers();

  /// Calls `work(i)` for each i below `count`, each on any thread, and returns
  /// when all calls have returned.
  void forEach(size_t count, const std::function<void(size_t)> &work);

private:
  const unsigned most;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begin, end;
  const std::function<void(size_t)> *work = nullptr;
  size_t next = 0, count = 0, running = 0;
  bool over = false;

  /// Takes pieces while there are some. `lock` holds the mutex.
  void takePieces(std::unique_lock<std::mutex> &lock);
  void serve();
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_WORKERS_H
