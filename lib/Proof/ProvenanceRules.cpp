// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops require of the labels of their operands.

#include "Provenance.h"

#include "SlotContents.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using gemm::Operand;
using Kind = Statement::Kind;

static constexpr StringLiteral kStoredRule = "each sum must be stored";

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Provenance::requireOperand(ArrayRef<ExprId> tile, Operand operand,
                                const Twine &what) {
  std::string_view name = gemm::getOperand(operand).name;
  requireEqual(tile[box::Operand], constant(static_cast<int64_t>(operand)),
               what + " must hold elements of '" + StringRef(name) + "'");
}

//===----------------------------------------------------------------------===//
// Copies and products
//===----------------------------------------------------------------------===//

void Provenance::walkCopy(Operation *op) {
  auto fill = [&](Value stage, StringRef name, unsigned column,
                  const Label &label) {
    auto ring =
        cast<PipelineType>(cast<StageTypeInterface>(stage.getType()).getRing());
    unsigned offset = getOffset(ring, name) + box::Size * column;
    requireEqual(get(stage)[offset + box::Operand], constant(kNothing),
                 "a tile of a slot must be filled once");
    write(stage, offset, label);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](TmaLoadOp load) {
        Label label = getBox(load.getMap(), load.getCoordinates());
        requireMapOfTile(load.getMap(), label, load.getTile().getShape()[0]);
        if (load.getMulticast())
          requireMulticast(label, *load.getMulticast());
        fill(load.getStage(), load.getName(), 0, label);
      })
      .Case([&](LoadElementOp load) {
        Label label = getBox(load.getSource(), load.getIndices());
        if (Value exists = load.getExists())
          requireExisting(label[box::K], expressions.get(exists));
        auto ring = cast<PipelineType>(getRingOf(load.getStage().getType()));
        TileType tile = ring.getTile(load.getName());
        bool hasLabel = hasElements(tile);
        fill(load.getStage(), load.getName(), hasLabel ? load.getColumn() : 0,
             hasLabel ? label : getUnknown(box::Size));
      });
}

/// An element that is not loaded is 0, as are those behind the end of K.
void Provenance::requireExisting(ExprId k, ExprId exists) {
  ExprId blocks = getBlocks();
  const ::fp8::proof::Expr condition = table[exists];
  // Either it is in front of the end, or it is not: what must hold is that the
  // condition is about this element.
  ExprId holds =
      condition.kind == Expr::Less && condition.operands[1] == blocks
          ? equal(scale(condition.operands[0], gemm::kScaleBlock), k)
          : table.get(Expr::Or,
                      {exists, atLeast(k, scale(blocks, gemm::kScaleBlock))});
  require(holds, "an element of K must be loaded unless it lies behind the "
                 "last one");
}

void Provenance::requireMapOfTile(Value map, const Label &box, int64_t rows) {
  const ::fp8::proof::Expr operand = table[box[box::Operand]];
  if (operand.kind != Expr::Constant || operand.value == kNothing ||
      !gemm.hasFirst(static_cast<Operand>(operand.value)))
    return;
  ExprId m = box[box::M];
  if (cluster.k > 1) {
    // A CTA that divides K may have a share of the tile's rows.
    ExprId byRank = scale(expressions.getRank(), rows);
    const ::fp8::proof::Expr sum = table[m];
    if (sum.kind == Expr::Add && llvm::is_contained(sum.operands, byRank))
      m = sum.operands[sum.operands[0] == byRank];
  }
  requireEqual(isOfFirstTiles(map), equal(m, constant(0)),
               "the rows of the first tiles, and no others, must be copied by "
               "the map of these rows");
}

void Provenance::requireMulticast(const Label &box, ClusterAxis axis) {
  // Of pairs, those CTAs that have the same number in their pairs.
  int64_t rows = cluster.m / (expressions.getInPair() ? 2 : 1),
          places = expressions.getNumPlaces();
  bool alongM = axis == ClusterAxis::M;
  auto at = [&](ExprId id, int64_t place) {
    return table.get(Expr::Where, {id, expressions.getPlace()}, place);
  };
  for (int64_t place = 0; place < places; ++place) {
    int64_t first = alongM ? place - place % rows : place % rows;
    if (place == first)
      continue;
    for (ExprId id : box)
      requireEqual(at(id, first), at(id, place),
                   "CTAs that share a multicast must copy the same box");
  }
}

