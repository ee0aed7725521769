// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of FlashMLA, chosen by a macro, on random operands; prints the
// relative error against double. All keys have one head, of which the first
// kValues elements are the value.
#include "operands.h"

#include <algorithm>
#include <cute/tensor.hpp>

#if defined(DENSE_DECODE)
#include "sm90/decode/dense/splitkv_mla.cuh"
#include "smxx/decode/combine/combine.cu"
#include "smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.cu"
#elif defined(SPARSE_SM90)
#include "sm90/prefill/sparse/phase1.cuh"
#elif defined(SPARSE_HEAD64)
#include "sm100/prefill/sparse/fwd/head64/phase1.cuh"
#elif defined(SPARSE_HEAD128)
#include "sm100/prefill/sparse/fwd/head128/phase1.cuh"
#elif defined(SPARSE_SMALL)
#include "sm100/prefill/sparse/fwd_for_small_topk/head128/phase1.cuh"
#endif

using Number = cutlass::bfloat16_t;
constexpr int kDepth = DEPTH, kValues = 512;

/// Softmax attention of one query and head over some keys, in double.
void attend(const Operand<Number> &q, size_t row, const Operand<Number> &keys,
            const std::vector<int> &places, double scale, double *out) {
  std::vector<double> weights(places.size());
  double sum = 0;
  for (size_t n = 0; n < places.size(); ++n) {
    double score = 0;
    for (int i = 0; i < kDepth; ++i)
      score += q[row * kDepth + i] * keys[size_t(places[n]) * kDepth + i];
    sum += weights[n] = std::exp(score * scale);
  }
  for (size_t n = 0; n < places.size(); ++n)
    for (int i = 0; i < kValues; ++i)
      out[i] += weights[n] / sum * keys[size_t(places[n]) * kDepth + i];
}

