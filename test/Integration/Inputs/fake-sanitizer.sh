#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# In place of compute-sanitizer: tells which tool was asked for, runs the command, and sums up as FAKE_SUMMARY says.
echo "tool $2"
shift 2
[ "$1" = --report-api-errors ] && shift 2
"$@"
status=$?
[ -z "$FAKE_SUMMARY" ] || echo "========= $FAKE_SUMMARY"
exit $status
