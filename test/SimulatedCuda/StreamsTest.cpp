// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Streams.h"

#include "gmock/gmock.h"

#include <string>

using namespace fp8::cuda;

namespace {
struct StreamsTest : testing::Test {
  Streams streams;
  std::string done;

  Work append(char what) {
    return [this, what] {
      done += what;
      return cudaSuccess;
    };
  }
  static cudaStream_t handle(Stream *stream) {
    return reinterpret_cast<cudaStream_t>(stream);
  }
};

TEST_F(StreamsTest, RunWorkAtOnce) {
  Stream *stream = streams.create();
  EXPECT_EQ(streams.enqueue(*stream, append('a')), cudaSuccess);
  EXPECT_EQ(streams.enqueue(*streams.find(nullptr), append('b')), cudaSuccess);
  EXPECT_EQ(done, "ab");
  EXPECT_EQ(streams.find(handle(stream)), stream);
  EXPECT_EQ(streams.find(nullptr), streams.find(cudaStreamPerThread));
  EXPECT_TRUE(streams.destroy(stream));
  EXPECT_FALSE(streams.destroy(stream));
  EXPECT_EQ(streams.find(handle(stream)), nullptr);
}

TEST_F(StreamsTest, RecordWhatJoinsACapture) {
  Stream *first = streams.create(), *second = streams.create();
  Stream *other = streams.create();
  Event *event = streams.createEvent();
  ASSERT_EQ(streams.beginCapture(*first), cudaSuccess);
  EXPECT_EQ(streams.beginCapture(*first), cudaErrorIllegalState);
  streams.enqueue(*first, append('a'));
  streams.record(*event, *first);
  streams.wait(*second, *event);
  streams.enqueue(*second, append('b'));
  streams.enqueue(*other, append('x'));
  EXPECT_EQ(done, "x");
  Graph *graph = streams.endCapture(*first);
  ASSERT_TRUE(graph);
  for (const Work &work : graph->work)
    work();
  EXPECT_EQ(done, "xab");
  EXPECT_EQ(streams.endCapture(*first), nullptr);
  streams.enqueue(*second, append('c'));
  EXPECT_EQ(done, "xabc");
  // The event has left the capture, too.
  streams.wait(*other, *event);
  streams.enqueue(*other, append('d'));
  EXPECT_EQ(done, "xabcd");
}
} // namespace
