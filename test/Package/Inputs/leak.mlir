!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @kept(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %next : !fp8.consumer<!ring>
}
func.func @leak(%end: !fp8.consumer<!ring>) attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  return
}
