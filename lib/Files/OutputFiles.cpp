// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-or-nothing output.
#include "fp8/Files/OutputFiles.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <utility>

namespace fp8::files {
namespace {
namespace fs = std::filesystem;

std::error_code lastError() { return {errno, std::generic_category()}; }

std::string describe(const std::string &verb, const std::string &path,
                     std::error_code code) {
  return "cannot " + verb + " '" + path + "': " + code.message();
}

/// Keeps SIGXFSZ from this thread, whose action is to end the process: that a
/// file would grow beyond `ulimit -f` is an error of the write as well.
class SizeSignalBlock {
public:
  SizeSignalBlock() {
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal, &before);
  }
  ~SizeSignalBlock() {
    if (sigismember(&before, SIGXFSZ) == 0) {
      timespec now = {};
      sigtimedwait(&signal, nullptr, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t signal, before;
};

/// An open file, which is closed.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (isOpen())
      close(number);
  }

  bool isOpen() const { return number >= 0; }

  /// Writes all and closes the file, which may be what fails.
  std::error_code fill(std::string_view contents) {
    while (!contents.empty()) {
      ssize_t written = ::write(number, contents.data(), contents.size());
      if (written < 0 && errno != EINTR)
        return lastError();
      contents.remove_prefix(written < 0 ? 0 : written);
    }
    return close(std::exchange(number, -1)) ? lastError() : std::error_code();
  }

private:
  int number;
};

/// Where links end.
struct Destination {
  fs::path path;
  bool isStream = false;
  bool isFolder = false;
  int own = -1; ///< the number of an open file of this process
};

/// True if `path` names an open file of a process: /proc/PID/fd/N, by whatever
/// links to the folder. It is no path to the file, which may have none.
bool findOpenFile(const fs::path &path, Destination &found) {
  std::error_code code;
  fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  fs::path folder = fs::canonical(parent, code);
  if (code || folder.filename() != "fd" ||
      folder.native().compare(0, 6, "/proc/") != 0)
    return false;
  fs::path mine = fs::canonical("/proc/self/fd", code);
  fs::path thread = fs::canonical("/proc/thread-self/fd", code);
  std::string name = path.filename().string();
  if (folder == mine || folder == thread)
    std::from_chars(name.data(), name.data() + name.size(), found.own);
  return true;
}

std::error_code follow(const std::string &path, Destination &found) {
  if (path.empty())
    return std::make_error_code(std::errc::no_such_file_or_directory);
  found.path = path;
  if (path == "-") {
    found.own = STDOUT_FILENO;
    found.isStream = true;
    return {};
  }
  constexpr int kMostLinks = 40; // path_resolution(7)
  for (int links = 0; links < kMostLinks; ++links) {
    found.isStream = findOpenFile(found.path, found);
    if (found.isStream)
      return {};
    std::error_code code;
    fs::file_status status = fs::symlink_status(found.path, code);
    if (!fs::is_symlink(status)) {
      found.isFolder = fs::is_directory(status);
      found.isStream =
          fs::exists(status) && !fs::is_regular_file(status) && !found.isFolder;
      return {};
    }
    fs::path target = fs::read_symlink(found.path, code);
    if (code)
      return code;
    found.path = found.path.parent_path() / target;
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

std::error_code writeInPlace(const Destination &to, std::string_view contents,
                             int flags) {
  // Another description of an open file would write from its beginning.
  Descriptor file(to.own >= 0
                      ? fcntl(to.own, F_DUPFD_CLOEXEC, 0)
                      : open(to.path.c_str(), O_WRONLY | O_CLOEXEC | flags));
  return file.isOpen() ? file.fill(contents) : lastError();
}

/// A file under another name beside its destination, and nothing once it is
/// destroyed.
class Temporary {
public:
  Temporary(Destination to, const OutputFile &file)
      : to(std::move(to)), file(file) {}
  Temporary(const Temporary &) = delete;
  ~Temporary() {
    if (exists)
      unlink(path.c_str());
  }

  std::error_code fill() {
    static std::atomic<unsigned> count = 0;
    int number;
    do {
      path = to.path.string() + "." + std::to_string(getpid()) + "-" +
             std::to_string(count++) + ".tmp";
      number =
          open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (number < 0 && errno == EEXIST);
    Descriptor opened(number);
    if (!opened.isOpen())
      return lastError();
    exists = true;
    return opened.fill(file.contents);
  }

  std::error_code keep() {
    if (!rename(path.c_str(), to.path.c_str())) {
      exists = false;
      return {};
    }
    // What is mounted cannot be renamed over.
    return errno == EBUSY ? writeInPlace(to, file.contents, O_TRUNC)
                          : lastError();
  }

  void remove() const { unlink(to.path.c_str()); }
  const std::string &name() const { return file.path; }

private:
  Destination to;
  const OutputFile &file;
  std::string path;
  bool exists = false;
};

std::optional<std::string> removeStale(const std::string &path) {
  std::error_code code;
  fs::file_status status = fs::symlink_status(path, code);
  if (!fs::is_regular_file(status) && !fs::is_symlink(status))
    return std::nullopt;
  if (!unlink(path.c_str()))
    return std::nullopt;
  return describe("remove", path, lastError()) +
         "; it is of an earlier output: remove it";
}
} // namespace

bool isStream(const std::string &path) {
  Destination to;
  return !follow(path, to) && to.isStream;
}

std::optional<std::string> write(const std::vector<OutputFile> &files,
                                 const std::vector<std::string> &stale) {
  SizeSignalBlock block;
  std::vector<std::unique_ptr<Temporary>> temporaries;
  for (const OutputFile &file : files) {
    Destination to;
    std::error_code code = follow(file.path, to);
    if (!code && to.isFolder)
      code = std::make_error_code(std::errc::is_a_directory);
    if (!code && to.isStream) {
      code = writeInPlace(to, file.contents, 0);
    } else if (!code) {
      temporaries.push_back(std::make_unique<Temporary>(std::move(to), file));
      code = temporaries.back()->fill();
    }
    if (code)
      return describe("write", file.path, code);
  }
  for (size_t i = 0; i < temporaries.size(); ++i)
    if (std::error_code code = temporaries[i]->keep()) {
      for (size_t done = 0; done < i; ++done)
        temporaries[done]->remove();
      return describe("write", temporaries[i]->name(), code);
    }
  for (const std::string &path : stale)
    if (auto error = removeStale(path))
      return error;
  return std::nullopt;
}

} // namespace fp8::files
