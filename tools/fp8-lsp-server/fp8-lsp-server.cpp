// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-lsp-server: a language server for MLIR with the fp8 dialect. Editors show
// its errors, the linearity rules among them, where they are made, with
// repairs, and the documentation of its ops.
//
// MLIR's own language server runs in a child process; this one adds to what it
// answers.

#include "Proxy.h"

#include "fp8/Backend/CommandLine.h"
#include "fp8/Register.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;

namespace {

/// The command line, taken apart: how the editor and we exchange messages, and
/// what else MLIR's server is told.
struct Arguments {
  Arguments(int argc, char **argv) : forServer(argv, argv + 1) {
    for (StringRef argument : ArrayRef(argv, argc).drop_front()) {
      StringRef name = argument.ltrim('-');
      bool isTest = name == "lit-test";
      if (isTest || name == "input-style=delimited")
        style = llvm::lsp::Delimited;
      else if (name != "input-style=standard" && name != "pretty")
        forServer.push_back(const_cast<char *>(argument.data()));
      if (isTest)
        forServer.push_back(const_cast<char *>("--log=verbose"));
      pretty |= isTest || name == "pretty";
    }
  }

  llvm::lsp::JSONStreamStyle style = llvm::lsp::Standard;
  bool pretty = false;
  SmallVector<char *> forServer;
};

/// MLIR's server, in a child process.
struct ServerProcess {
  pid_t id;
  int input, output; ///< pipes to and from it
};

} // namespace

static int runServer(SmallVectorImpl<char *> &arguments,
                     DialectRegistry &registry) {
  int count = arguments.size();
  arguments.push_back(nullptr);
  return failed(MlirLspServerMain(count, arguments.data(), registry));
}

/// Starts MLIR's server with pipes in place of the standard streams.
static std::optional<ServerProcess> startServer(Arguments &arguments,
                                                DialectRegistry &registry) {
  int input[2], output[2];
  if (pipe(input) || pipe(output))
    return std::nullopt;
  pid_t id = fork();
  if (id < 0)
    return std::nullopt;
  if (id == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    for (int descriptor : {input[0], input[1], output[0], output[1]})
      close(descriptor);
    int status = runServer(arguments.forServer, registry);
    llvm::outs().flush();
    _exit(status);
  }
  close(input[0]);
  close(output[1]);
  return ServerProcess{id, input[1], output[0]};
}

static int runProxy(Arguments &arguments, DialectRegistry &registry) {
  std::optional<ServerProcess> server = startServer(arguments, registry);
  if (!server) {
    llvm::errs() << "error: cannot start MLIR's language server: "
                 << std::strerror(errno) << '\n';
    return 1;
  }
  // A server that is gone is noticed by what it no longer answers.
  std::signal(SIGPIPE, SIG_IGN);
  Proxy proxy(registry, MessageWriter(STDOUT_FILENO, arguments.pretty),
              MessageWriter(server->input, /*pretty=*/false));
  std::thread([&] {
    MessageReader editor(stdin, arguments.style);
    proxy.forwardRequests(editor);
    close(server->input);
  }).detach();
  MessageReader answers(fdopen(server->output, "r"), llvm::lsp::Standard);
  proxy.forwardAnswers(answers);
  int status = 0;
  waitpid(server->id, &status, 0);
  // The other thread may still read: nothing that it uses is taken down.
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv) {
  beginCommandLine("fp8-lsp-server");
  DialectRegistry registry;
  registerFp8Tool(registry);
  Arguments arguments(argc, argv);
  auto isAnsweredAtOnce = [](StringRef argument) {
    return argument.ltrim('-').starts_with("help") ||
           argument.ltrim('-') == "version" || argument == "-h";
  };
  if (llvm::any_of(ArrayRef(argv, argc).drop_front(), isAnsweredAtOnce)) {
    SmallVector<char *> all(argv, argv + argc);
    return runServer(all, registry);
  }
  return runProxy(arguments, registry);
}
