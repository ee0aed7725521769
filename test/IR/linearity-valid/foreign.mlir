// Tricky programs that keep the rules: regions of ops that fp8 does not know.
// RUN: fp8-opt %s --verify-roundtrip -allow-unregistered-dialect -o /dev/null

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>

// A region of another dialect is given a handle as its argument, and consumes it.
func.func @foreign_argument() attributes {fp8.linear} {
  "foreign.with"() ({
  ^bb0(%x: !end):
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    fp8.close %n : !end
    "foreign.end"() : () -> ()
  }) : () -> ()
  return
}

// The same, while a handle from outside is alive around it.
func.func @foreign_region(%x: !end) -> !end attributes {fp8.linear} {
  "foreign.region"() ({
  ^bb0(%e: !end):
    fp8.close %e : !end
    "foreign.end"() : () -> ()
  }) : () -> ()
  return %x : !end
}

// A region of another dialect with blocks: the argument is consumed on each way out.
func.func @foreign_blocks(%c: i1) attributes {fp8.linear} {
  "foreign.with"() ({
  ^bb0(%x: !end):
    cf.cond_br %c, ^left, ^right(%x : !end)
  ^left:
    fp8.close %x : !end
    "foreign.end"() : () -> ()
  ^right(%y: !end):
    fp8.close %y : !end
    "foreign.end"() : () -> ()
  }) : () -> ()
  return
}