Provenance::Label Provenance::getProduct(ArrayRef<ExprId> a, ArrayRef<ExprId> b,
                                         int64_t elements) {
  requireOperand(a, Operand::A, "the A tile of a product");
  requireOperand(b, Operand::B, "the B tile of a product");
  requireEqual(a[box::K], b[box::K],
               "the tiles of a product must begin at the same element of K");
  requireEqual(a[box::Batch], b[box::Batch],
               "the tiles of a product must be of the same matrices of a "
               "batch");
  Label label(sum::Size, constant(0));
  label[sum::Batch] = a[box::Batch];
  label[sum::M] = a[box::M];
  label[sum::N] = b[box::N];
  label[sum::HasRows] = label[sum::HasColumns] = constant(1);
  label[sum::First] = a[box::K];
  label[sum::Next] = offset(a[box::K], elements);
  return label;
}

void Provenance::accumulate(MutableArrayRef<ExprId> product,
                            ArrayRef<ExprId> accumulated, ExprId condition) {
  auto requireIf = [&](ExprId holds, const Twine &rule) {
    require(table.get(Expr::Or, {table.get(Expr::Not, {condition}), holds}),
            rule);
  };
  requireIf(equal(accumulated[sum::Next], product[sum::First]),
            "a product must be added to a sum that ends where its K begins");
  requireIf(equal(accumulated[sum::IsScaled], product[sum::IsScaled]),
            "products of one sum must be scaled alike");
  for (unsigned place : {sum::Batch, sum::M, sum::N})
    requireIf(equal(accumulated[place], product[place]),
              "a product must be added to a sum of the same rows and columns");
  product[sum::First] = table.get(
      Expr::Select, {condition, accumulated[sum::First], product[sum::First]});
}

void Provenance::walkMma(MmaOp mma) {
  auto accumulator = mma.getAccumulator().getDefiningOp<AccumulatorOp>();
  if (!accumulator)
    return;
  Label a(get(mma.getA())), b(get(mma.getB())),
      before(get(accumulator.getStage())), label;
  ArrayRef<int64_t> shape = mma.getB().getType().getShape();
  for (unsigned half = 0; half < before.size() / sum::Size; ++half) {
    auto part = [half](ArrayRef<ExprId> label, unsigned size) {
      return label.slice(half * size, size);
    };
    Label tile(part(b, box::Size));
    if (half) {
      // Each CTA has its own rows of the result, and all columns.
      requireEqual(tile[box::N], offset(b[box::N], shape[0]),
                   "the B tiles of a pair must be of adjacent columns");
      tile[box::N] = b[box::N];
    }
    Label product = getProduct(part(a, box::Size), tile, shape[1]);
    requireEqual(product[sum::First], a[box::K],
                 "the tiles of a product must begin at the same element of K");
    if (!mma.getScales().empty()) {
      walkTilesOfScales(mma, half, product);
      product[sum::IsScaled] = constant(1);
    }
    if (Value condition = mma.getAccumulate())
      accumulate(product, part(before, sum::Size), expressions.get(condition));
    llvm::append_range(label, product);
  }
  write(accumulator.getStage(), 0, label);
}

