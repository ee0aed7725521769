// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of reports.

#include "fp8/Simulator/Report.h"

using namespace fp8::sim;

std::string_view fp8::sim::errorKindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::InvalidLaunch:
    return "invalid-launch";
  case ErrorKind::Unsupported:
    return "unsupported";
  case ErrorKind::LimitExceeded:
    return "limit-exceeded";
  case ErrorKind::Deadlock:
    return "deadlock";
  case ErrorKind::Trap:
    return "trap";
  case ErrorKind::OutOfBounds:
    return "out-of-bounds";
  case ErrorKind::Misaligned:
    return "misaligned";
  case ErrorKind::UninitialisedRegister:
    return "uninitialised-register";
  case ErrorKind::RegisterInFlight:
    return "register-in-flight";
  case ErrorKind::UninitialisedMemory:
    return "uninitialised-memory";
  case ErrorKind::MemoryInFlight:
    return "memory-in-flight";
  case ErrorKind::Race:
    return "race";
  case ErrorKind::MissingProxyFence:
    return "missing-proxy-fence";
  case ErrorKind::MissingTcgen05Fence:
    return "missing-tcgen05-fence";
  case ErrorKind::MissingWgmmaFence:
    return "missing-wgmma-fence";
  case ErrorKind::BarrierUninitialised:
    return "barrier-uninitialised";
  case ErrorKind::BarrierMisuse:
    return "barrier-misuse";
  case ErrorKind::TooManyArrivals:
    return "too-many-arrivals";
  case ErrorKind::EarlyArrival:
    return "early-arrival";
  case ErrorKind::MissedPhase:
    return "missed-phase";
  case ErrorKind::TransactionOverrun:
    return "transaction-overrun";
  case ErrorKind::NamedBarrierMisuse:
    return "named-barrier-misuse";
  case ErrorKind::DivergentAligned:
    return "divergent-aligned";
  case ErrorKind::TensorMemoryAllocation:
    return "tensor-memory-allocation";
  case ErrorKind::TensorMap:
    return "tensor-map";
  case ErrorKind::BadDescriptor:
    return "bad-descriptor";
  case ErrorKind::WorkInFlight:
    return "work-in-flight";
  case ErrorKind::ExitedCta:
    return "exited-cta";
  case ErrorKind::EarlyAccess:
    return "early-access";
  case ErrorKind::InvalidOperation:
    return "invalid-operation";
  }
  return "unknown";
}

std::string_view fp8::sim::barrierSourceName(BarrierSource::Kind kind) {
  switch (kind) {
  case BarrierSource::Kind::Arrive:
    return "arrive";
  case BarrierSource::Kind::Commit:
    return "commit";
  case BarrierSource::Kind::CopyAsync:
    return "copy-async";
  case BarrierSource::Kind::Expect:
    return "expect";
  case BarrierSource::Kind::Bytes:
    return "bytes";
  }
  return "unknown";
}

std::string SourcePoint::str() const {
  if (!ptxLine)
    return "";
  std::string text = "ptx line " + std::to_string(ptxLine);
  if (!file.empty())
    text += " (" + file + ":" + std::to_string(line) + ")";
  return text;
}

std::string SimulationError::str() const {
  std::string text =
      "error: " + message + " [" + std::string(errorKindName(kind)) + "]";
  if (where.ptxLine)
    text += " at " + where.str();
  if (inThread) {
    text += ", block (" + std::to_string(block[0]) + "," +
            std::to_string(block[1]) + "," + std::to_string(block[2]) + ")";
    if (warp >= 0)
      text += " warp " + std::to_string(warp);
    if (lane >= 0)
      text += " lane " + std::to_string(lane);
  }
  text += "\n";
  for (const SimulationNote &note : notes) {
    text += "  note: " + note.message;
    if (note.where.ptxLine)
      text += " at " + note.where.str();
    text += "\n";
  }
  return text;
}

std::string Report::str() const {
  std::string text;
  for (const SimulationError &error : errors)
    text += error.str();
  return text;
}
