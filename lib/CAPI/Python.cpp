// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builtins of Python over the runtime: descriptions of arrays, and launches.
#include "fp8-c/Python.h"

#include "fp8-c/Runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

// Python's stable ABI ("C API Stability", "Contents of Limited API"). Weak: a
// process without Python lacks it.
#define FP8_OF_PYTHON __attribute__((weak, visibility("default")))
extern "C" {
struct PyObject;
struct PyMethodDef {
  const char *name;
  PyObject *(*function)(PyObject *, PyObject *const *, ptrdiff_t);
  int flags;
  const char *doc;
};
FP8_OF_PYTHON extern char _Py_NoneStruct;
FP8_OF_PYTHON PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *,
                                          PyObject *);
FP8_OF_PYTHON void Py_IncRef(PyObject *);
FP8_OF_PYTHON void Py_DecRef(PyObject *);
FP8_OF_PYTHON PyObject *PyBytes_FromStringAndSize(const char *, ptrdiff_t);
FP8_OF_PYTHON int PyBytes_AsStringAndSize(PyObject *, char **, ptrdiff_t *);
FP8_OF_PYTHON PyObject *PyLong_FromLong(long);
FP8_OF_PYTHON PyObject *PyLong_FromVoidPtr(void *);
FP8_OF_PYTHON void *PyLong_AsVoidPtr(PyObject *);
FP8_OF_PYTHON unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
FP8_OF_PYTHON PyObject *PyErr_Occurred(void);
FP8_OF_PYTHON void PyErr_Clear(void);
FP8_OF_PYTHON extern PyObject *PyExc_TypeError;
FP8_OF_PYTHON void PyErr_SetString(PyObject *, const char *);
FP8_OF_PYTHON void *PyEval_SaveThread(void);
FP8_OF_PYTHON void PyEval_RestoreThread(void *);
}

