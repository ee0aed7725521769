// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fp8/Files/OutputFiles.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

namespace {
using namespace fp8;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/fp8-output-files-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return folder / name; }
  std::string read(const std::string &name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder;
};

TEST_F(OutputFiles, ReplaceWhatWasThere) {
  put("a", "old");
  EXPECT_EQ(files::write({{at("a"), "new"}, {at("b"), "other"}}), std::nullopt);
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(read("b"), "other");
  EXPECT_THAT(list(), ElementsAre("a", "b"));
}

TEST_F(OutputFiles, AllAppearOrNone) {
  put("a", "old");
  fs::create_directory(at("b"));
  EXPECT_EQ(files::write({{at("a"), "new"}, {at("b"), "other"}}),
            "cannot write '" + at("b") + "': Is a directory");
  EXPECT_EQ(read("a"), "old");
  EXPECT_THAT(list(), ElementsAre("a", "b"));
  EXPECT_EQ(files::write({{at("none/a"), ""}}),
            "cannot write '" + at("none/a") + "': No such file or directory");
  EXPECT_EQ(files::write({{"", ""}}),
            "cannot write '': No such file or directory");
  EXPECT_EQ(files::write({{"/dev/full", "x"}}),
            "cannot write '/dev/full': No space left on device");
}

TEST_F(OutputFiles, NamesMayHoldAnyCharacter) {
  fs::create_directory(at("%%%%%% 50%"));
  EXPECT_EQ(files::write({{at("%%%%%% 50%/p%q.ptx"), "text"}}), std::nullopt);
  EXPECT_EQ(read("%%%%%% 50%/p%q.ptx"), "text");
}

TEST_F(OutputFiles, LinksAreFollowed) {
  fs::create_directory(at("sub"));
  put("sub/a", "old");
  fs::create_symlink("sub/a", at("one"));
  fs::create_symlink(at("one"), at("two"));
  fs::create_symlink("sub/none", at("dangling"));
  fs::create_symlink("loop", at("loop"));
  EXPECT_EQ(files::write({{at("two"), "new"}, {at("dangling"), "made"}}),
            std::nullopt);
  EXPECT_EQ(read("sub/a"), "new");
  EXPECT_EQ(read("sub/none"), "made");
  EXPECT_TRUE(fs::is_symlink(at("one")));
  EXPECT_TRUE(fs::is_symlink(at("two")));
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_THAT(*files::write({{at("loop"), ""}}),
              HasSubstr("Too many levels of symbolic links"));
}

/// An open file is written on from where it is, by whatever link to it.
TEST_F(OutputFiles, OpenFilesAreStreams) {
  put("log", "");
  int log = open(at("log").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(log, 0);
  ASSERT_EQ(write(log, "first ", 6), 6);
  std::string number = std::to_string(log);
  fs::create_symlink("/proc/self/fd/" + number, at("direct"));
  fs::create_symlink("/proc/self/fd", at("fd"));
  fs::create_symlink(at("fd/" + number), at("indirect"));
  for (const char *name : {"direct", "indirect"}) {
    EXPECT_TRUE(files::isStream(at(name)));
    EXPECT_EQ(files::write({{at(name), std::string(name) + ' '}}),
              std::nullopt);
    EXPECT_TRUE(fs::is_symlink(at(name)));
  }
  close(log);
  EXPECT_EQ(read("log"), "first direct indirect ");
  EXPECT_EQ(files::write({{at("direct"), "x"}}),
            "cannot write '" + at("direct") + "': Bad file descriptor");
}

TEST_F(OutputFiles, DevicesAreStreams) {
  fs::create_symlink("/dev/null", at("null"));
  EXPECT_TRUE(files::isStream("-"));
  EXPECT_TRUE(files::isStream("/dev/null"));
  EXPECT_TRUE(files::isStream(at("null")));
  EXPECT_FALSE(files::isStream(at("none")));
  EXPECT_FALSE(files::isStream(folder));
  EXPECT_EQ(files::write({{at("null"), "x"}}), std::nullopt);
  EXPECT_TRUE(fs::is_symlink(at("null")));
}

/// With the default action of the signal, which ends the process.
TEST_F(OutputFiles, ALimitOfSizeIsAnError) {
  put("a", "old");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  auto error = files::write({{at("a"), std::string(100000, 'x')}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(error, "cannot write '" + at("a") + "': File too large");
  EXPECT_EQ(read("a"), "old");
  EXPECT_THAT(list(), ElementsAre("a"));
  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
}

TEST_F(OutputFiles, WhatIsStaleGoes) {
  for (const char *name : {"a", "a.json", "b.json"})
    put(name, "old");
  fs::create_directory(at("folder"));
  EXPECT_EQ(files::write({{at("a"), "new"}},
                         {at("a.json"), at("none"), at("folder")}),
            std::nullopt);
  EXPECT_THAT(list(), ElementsAre("a", "b.json", "folder"));
  EXPECT_NE(files::write({{at("folder"), "new"}}, {at("b.json")}),
            std::nullopt);
  EXPECT_THAT(list(), ElementsAre("a", "b.json", "folder"));
}
} // namespace
