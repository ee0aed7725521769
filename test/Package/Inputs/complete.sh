# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What bash offers behind words: complete.sh COMPLETIONS FUNCTION WORD... ; "=" is a word of its own, and the last word is the one that is typed.
. "$1"
function=$2
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"$function"
printf '%s\n' "${COMPREPLY[@]}"