void Provenance::walkWarpgroupMma(WarpgroupMmaOp mma) {
  // A promotion begins and places a sum: what products alone add up in
  // registers is not followed.
  if (!gemm.hasScales())
    return;
  Label a(get(mma.getA())), b(get(mma.getB())),
      label = getProduct(a, b, mma.getA().getType().getShape()[1]);
  label[sum::Part] = constant(mma.getPart());
  if (Value sum = mma.getAccumulator(); sum && !mma.getOverwrites()) {
    requireBare(get(sum));
    accumulate(label, get(sum), constant(1));
  }
  set(mma.getPending(), std::move(label));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void Provenance::walkShuffle(gpu::ShuffleOp shuffle) {
  // The whole warp, and a lane of it.
  constexpr int64_t kLanes = 32;
  if (shuffle.getMode() != gpu::ShuffleMode::IDX ||
      !isConstantIntValue(shuffle.getWidth(), kLanes) ||
      !ranges.isBelow(shuffle.getOffset(), kLanes))
    return;
  Label label(get(shuffle.getValue()));
  ExprId last = scale(label[element::Last], gemm::kScaleBlock),
         k = add(label[box::K], scale(expressions.get(shuffle.getOffset()),
                                      gemm::kScaleBlock));
  auto isRow = [&](int64_t kind) {
    return equal(label[element::Row], constant(kind));
  };
  k = table.get(Expr::Select, {isRow(element::kRepeatsLast),
                               table.get(Expr::Minimum, {k, last}), k});
  label[box::K] =
      table.get(Expr::Select, {isRow(element::kIsNone), label[box::K], k});
  label[element::Row] = constant(element::kIsNone);
  set(shuffle.getShuffleResult(), std::move(label));
}

void Provenance::place(Label &label, std::optional<ExprId> batch,
                       std::optional<ExprId> m, ExprId n, const Twine &what) {
  auto put = [&](unsigned place, ExprId value, unsigned has,
                 const Twine &which) {
    ExprId isFree = equal(label[has], constant(0));
    require(table.get(Expr::Or, {isFree, equal(label[place], value)}),
            what + " the same " + which);
    label[place] = value;
  };
  if (batch)
    put(sum::Batch, *batch, sum::HasRows, "matrix of a batch");
  if (m) {
    put(sum::M, *m, sum::HasRows, "rows");
    label[sum::HasRows] = constant(1);
  }
  put(sum::N, n, sum::HasColumns, "columns");
  label[sum::HasColumns] = constant(1);
}

void Provenance::walkPromote(PromoteOp promote) {
  Label label(get(promote.getFragment())), product(get(promote.getPartial()));
  unsigned part = promote.getPart(), first = sum::First + 2 * part;
  requireBare(product);
  requireIncomplete(label);
  requireEqual(product[sum::IsScaled], constant(0),
               "a product must be scaled once");
  requireEqual(product[sum::Part], constant(part),
               "a product must be added to the part that it is of");
  requireEqual(offset(product[sum::First], gemm::kScaleBlock),
               product[sum::Next],
               "a product must be scaled after each block of K");
  ExprId isEmpty = equal(label[first], label[first + 1]);
  require(table.get(Expr::Or,
                    {isEmpty, equal(label[first + 1], product[sum::First])}),
          "a product must be added to a sum that ends where its K begins");
  walkScales(promote, product);
  place(label, product[sum::Batch], product[sum::M], product[sum::N],
        "a product must be added to a sum of");
  // A sum that begins while another is not yet stored loses that one.
  if (part == 0)
    require(table.get(Expr::Or, {table.get(Expr::Not, {isEmpty}),
                                 equal(getUnstored(), constant(0))}),
            kStoredRule);
  setUnstored(1);
  label[first] =
      table.get(Expr::Select, {isEmpty, product[sum::First], label[first]});
  label[first + 1] = product[sum::Next];
  set(promote.getResult(), std::move(label));
}

void Provenance::walkRead(ReadOp read) {
  // A sum that is read while another is not yet stored loses that one.
  requireEqual(getUnstored(), constant(0), kStoredRule);
  setUnstored(1);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void Provenance::setUnstored(int64_t value) {
  Statement statement{Kind::Assign};
  statement.site = site;
  statement.assigned = {{table[getUnstored()].value, constant(value)}};
  out->push_back(std::move(statement));
}

ExprId Provenance::getUnstored() {
  if (!unstored)
    unstored = table.getVariable(expressions.makeVariable());
  return *unstored;
}

ExprId Provenance::getBlocks(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return expressions.get(function.getArgument(gemm.blocks));
}

void Provenance::finish(unsigned number, ::fp8::proof::Block &body) {
  ::fp8::proof::Block first;
  site = number;
  out = &first;
  if (cluster.k > 1)
    decidePartOfK();
  if (unstored)
    setUnstored(0);
  body.insert(body.begin(), first.begin(), first.end());
  out = &body;
  if (unstored)
    requireEqual(*unstored, constant(0), kStoredRule);
  requireUniform(body);
}

const Provenance::Rule *Provenance::findRule(Operation *op) {
  using Rules = llvm::DenseMap<TypeID, Rule>;
  auto of = [](auto kind, auto walk) {
    using Op = decltype(kind);
    return Rules::value_type(
        TypeID::get<Op>(),
        [walk](Provenance &its, Operation *op) { (its.*walk)(cast<Op>(op)); });
  };
  static const Rules rules = {
      of(TmaLoadOp(), &Provenance::walkCopy),
      of(LoadElementOp(), &Provenance::walkCopy),
      of(MmaOp(), &Provenance::walkMma),
      of(WarpgroupMmaOp(), &Provenance::walkWarpgroupMma),
      of(PromoteOp(), &Provenance::walkPromote),
      of(ReadOp(), &Provenance::walkRead),
      of(AddTileOp(), &Provenance::walkAddend),
      of(AddRowOp(), &Provenance::walkAddend),
      of(MapOp(), &Provenance::walkMap),
      of(ReduceScatterOp(), &Provenance::walkReduceScatter),
      of(StoreOp(), &Provenance::walkStore),
      of(gpu::ShuffleOp(), &Provenance::walkShuffle),
  };
  auto it = rules.find(op->getName().getTypeID());
  return it == rules.end() ? nullptr : &it->second;
}

void Provenance::walkOp(Operation *op) {
  if (const Rule *rule = findRule(op))
    (*rule)(*this, op);
}