namespace {
constexpr int kFastCall = 0x80; // METH_FASTCALL

// DLPack 1.3, dlpack.h.
struct DLTensor {
  void *data;
  int32_t deviceType, deviceId, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct ExchangeTable {
  uint32_t major, minor;
  const ExchangeTable *previous;
  void *allocate, *fromObject, *toObject;
  int (*describe)(void *object, DLTensor *tensor);
  void *currentStream;
};
constexpr uint32_t kMajor = 1;
constexpr int32_t kCuda = 2;

/// An array as descriptions have it, behind its address.
struct Words {
  uint64_t kind = 0;
  int64_t shape[3] = {}, strides[3] = {};
};
static_assert(sizeof(Words) == 8 * FP8_DESCRIPTION_WORDS);

PyObject *getNone() { return reinterpret_cast<PyObject *>(&_Py_NoneStruct); }

/// The extents of an array of rank 4 or 5, two in a word. False if it is not
/// contiguous, or larger than any operand.
bool packExtents(const DLTensor &tensor, Words &words) {
  int64_t step = 1;
  for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
    int64_t extent = tensor.shape[axis];
    if (extent < 0 || extent >> 31 ||
        (extent > 1 && tensor.strides[axis] != step))
      return false;
    words.shape[axis / 2] |= extent << axis % 2 * 32;
    if (__builtin_mul_overflow(step, std::max<int64_t>(extent, 1), &step))
      return false;
  }
  return true;
}

bool describe(const ExchangeTable &table, PyObject *object, uint64_t &address,
              Words &words) {
  DLTensor tensor;
  if (table.describe(object, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  if (tensor.deviceType != kCuda || !tensor.data || tensor.lanes != 1 ||
      tensor.rank < 1 || tensor.rank > 5 || !tensor.strides)
    return false;
  address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  words.kind = uint64_t(tensor.rank) | (address % 16) << 8 |
               uint64_t(tensor.code) << 16 | uint64_t(tensor.bits) << 24 |
               uint64_t(tensor.deviceId + 1) << 32;
  if (tensor.rank > 3)
    return packExtents(tensor, words);
  std::copy_n(tensor.shape, tensor.rank, words.shape);
  std::copy_n(tensor.strides, tensor.rank, words.strides);
  return true;
}

PyObject *describeArrays(PyObject *self, PyObject *const *arrays,
                         ptrdiff_t count) {
  const auto &table =
      *static_cast<const ExchangeTable *>(PyLong_AsVoidPtr(self));
  uint64_t addresses[FP8_DESCRIPTION_ARRAYS] = {};
  Words words[FP8_DESCRIPTION_ARRAYS];
  ptrdiff_t given = 0;
  bool known = count <= FP8_DESCRIPTION_ARRAYS;
  for (ptrdiff_t i = 0; known && i < count; ++i) {
    if (arrays[i] == getNone())
      continue;
    known = describe(table, arrays[i], addresses[i], words[i]);
    given = i + 1;
  }
  if (!known)
    given = 0;
  char text[sizeof(addresses) + sizeof(words)];
  std::memcpy(text, addresses, given * sizeof(uint64_t));
  std::memcpy(text + given * sizeof(uint64_t), words, given * sizeof(Words));
  return PyBytes_FromStringAndSize(
      text, given * ptrdiff_t(sizeof(uint64_t) + sizeof(Words)));
}

PyObject *refuse(const char *message) {
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, message);
  return nullptr;
}

PyObject *enqueue(PyObject *, PyObject *const *given, ptrdiff_t count) {
  constexpr uint8_t last = 255;
  if (count != 5)
    return refuse("enqueue takes launch, places, addresses, last and stream");
  char *places = nullptr, *words = nullptr;
  ptrdiff_t arguments = 0, bytes = 0;
  auto *launch = static_cast<Fp8Launch *>(PyLong_AsVoidPtr(given[0]));
  uint64_t addressOfLast = PyLong_AsUnsignedLongLong(given[3]);
  void *stream = PyLong_AsVoidPtr(given[4]);
  if (PyErr_Occurred() ||
      PyBytes_AsStringAndSize(given[1], &places, &arguments) ||
      PyBytes_AsStringAndSize(given[2], &words, &bytes))
    return refuse("");
  uint64_t addresses[FP8_DESCRIPTION_ARRAYS];
  if (!launch || arguments > FP8_DESCRIPTION_ARRAYS)
    return refuse("there is no launch, or it has more than 16 arguments");
  for (ptrdiff_t i = 0; i < arguments; ++i) {
    auto place = static_cast<uint8_t>(places[i]);
    if (place != last && ptrdiff_t((place + 1) * sizeof(uint64_t)) > bytes)
      return refuse("places must be less than the number of addresses");
    if (place == last)
      addresses[i] = addressOfLast;
    else
      std::memcpy(&addresses[i], words + place * sizeof(uint64_t),
                  sizeof(uint64_t));
  }
  // The driver waits where too much is enqueued.
  void *thread = PyEval_SaveThread();
  Fp8Status status = fp8LaunchEnqueueAt(launch, addresses, arguments, stream);
  PyEval_RestoreThread(thread);
  return PyLong_FromLong(status);
}

/// The newest table of the version that is known here.
const ExchangeTable *findTable(const void *exchange) {
  auto *table = static_cast<const ExchangeTable *>(exchange);
  while (table && table->major != kMajor)
    table = table->previous;
  return table && table->describe ? table : nullptr;
}
} // namespace

void *fp8PythonDescribe(const void *exchange) {
  static PyMethodDef method = {"describe", describeArrays, kFastCall, nullptr};
  if (!PyCFunction_NewEx)
    return nullptr;
  const ExchangeTable *table = findTable(exchange);
  if (!table) {
    Py_IncRef(getNone());
    return getNone();
  }
  PyObject *self = PyLong_FromVoidPtr(const_cast<ExchangeTable *>(table));
  if (!self)
    return nullptr;
  PyObject *made = PyCFunction_NewEx(&method, self, nullptr);
  Py_DecRef(self);
  return made;
}

void *fp8PythonEnqueue(void) {
  static PyMethodDef method = {"enqueue", enqueue, kFastCall, nullptr};
  return PyCFunction_NewEx ? PyCFunction_NewEx(&method, nullptr, nullptr)
                           : nullptr;
}
