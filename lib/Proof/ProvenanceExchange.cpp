// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is required of CTAs that divide K.
//
// Each CTA of such a cluster is followed by itself. It must add up the part of
// K that its number says, so that the parts of all cover K, and the place of
// its share must follow from its number, so that all shares are of one tile.

#include "Provenance.h"
#include "Uniformity.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using Kind = Statement::Kind;

std::pair<ExprId, ExprId> Provenance::getPartOfK() {
  // Rounded up: the last CTAs may have less, or nothing.
  ExprId groups =
      scale(table.get(Expr::FloorDivide, {scale(getBlocks(), -1),
                                          constant(gemm.kGroup * cluster.k)}),
            -1);
  ExprId size = scale(groups, gemm.kGroup);
  return {table.get(Expr::Multiply, {expressions.getRank(), size}), size};
}

void Provenance::walkReduceScatter(ReduceScatterOp reduce) {
  Label sums(get(reduce.getFragment()));
  auto [firstBlock, size] = getPartOfK();
  ExprId begin = scale(firstBlock, gemm::kScaleBlock),
         end = add(begin, scale(size, gemm::kScaleBlock)),
         all = scale(getBlocks(), gemm::kScaleBlock);
  requireScales(sums, "what CTAs exchange");
  for (unsigned part = 0; part < getNumParts(reduce.getFragment().getType());
       ++part) {
    ExprId first = sums[sum::First + 2 * part],
           next = sums[sum::Next + 2 * part], isEmpty = equal(first, next);
    auto requireOfSome = [&](ExprId holds, const Twine &rule) {
      require(table.get(Expr::Or, {isEmpty, holds}), rule);
    };
    requireOfSome(equal(first, begin),
                  "CTAs that divide K must each begin where its part begins");
    requireOfSome(atLeast(end, next),
                  "CTAs that divide K must each end where its part ends");
    ExprId last = table.get(Expr::Minimum, {end, all});
    require(table.get(Expr::Select,
                      {isEmpty, atLeast(begin, all), atLeast(next, last)}),
            "CTAs that divide K must each add up all of its part");
  }
  for (unsigned addend : {sum::Columns, sum::Bias})
    requireEqual(sums[addend], constant(0),
                 "the residual and the bias must be added to shares");
  requireIncomplete(sums);
  // The sum of all is of all of K; a share has its place.
  FragmentType type = reduce.getShare().getType();
  Label share(getSize(type), constant(0));
  for (unsigned entry : {sum::Batch, sum::M, sum::N, sum::HasRows,
                         sum::HasColumns, sum::IsScaled})
    share[entry] = sums[entry];
  ExprId &place = share[type.isSwapped() ? sum::M : sum::N];
  place = add(place, scale(expressions.getRank(), getShareExtent(type)));
  for (unsigned part = 0; part < getNumParts(type); ++part)
    share[sum::Next + 2 * part] =
        scale(scale(size, cluster.k), gemm::kScaleBlock);
  set(reduce.getShare(), std::move(share));
}

int64_t Provenance::getShareExtent(FragmentType share) {
  return share.getShape()[share.isSwapped() ? 0 : 1];
}

void Provenance::requireShares(FragmentType share, ArrayRef<ExprId> box) {
  ExprId byRank = scale(expressions.getRank(), getShareExtent(share));
  for (unsigned entry : {box::Batch, box::M, box::N}) {
    ExprId place = box[entry];
    if (entry == (share.isSwapped() ? box::M : box::N)) {
      // The sum of the tile's place and of that in the tile.
      const ::fp8::proof::Expr sum = table[place];
      if (sum.kind == Expr::Add && llvm::is_contained(sum.operands, byRank))
        place = sum.operands[sum.operands[0] == byRank];
    }
    uniform.push_back({site, place});
  }
}

void Provenance::decidePartOfK() {
  auto [first, size] = getPartOfK();
  ExprId hasSome = table.get(Expr::Less, {first, getBlocks()}),
         hasAll = atLeast(getBlocks(), add(first, size));
  auto decide = [&](ExprId condition, ::fp8::proof::Block & block) -> auto & {
    Statement statement{Kind::Branch};
    statement.site = site;
    statement.condition = condition;
    block.push_back(std::move(statement));
    return block.back().first;
  };
  decide(hasAll, decide(hasSome, *out));
}

void Provenance::requireUniform(::fp8::proof::Block &body) {
  Uniformity uniformity(table, body, kernel.clusterSize);
  for (auto [its, place] : uniform) {
    if (!uniformity.varies(place))
      continue;
    site = its;
    require(table.getOpaque("whether CTAs store alike", {},
                            ::fp8::proof::Scope::Launch, /*isData=*/false),
            "the CTAs that divide K must store their shares of one tile");
  }
}
