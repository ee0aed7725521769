// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!exchange = !fp8.exchange<4, !fp8.fragment<64x64xf32, 4, warpgroups>>
func.func @another_cluster() attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
  // expected-error @below {{is among 4 CTAs, but clusters of 'fp8.cluster' have 2 along K (J1)}}
  %exchange = fp8.exchange : !exchange
  fp8.close %exchange : !exchange
  return
}

// -----

!exchange = !fp8.exchange<4, !fp8.fragment<64x64xf32, 4, warpgroups>>
func.func @no_cluster() attributes {fp8.linear} {
  // expected-error @below {{is among 4 CTAs, but clusters of 'fp8.cluster' have 1 along K (J1)}}
  %exchange = fp8.exchange : !exchange
  fp8.close %exchange : !exchange
  return
}

// -----

!exchange = !fp8.exchange<2, !fp8.fragment<64x64xf32, 4, warpgroups>>
func.func @another_fragment(%sum: !fp8.fragment<64x32xf32, 4, warpgroups>, %exchange: !exchange) -> !exchange
    attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
  // expected-error @below {{the exchange is of '!fp8.fragment<64x64xf32, 4, warpgroups>' (J2), but the fragment is '!fp8.fragment<64x32xf32, 4, warpgroups>'}}
  %share, %next = fp8.reduce_scatter %sum through %exchange : !fp8.fragment<64x32xf32, 4, warpgroups>, !exchange
  return %next : !exchange
}

// -----

// The handle is linear.
!exchange = !fp8.exchange<2, !fp8.fragment<64x64xf32, 4, warpgroups>>
func.func @leaks() attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
  // expected-error @below {{exchange leaks: it is never consumed (L1); consume it with 'fp8.close'}}
  %exchange = fp8.exchange : !exchange
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!exchange = !fp8.exchange<2, !fp8.fragment<64x64xf32, 4, warpgroups>>
// expected-error @below {{exchange is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @twice(%sum: !fp8.fragment<64x64xf32, 4, warpgroups>, %exchange: !exchange) -> (!exchange, !exchange)
    attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
  // expected-note @below {{consumed here}}
  %a, %first = fp8.reduce_scatter %sum through %exchange : !fp8.fragment<64x64xf32, 4, warpgroups>, !exchange
  // expected-note @below {{consumed again here}}
  %b, %second = fp8.reduce_scatter %sum through %exchange : !fp8.fragment<64x64xf32, 4, warpgroups>, !exchange
  return %first, %second : !exchange, !exchange
}

// -----

// expected-error @below {{each of the 4 CTAs of an exchange gets whole eights of columns (J2), but got '!fp8.fragment<64x48xf32, 4, warpgroups>'}}
func.func private @parts_of_eights(!fp8.exchange<4, !fp8.fragment<64x48xf32, 4, warpgroups>>)

// -----

// expected-error @below {{an exchange needs a fragment of layout warpgroups, warpgroup_columns or quarter_columns (J2), but got '!fp8.fragment<128x64xf32, 4>'}}
func.func private @rows(!fp8.exchange<2, !fp8.fragment<128x64xf32, 4>>)

// -----

// expected-error @below {{each of the 2 CTAs of an exchange gets whole eights of rows (J2), but got '!fp8.fragment<24x64xf32, 4, warpgroup_columns>'}}
func.func private @rows_of_swapped(!fp8.exchange<2, !fp8.fragment<24x64xf32, 4, warpgroup_columns>>)

// -----

// expected-error @below {{each of the 4 CTAs of an exchange gets whole eights of rows (J2), but got '!fp8.fragment<48x128xf32, 4, quarter_columns>'}}
func.func private @rows_of_quarters(!fp8.exchange<4, !fp8.fragment<48x128xf32, 4, quarter_columns>>)

// -----

// expected-error @below {{an exchange needs 2 to 16 CTAs, but got 1}}
func.func private @alone(!fp8.exchange<1, !fp8.fragment<64x64xf32, 4, warpgroups>>)

// -----

// expected-error @below {{a cluster whose CTAs divide K has one along M and N, but got 2 x 1}}
func.func private @along_m_too() attributes {fp8.cluster = array<i64: 2, 1, 2>}
