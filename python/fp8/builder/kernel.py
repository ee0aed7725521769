# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: their parameters, rings, roles, loops and branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from .errors import BuildError, caller
from .ir import Attribute, Function, Loop, Op, Value, types_of
from .regions import Branch, close_loop, like
from .registers import Exchange, Product, Queue, Registers
from .rings import AccumulatorRing, Ring, Role, TileRing, WorkRing
from .scalars import Operand, Scalar, ScalarVariable, as_scalar
from .scopes import scope
from .types import (BOOL, F32, I32, INDEX, Fragment, FunctionType, MemRef, OutputPipeline, Pending, Pipeline, StoreQueue, SumExchange, TensorMap, Tile,
                    WorkQueue)
from .views import Array, Barrier, Box, Map, TileView, expect

V = TypeVar("V", bound=Value)


class Kernel(Function):
    """A kernel in phase 1. Its parameters are in the order of the calls that declare them."""

    def __init__(self, name: str, cluster: tuple[int, ...] | None, programmatic: bool, signals_at_wait: bool) -> None:
        super().__init__(name, f"kernel '{name}'")
        self.function = self
        self.cluster = cluster
        self.programmatic = programmatic
        self.signals_at_wait = signals_at_wait
        self._constants: dict[int, list[int]] = {}
        self.box_bytes: dict[int, int] = {}  # by parameter: the map whose boxes have as many bytes
        self._rings: list[Ring] = []
        self._roles: list[Role] = []
        self._branches: list[Branch] = []
        self._multiplies = False

    def __repr__(self) -> str:
        roles = ", ".join(f"{role.name}: {role.warps}" for role in self._roles)
        return f"<kernel '{self.name}', warps {{{roles}}}, made at {self.location}>"

    @property
    def threads(self) -> int:
        """The threads of a block: 32 for each warp of the roles. Where warpgroups hand registers over, idle warps make them whole."""
        warps = sum(role.warps for role in self._roles)
        return 32 * (-(-warps // 4) * 4 if self._multiplies and warps > 8 else warps)

    def op(self) -> Op:
        cluster = f"array<i64: {', '.join(map(str, self.cluster))}>" if self.cluster else None
        told = [self._tell(number) for number in range(len(self.arguments))]
        return Op("gpu.func", [], [], {"sym_name": self.name, "function_type": FunctionType(types_of(self.arguments)), "gpu.kernel": True,
                                       "arg_attrs": told if any(told) else None,
                                       "fp8.linear": True, "fp8.cluster": cluster and Attribute(cluster),
                                       "fp8.programmatic": self.programmatic, "fp8.signals_at_wait": self.signals_at_wait}, [self.body], self.location)

    def _tell(self, number: int) -> dict[str, Attribute]:
        """What a parameter tells of others."""
        if number in self._constants:
            return {"fp8.constants": Attribute(f"array<i64: {', '.join(map(str, self._constants[number]))}>")}
        if number in self.box_bytes:
            return {"fp8.box_bytes": Attribute(f"{self.box_bytes[number]} : i64")}
        return {}

    def finish(self) -> None:
        super().finish()
        self.body.terminate("gpu.return")
        for ring in self._rings:
            ring.finish()

    # Parameters.

    @property
    def named(self) -> list[Value]:
        """The parameters for which a launch names arguments: all but the bytes of boxes, which follow from the maps."""
        return [parameter for number, parameter in enumerate(self.arguments) if number not in self.box_bytes]

    def _parameter(self, value: V) -> V:
        if self.here() is not self.body:  # a parameter is an argument of the entry block, wherever the call stands
            raise BuildError(f"a parameter stands in the {self.here().noun}; put it directly under {self.noun}",
                             (f"the {self.here().noun}", self.here().location))
        if any(value.hint == other.hint for other in self.named):
            raise BuildError(f"{self.noun} has two parameters '{value.hint}'; give each a name of its own")
        self.arguments.append(self.body.define(value))
        return value

    def tensor_map(self, name: str, tile: Tile, *, rank: int = 2, fit_rows: bool = False) -> Map:
        """Declares a parameter: the TMA descriptor of a tensor of `rank` dimensions that is copied in boxes of `tile`. With `fit_rows` a box
        has no more rows than the tensor, rounded up to 8; the launch passes its bytes, which are a parameter of their own."""
        expect(tile, Tile, f"the box of '{name}'")
        tensor = self._parameter(Map(self, TensorMap(tile, rank), name))
        if fit_rows:
            self.box_bytes[len(self.arguments)] = len(self.arguments) - 1
            self.arguments.append(self.body.define(Scalar(self, I32, f"{name}_bytes")))
        return tensor

    def array(self, name: str, type: MemRef) -> Array:
        """Declares a parameter: an array in global memory."""
        expect(type, MemRef, f"the type of '{name}'")
        return self._parameter(Array(self, type, name))

    def index(self, name: str) -> Scalar:
        """Declares a parameter: a size, or another unsigned number."""
        return self._parameter(Scalar(self, INDEX, name))

    def constancy(self, name: str, *parameters: Value) -> Scalar:
        """Declares a parameter: a number that is not 0 if these maps and arrays are constant in the launch, as `Host.is_constant` says. A
        role of a programmatic kernel that loads them alone then does not wait for the kernel in front."""
        numbers = [self._number(parameter, name) for parameter in parameters]
        self._constants[len(self.arguments)] = numbers
        return self._parameter(Scalar(self, I32, name))

    def _number(self, parameter: Value, name: str) -> int:
        for number, declared in enumerate(self.arguments):
            if declared is parameter:
                return number
        raise BuildError(f"'{name}' tells of {parameter.noun}, which is no parameter of {self.noun}", (parameter.noun, parameter.location))

    # Rings, queues and roles.

    def pipeline(self, stages: int, *, cta_group: int = 1, producer_arrivals: int | None = None, consumer_arrivals: int | None = None,
                 **tiles: Tile) -> TileRing:
        """Makes a ring of `stages` slots of these tiles. The counts of arrivals are derived; those stated are checked by the compiler."""
        for name, tile in tiles.items():
            expect(tile, Tile, f"the tile '{name}'")
        names = ", ".join(f"'{name}'" for name in tiles)
        counts = {"producer_arrivals": producer_arrivals, "consumer_arrivals": consumer_arrivals}
        ring = TileRing(self, Pipeline(stages, tuple(tiles.items()), cta_group), f"pipeline {names}".rstrip(), counts)
        self._rings.append(ring)
        return ring

    def output_pipeline(self, stages: int, shape: tuple[int, int], *, cta_group: int = 1, scale_slots: int = 0, swapped: bool = False,
                        producer_arrivals: int | None = None, consumer_arrivals: int | None = None) -> AccumulatorRing:
        """Makes a ring of `stages` accumulators of rows x columns; with room for the scales of `scale_slots` products. `swapped`, the
        columns are the MMA's rows, 64 or 128, so that there may be fewer rows. Counts may be stated, as those of `pipeline`."""
        counts = {"producer_arrivals": producer_arrivals, "consumer_arrivals": consumer_arrivals}
        ring = AccumulatorRing(self, OutputPipeline(stages, shape, cta_group, scale_slots, swapped), "output pipeline", counts)
        self._rings.append(ring)
        return ring

    def work_queue(self, stages: int) -> WorkRing:
        """Makes a ring of `stages` answers of cluster launch control: a scheduler asks, and the tile loops of all roles read."""
        ring = WorkRing(self, WorkQueue(stages), "work queue", {})
        self._rings.append(ring)
        return ring

    def exchange(self, fragment: Fragment) -> Exchange:
        """Makes the place where the CTAs of a cluster that divide K, `cluster=(1, 1, ctas)`, exchange shares of such fragments."""
        ctas = self.cluster[2] if self.cluster and len(self.cluster) == 3 else 1
        if ctas == 1:  # the text of such a type does not parse, and names no line of Python
            raise BuildError(f"{self.noun} has no CTAs that divide K (J1); make it with cluster=(1, 1, ctas)", (self.noun, self.location))
        return Exchange(self, SumExchange(ctas, fragment))

    def store_queue(self, depth: int, tile: Tile, *, warps: int, of_warps: bool = False) -> Queue:
        """Makes the staging tiles, `depth` slots a warp, of a role of `warps` warps that stores. A tile of 64 rows belongs to a warpgroup,
        unless it is `of_warps`."""
        return Queue(self, StoreQueue(depth, tile, warps, of_warps))

    @scope
    def role(self, name: str, *, warps: int) -> Iterator[Role]:
        """What `warps` warps do; the kernel's warps are dealt to its roles in their order."""
        location, role = caller(), Role(self, name, warps)
        self._roles.append(role)
        self.open(role)
        yield role
        self.close(role)
        for variable in role.changed():
            if role.captured[variable].type.linear:
                continue
            # A role has no results: the change would be lost without a word of the compiler.
            raise BuildError(f"{variable.noun} is changed in {role.noun} but belongs to no role; make it in the role",
                             ("made here", variable.location))
        given = role.given()
        role.arguments = [role.captured[variable] for variable, _ in given]
        role.terminate("fp8.yield", [role.bindings[variable] for variable, _ in given if variable.is_closeable(role.bindings[variable])])
        self.emit("fp8.role", *(outside for _, outside in given), regions=[role], at=location, attributes={"name": name, "warps": warps})

    # Loops and branches.

    @scope
    def for_each_tile(self, tiles_m: Operand, tiles_n: Operand, *, scheduler: str = "persistent", work: WorkRing | None = None,
                      band: int | None = None, band_of: str = "rows") -> Iterator[tuple[Scalar, Scalar]]:
        """Runs the body for each output tile of this CTA; gives the tile's row and column.

        Args:
            tiles_m: The rows of tiles.
            tiles_n: The columns of tiles.
            scheduler: "persistent", "one_tile", or "clc": cluster launch control, whose answers are read from `work`.
            work: The work queue of "clc".
            band: Rows of tiles that are numbered together, so that CTAs share what the L2 holds.
            band_of: "rows", or "columns": `band` counts columns of tiles.
        """
        if band_of not in ("rows", "columns"):
            raise BuildError(f"there is no band of {band_of}; give band_of='rows' or 'columns'")
        grid = [as_scalar(self, tiles, INDEX) for tiles in (tiles_m, tiles_n)]
        outer, location = self.here(), caller()
        ends = [] if work is None else [work.end("consumer")]
        answers = [outer.read(end, end.initial.type) for end in ends]
        place = Scalar(self, INDEX, "tile_m"), Scalar(self, INDEX, "tile_n")
        loop = Loop(self, outer, "loop", place)
        self.open(loop)
        yield place
        carried = close_loop(self, loop, "fp8.yield")
        rest = [like(answer) for answer in answers]
        self.emit("fp8.for_each_tile", *grid, answers, carried.inits, results=[*rest, *carried.results], regions=[loop], at=location,
                  attributes={"scheduler": Attribute(f"#fp8.scheduler<{scheduler}>"), "band": band, "band_of_columns": band_of == "columns"})
        for end, answer in zip(ends, rest):
            outer.bind(end, answer)

    @scope
    def range(self, start: Operand, stop: Operand | None = None, step: Operand = 1) -> Iterator[Scalar]:
        """Runs the body with each index that Python's `range` of these arguments has."""
        first, last = (0, start) if stop is None else (start, stop)
        bounds = [as_scalar(self, bound, INDEX) for bound in (first, last, step)]
        index, location = Scalar(self, INDEX, "i"), caller()
        loop = Loop(self, self.here(), "loop", [index])
        self.open(loop)
        yield index
        carried = close_loop(self, loop, "scf.yield")
        self.emit("scf.for", *bounds, *carried.inits, results=carried.results, regions=[loop], at=location)

    @scope
    def leading_cta(self, of: str = "pair") -> Iterator[None]:
        """Runs the body in the leading CTA alone, of its "pair" or of its "cluster"."""
        body, location = Loop(self, self.here(), "'leading_cta'"), caller()
        self.open(body)
        yield
        carried = close_loop(self, body, "fp8.yield")
        self.emit("fp8.leading_cta", *carried.inits, results=carried.results, regions=[body], at=location,
                  attributes={"grouping": Attribute(f"#fp8<grouping {of}>")})

    @scope
    def when(self, condition: Scalar) -> Iterator[None]:
        """Runs the body where the condition is true."""
        branch = Branch(self, self.here(), as_scalar(self, condition, BOOL))
        yield from branch.arm(branch.then)
        self.here().append(branch.op)
        self._branches.append(branch)

    @scope
    def otherwise(self) -> Iterator[None]:
        """Runs the body where the condition of the `when` right before it is false."""
        ops = self.here().ops
        branch = next((b for b in self._branches if ops and ops[-1] is b.op and not b.otherwise.ops), None)
        if branch is None:
            raise BuildError("'otherwise' does not follow a 'when'; put it right behind one")
        yield from branch.arm(branch.otherwise)

    # Places, and copies.

    def _read(self, op: str, hint: str, **attributes: object) -> Scalar:
        number = Scalar(self, INDEX, hint)
        self.emit(op, results=[number], attributes=attributes)
        return number

    def lane_id(self) -> Scalar:
        """Returns the number of the thread in its warp, 0 to 31."""
        return self._read("gpu.lane_id", "lane")

    def cluster_block_id(self) -> Scalar:
        """Returns the number of the CTA in its cluster; where CTAs divide K, along K."""
        return self._read("gpu.cluster_block_id", "rank", dimension=Attribute("#gpu<dim x>"))

    def copy(self, box: Box, tile: TileView, mbarrier: Barrier) -> None:
        """Starts a TMA copy of the box into a tile, and counts its bytes on the barrier; one producer stage lends them both (X2)."""
        expect(box, Box, "what is copied")
        if box.axis:  # the op has no such attribute
            raise BuildError("a copy into views has no multicast; write it as 'stage.load'")
        self.emit("fp8.tma_copy", box.map, *box.coordinates, tile, mbarrier)

    def prefetch(self, box: Box) -> None:
        """Starts the copy of the box to the L2 cache, where a later load of it finds it. Nothing waits for the copy."""
        expect(box, Box, "what is prefetched")
        self.emit("fp8.tma_prefetch", box.map, *box.coordinates)

    # Registers.

    def variable(self, initial: Operand) -> ScalarVariable:
        """Makes a number that scopes, loops and branches may change; of a number of Python, a condition, an index or an f32."""
        type = initial.type if isinstance(initial, Scalar) else BOOL if isinstance(initial, bool) else INDEX if isinstance(initial, int) else F32
        return ScalarVariable(self, as_scalar(self, initial, type))

    def zeros(self, fragment: Fragment) -> Registers:
        """Makes a fragment of zeros."""
        value = Value(self, fragment, "sum")
        self.emit("fp8.zero", results=[value])
        return Registers(self, value)

    def multiply(self, a: TileView, b: TileView, fragment: Fragment, *, part: int = 0, accumulate: Registers | None = None) -> Product:
        """Starts the product A * B^T in registers of warpgroups (Hopper).

        Args:
            a: The tile of A, M x K.
            b: The tile of B, N x K.
            fragment: The type of the product.
            part: Which 64 rows of each warpgroup's.
            accumulate: What the product is added to.
        """
        pending = Value(self, Pending(fragment), "pending")
        added = [] if accumulate is None else [accumulate.value()]
        self.emit("fp8.warpgroup_mma", a, b, *added, results=[pending], attributes={"part": part})
        self._multiplies = True
        return Product(self, pending)
