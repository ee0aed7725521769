// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few pieces of a millisecond each, so one mutex is enough.

#include "Machine/Workers.h"

#include <algorithm>

using namespace fp8::sim;

Workers::~Workers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
  }
  begin.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void Workers::takePieces(std::unique_lock<std::mutex> &lock) {
  while (next < count) {
    size_t piece = next++;
    ++running;
    lock.unlock();
    (*work)(piece);
    lock.lock();
    --running;
  }
}

void Workers::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!over) {
    takePieces(lock);
    if (!running)
      end.notify_one();
    begin.wait(lock, [this] { return over || next < count; });
  }
}

void Workers::forEach(size_t pieces,
                      const std::function<void(size_t)> &pieceWork) {
  std::unique_lock<std::mutex> lock(mutex);
  while (threads.size() + 1 < std::min<size_t>(most, pieces))
    threads.emplace_back([this] { serve(); });
  work = &pieceWork;
  next = 0;
  count = pieces;
  begin.notify_all();
  takePieces(lock);
  end.wait(lock, [this] { return !running; });
  count = next = 0;
}