#if defined(DENSE_DECODE)
/// Two requests of different length, whose pages lie in random order.
int main() {
  constexpr int kBatches = 2, kHeads = 64, kPage = 64, kPages = 8, kParts = 4;
  const int lengths[kBatches] = {300, 90};
  const float scale = 1 / std::sqrt(float(kDepth));
  Operand<Number> q(size_t(kBatches) * kHeads * kDepth, 1),
      keys(size_t(kPages) * kPage * kDepth, 2),
      o(size_t(kBatches) * kHeads * kValues);
  Operand<int> table(std::vector<int>{3, 6, 1, 7, 4, 0, 2, 5, 5, 5}),
      seqlens(std::vector<int>(lengths, lengths + kBatches)),
      splits(kBatches + 1);
  Operand<float> lse(size_t(kBatches) * kHeads),
      lseParts(size_t(kBatches + kParts) * kHeads),
      oParts(lseParts.host.size() * kValues);
  DecodingSchedMeta *schedule;
  cudaMalloc(reinterpret_cast<void **>(&schedule),
             kParts * sizeof(DecodingSchedMeta));

  GetDecodeSchedMetaParams meta{};
  meta.b = kBatches, meta.s_q = 1, meta.block_size_n = kPage;
  meta.fixed_overhead_num_blocks = 1; // so that a request is split
  meta.topk = meta.extra_topk = -1;
  meta.seqlens_k_ptr = seqlens.device;
  meta.tile_scheduler_metadata_ptr = schedule;
  meta.num_splits_ptr = splits.device, meta.num_sm_parts = kParts;
  smxx::decode::run_get_decoding_sched_meta_kernel(meta);

  DenseAttnDecodeParams p{};
  p.b = kBatches, p.s_q = 1, p.q_seq_per_hk = kHeads, p.d = kDepth;
  p.d_v = kValues, p.h_q = kHeads, p.h_k = 1, p.num_blocks = kPages;
  p.q_head_per_hk = kHeads, p.is_causal = false;
  p.scale_softmax = scale, p.scale_softmax_log2 = float(scale * M_LOG2E);
  p.q_ptr = q.device, p.k_ptr = keys.device, p.o_ptr = o.device;
  p.softmax_lse_ptr = lse.device;
  p.q_batch_stride = kHeads * kDepth, p.q_row_stride = p.q_head_stride = kDepth;
  p.k_batch_stride = kPage * kDepth, p.k_row_stride = p.k_head_stride = kDepth;
  p.o_batch_stride = p.o_head_stride = kHeads * kValues;
  p.o_row_stride = kValues;
  p.block_table = table.device, p.block_table_batch_stride = 5;
  p.page_block_size = kPage, p.seqlens_k_ptr = seqlens.device;
  p.tile_scheduler_metadata_ptr = schedule, p.num_sm_parts = kParts;
  p.num_splits_ptr = splits.device, p.total_num_splits = kBatches + kParts;
  p.softmax_lseaccum_ptr = lseParts.device, p.oaccum_ptr = oParts.device;
  sm90::run_flash_splitkv_mla_kernel<Number>(p);

  CombineParams c{};
  c.b = kBatches, c.s_q = 1, c.h_q = kHeads, c.d_v = kValues;
  c.lse = lse.device, c.out = o.device;
  c.stride_lse_b = c.stride_lse_s_q = kHeads;
  c.stride_o_b = c.stride_o_s_q = kHeads * kValues, c.stride_o_h_q = kValues;
  c.lse_accum = lseParts.device, c.o_accum = oParts.device;
  c.stride_lse_accum_split = c.stride_lse_accum_s_q = kHeads;
  c.stride_o_accum_split = c.stride_o_accum_s_q = kHeads * kValues;
  c.stride_o_accum_h_q = kValues;
  c.tile_scheduler_metadata_ptr = schedule, c.num_splits_ptr = splits.device;
  c.num_sm_parts = kParts;
  smxx::decode::run_flash_mla_combine_kernel<Number>(c);

  std::vector<double> right(o.host.size());
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<int> places;
    for (int token = 0; token < lengths[batch]; ++token)
      places.push_back(table.host[batch * 5 + token / kPage] * kPage +
                       token % kPage);
    for (int head = 0; head < kHeads; ++head) {
      size_t row = size_t(batch) * kHeads + head;
      attend(q, row, keys, places, scale, &right[row * kValues]);
    }
  }
  Comparison comparison;
  comparison.add(o, right);
  return comparison.report();
}
#else
/// Each query has keys of its own, some of which are not there.
int main() {
  constexpr int kQueries = 2, kHeads = HEADS, kKeys = 700, kChosen = TOPK;
  const float scale = 1 / std::sqrt(float(kDepth));
  Operand<Number> q(size_t(kQueries) * kHeads * kDepth, 1),
      keys(size_t(kKeys) * kDepth, 2), o(size_t(kQueries) * kHeads * kValues);
  Operand<float> lse(size_t(kQueries) * kHeads), most(lse.host.size());
  std::vector<int> chosen(size_t(kQueries) * kChosen);
  std::mt19937 random(3);
  for (int &place : chosen)
    place = int(random() % (kKeys + 40)) - 20;
  for (int &place : chosen)
    place = place < 0 || place >= kKeys ? -1 : place;
  Operand<int> indices(chosen);

  SparseAttnFwdParams p{};
  p.s_q = kQueries, p.s_kv = kKeys, p.h_q = kHeads, p.h_kv = 1;
  p.d_qk = kDepth, p.d_v = kValues, p.topk = kChosen;
  p.sm_scale = scale, p.sm_scale_div_log2 = float(scale * M_LOG2E);
  p.q = q.device, p.kv = keys.device, p.indices = indices.device;
  p.stride_q_s_q = kHeads * kDepth, p.stride_q_h_q = kDepth;
  p.stride_kv_s_kv = p.stride_kv_h_kv = kDepth;
  p.stride_indices_s_q = p.stride_indices_h_kv = kChosen;
  p.out = o.device, p.max_logits = most.device, p.lse = lse.device;
  p.num_sm = 2;
#if defined(SPARSE_SM90)
  sm90::fwd::run_fwd_phase1_kernel<kDepth, false>(p);
#elif defined(SPARSE_HEAD64)
  sm100::fwd::head64::run_fwd_phase1_kernel<kDepth>(p);
#elif defined(SPARSE_HEAD128)
  sm100::fwd::head128::run_fwd_phase1_kernel<kDepth>(p);
#else
  sm100::fwd_for_small_topk::head128::run_fwd_for_small_topk_phase1_kernel<
      SparseAttnFwdMode::Prefill, kDepth>(p);
#endif

  std::vector<double> right(o.host.size());
  for (int query = 0; query < kQueries; ++query) {
    std::vector<int> places;
    for (int n = 0; n < kChosen; ++n)
      if (int place = chosen[size_t(query) * kChosen + n]; place >= 0)
        places.push_back(place);
    for (int head = 0; head < kHeads; ++head) {
      size_t row = size_t(query) * kHeads + head;
      attend(q, row, keys, places, scale, &right[row * kValues]);
    }
  }
  Comparison comparison;
  comparison.add(o, right);
  return comparison.report();
}
#endif
