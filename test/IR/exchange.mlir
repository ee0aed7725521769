// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!exchange = !fp8.exchange<4, !sum>

// CHECK-LABEL: func.func @meet
func.func @meet(%sum: !sum) -> !fp8.fragment<64x16xf32, 4, warpgroups> attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 4>} {
  // CHECK: %[[EXCHANGE:.*]] = fp8.exchange : !exchange
  %exchange = fp8.exchange : !exchange
  // CHECK: %[[SHARE:.*]], %[[NEXT:.*]] = fp8.reduce_scatter %{{.*}} through %[[EXCHANGE]] : !fp8.fragment<64x64xf32, 4, warpgroups>, !exchange
  %share, %next = fp8.reduce_scatter %sum through %exchange : !sum, !exchange
  // CHECK: fp8.close %[[NEXT]] : !exchange
  fp8.close %next : !exchange
  // CHECK: return %[[SHARE]] : !fp8.fragment<64x16xf32, 4, warpgroups>
  return %share : !fp8.fragment<64x16xf32, 4, warpgroups>
}

!few = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
!rows = !fp8.exchange<2, !few>

// Swapped, each gets rows.
// CHECK-LABEL: func.func @swapped
func.func @swapped(%sum: !few, %exchange: !rows) -> (!fp8.fragment<8x128xf32, 4, warpgroup_columns>, !rows)
    attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
  // CHECK: fp8.reduce_scatter %{{.*}} through %{{.*}} : !fp8.fragment<16x128xf32, 4, warpgroup_columns>, !exchange
  %share, %next = fp8.reduce_scatter %sum through %exchange : !few, !rows
  // CHECK: return %{{.*}}, %{{.*}} : !fp8.fragment<8x128xf32, 4, warpgroup_columns>, !exchange
  return %share, %next : !fp8.fragment<8x128xf32, 4, warpgroup_columns>, !rows
}
