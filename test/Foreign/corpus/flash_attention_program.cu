// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of FlashAttention 3, forward or backward, chosen by macros, on
// random operands; prints the relative error against double.
#include "operands.h"

#if defined(BACKWARD)
#include "flash_bwd_launch_template.h"
#else
#include "flash_fwd_launch_template.h"
#endif

using Element = ELEMENT;
using Output = cutlass::bfloat16_t;

#if defined(CAUSAL)
constexpr bool kCausal = true;
#else
constexpr bool kCausal = false;
#endif
constexpr int kBatches = 1, kHeads = 2, kQueries = 256, kKeys = 256;
constexpr int kDepth = DEPTH, kRow = kHeads * kDepth;

size_t place(int token, int head, int i) {
  return size_t(token) * kRow + head * kDepth + i;
}

/// Both passes in double. Tensors are (token, head, depth).
struct Attention {
  std::vector<double> o, dq, dk, dv;
  std::vector<float> logarithms; // (head, query): ln of the sum of exp

  Attention(const Operand<Element> &q, const Operand<Element> &k,
            const Operand<Element> &v, const Operand<Output> &seed,
            double scale)
      : o(size_t(kQueries) * kRow), dq(o.size()), dk(size_t(kKeys) * kRow),
        dv(dk.size()), logarithms(size_t(kHeads) * kQueries) {
    for (int head = 0; head < kHeads; ++head)
      for (int query = 0; query < kQueries; ++query)
        add(q, k, v, seed, scale, head, query);
  }

  void add(const Operand<Element> &q, const Operand<Element> &k,
           const Operand<Element> &v, const Operand<Output> &seed, double scale,
           int head, int query) {
    int end = kCausal ? kKeys - kQueries + query + 1 : kKeys;
    std::vector<double> weights(end), gradients(end);
    double sum = 0, mean = 0;
    for (int key = 0; key < end; ++key) {
      double score = 0;
      for (int i = 0; i < kDepth; ++i)
        score += q[place(query, head, i)] * k[place(key, head, i)];
      sum += weights[key] = std::exp(score * scale);
    }
    logarithms[size_t(head) * kQueries + query] = float(std::log(sum));
    for (int key = 0; key < end; ++key) {
      weights[key] /= sum;
      for (int i = 0; i < kDepth; ++i) {
        o[place(query, head, i)] += weights[key] * v[place(key, head, i)];
        dv[place(key, head, i)] += weights[key] * seed[place(query, head, i)];
        gradients[key] += seed[place(query, head, i)] * v[place(key, head, i)];
      }
      mean += weights[key] * gradients[key];
    }
    for (int key = 0; key < end; ++key) {
      double score = scale * weights[key] * (gradients[key] - mean);
      for (int i = 0; i < kDepth; ++i) {
        dq[place(query, head, i)] += score * k[place(key, head, i)];
        dk[place(key, head, i)] += score * q[place(query, head, i)];
      }
    }
  }
};

/// What both passes take.
template <typename Params>
Params parameters(Operand<Element> &q, Operand<Element> &k, Operand<Element> &v,
                  Operand<Output> &o, Operand<float> &logarithms, float scale) {
  Params p{};
  p.q_ptr = q.device, p.k_ptr = k.device, p.v_ptr = v.device;
  p.o_ptr = o.device, p.softmax_lse_ptr = logarithms.device;
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = kRow;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride =
      kDepth;
  p.q_batch_stride = p.o_batch_stride = kQueries * kRow;
  p.k_batch_stride = p.v_batch_stride = kKeys * kRow;
  p.v_dim_stride = 1;
  p.b = p.b_k = kBatches, p.h = p.h_k = kHeads;
  p.d = p.d_rounded = p.dv = p.dv_rounded = kDepth;
  p.seqlen_q = p.seqlen_q_rounded = p.total_q = kQueries;
  p.seqlen_k = p.seqlen_k_rounded = p.total_k = kKeys;
  p.scale_softmax = scale;
  p.window_size_left = -1, p.window_size_right = kCausal ? 0 : -1;
  p.is_causal = kCausal, p.num_splits = 1, p.arch = 90, p.num_sm = 2;
  return p;
}

int main() {
  const float scale = 1 / std::sqrt(float(kDepth));
  const size_t queries = size_t(kQueries) * kRow, keys = size_t(kKeys) * kRow;
  Operand<Element> q(queries, 1), k(keys, 2), v(keys, 3);
  Operand<Output> o(queries), gradient(queries, 4);
  Operand<float> logarithms(size_t(kHeads) * kQueries);
  Attention right(q, k, v, gradient, scale);
  Comparison comparison;
#if defined(BACKWARD)
  auto p = parameters<Flash_bwd_params>(q, k, v, o, logarithms, scale);
  for (size_t i = 0; i < queries; ++i)
    o.host[i] = Output(float(right.o[i]));
  o.send();
  logarithms.host = right.logarithms;
  logarithms.send();
  const size_t rounded = size_t(kHeads) * (kQueries + 128);
  Operand<Output> dq(queries), dk(keys), dv(keys);
  Operand<float> sums(rounded * kDepth), means(rounded), base2(rounded);
  Operand<int> semaphore(1024);
  p.do_ptr = gradient.device, p.dq_ptr = dq.device, p.dk_ptr = dk.device;
  p.dv_ptr = dv.device, p.dq_accum_ptr = sums.device;
  p.do_row_stride = p.dq_row_stride = p.dk_row_stride = p.dv_row_stride = kRow;
  p.do_head_stride = p.dq_head_stride = p.dk_head_stride = p.dv_head_stride =
      kDepth;
  p.do_batch_stride = p.dq_batch_stride = kQueries * kRow;
  p.dk_batch_stride = p.dv_batch_stride = kKeys * kRow;
  p.dsoftmax_sum = means.device, p.softmax_lse_log2_ptr = base2.device;
  p.dq_semaphore = semaphore.device;
  // Tiles and stages as run_mha_bwd_hdim64 has them.
  run_flash_bwd<90, kDepth, 128, 128, Element, kCausal, false, false, false,
                false, false, 2, 2, true, false, false, 2, 1, 2, 2>(p, 0);
  comparison.add(dq, right.dq);
  comparison.add(dk, right.dk);
  comparison.add(dv, right.dv);
#else
  auto p = parameters<Flash_fwd_params>(q, k, v, o, logarithms, scale);
  Operand<int> semaphore(1);
  p.tile_count_semaphore = semaphore.device;
  run_flash_fwd<90, kDepth, kDepth, CLUSTER, Element, Output, kCausal, false,
                false, false, false, false, false, false, false, false>(p, 0);
  comparison.add(o, right.o);
#endif
  return comparison.report();
}
