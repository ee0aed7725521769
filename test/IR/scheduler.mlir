// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @tiles
func.func @tiles(%m: index, %n: index, %x: f32) -> f32 {
  // CHECK: %[[R:.*]] = fp8.for_each_tile persistent (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) iter_args(%[[C:.*]] = %{{.*}}) -> (f32) {
  // CHECK-NEXT: fp8.yield %[[C]] : f32
  %r = fp8.for_each_tile persistent (%i, %j) in (%m, %n) iter_args(%c = %x) -> (f32) {
    fp8.yield %c : f32
  }
  // CHECK: fp8.for_each_tile one_tile (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) {
  fp8.for_each_tile one_tile (%i, %j) in (%m, %n) {
  }
  // CHECK: return %[[R]]
  return %r : f32
}

// CHECK-LABEL: func.func @banded_columns
func.func @banded_columns(%m: index, %n: index) {
  // CHECK: fp8.for_each_tile persistent band(16 columns) (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) {
  fp8.for_each_tile persistent band(16 columns) (%i, %j) in (%m, %n) {
  }
  return
}

// CHECK-LABEL: func.func @banded
func.func @banded(%m: index, %n: index) {
  // CHECK: fp8.for_each_tile persistent band(8) (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) {
  fp8.for_each_tile persistent band(8) (%i, %j) in (%m, %n) {
  }
  return
}

!work = !fp8.work_queue<2>

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%m: index, %n: index, %work: !fp8.consumer<!work>, %x: f32) -> (!fp8.consumer<!work>, f32) attributes {fp8.linear} {
  // CHECK: %[[R:.*]]:2 = fp8.for_each_tile clc (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) from(%{{.*}} : !fp8.consumer<!fp8.work_queue<2>>) iter_args(%[[C:.*]] = %{{.*}}) -> (f32) {
  // CHECK-NEXT: fp8.yield %[[C]] : f32
  %r:2 = fp8.for_each_tile clc (%i, %j) in (%m, %n) from(%work : !fp8.consumer<!work>) iter_args(%c = %x) -> (f32) {
    fp8.yield %c : f32
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : !fp8.consumer<!work>, f32
}

// CHECK-LABEL: func.func @ask_and_read
func.func @ask_and_read() attributes {fp8.linear} {
  // CHECK: %[[QP:.*]], %[[QC:.*]] = fp8.work_queue : !fp8.producer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>
  %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
  %p2 = fp8.produce(%stage = %p) : !fp8.producer<!work> -> !fp8.producer<!work> {
    // CHECK: fp8.request_work %{{.*}} : !fp8.producer_stage<!fp8.work_queue<2>>
    fp8.request_work %stage : !fp8.producer_stage<!work>
  }
  %stage = fp8.acquire %c : !fp8.consumer<!work>
  // CHECK: %{{.*}}, %{{.*}} = fp8.next_work %{{.*}} : !fp8.consumer_stage<!fp8.work_queue<2>>
  %more, %cluster = fp8.next_work %stage : !fp8.consumer_stage<!work>
  %c2 = fp8.release %stage : !fp8.consumer_stage<!work>
  fp8.close %p2 : !fp8.producer<!work>
  fp8.close %c2 : !fp8.consumer<!work>
  return
}
