# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours for MLIR, which Pygments does not know, and for the words by which the documents mark other fences."""

from pygments.lexer import RegexLexer, words
from pygments.lexers import PythonLexer, TextLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text


class MlirLexer(RegexLexer):
    name = "MLIR"
    aliases = ["mlir"]
    tokens = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"%[\w$.#:-]*\w|%\d+", Name.Variable),
            (r"@[\w$.]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"![\w.]+", Keyword.Type),
            (r"#[\w.]+", Name.Decorator),
            # A type may stand right behind the x of a shape.
            (words(("f8E4M3FN", "f8E5M2", "f8E8M0FNU", "bf16", "f16", "f32", "f64", "index", "memref", "vector", "tensor"), suffix=r"\b"), Keyword.Type),
            (r"(?:(?:\?|\d+)x)+(?=[a-z!])", Number),
            (r"[su]?i\d+\b", Keyword.Type),
            (r"\b[a-z_]\w*(?:\.[a-z_]\w*)+", Keyword),
            (r"-?\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b", Number),
            (r"\b[A-Za-z_][\w$]*", Name),
            (r"->|[=+*/<>-]", Operator),
            (r"[][(){},:?|.;]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }


def setup(app):
    for alias in ("mlir", "mlir-fragment"):
        app.add_lexer(alias, MlirLexer)
    app.add_lexer("python-fragment", PythonLexer)
    app.add_lexer("ptx", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
