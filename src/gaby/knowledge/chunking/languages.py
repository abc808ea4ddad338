"""What functions and their surroundings are called in the grammar of each language."""

from importlib import import_module
from typing import NamedTuple

from tree_sitter import Language


class Grammar(NamedTuple):
    package: str
    functions: frozenset[str]
    """Never cut."""
    groups: frozenset[str]
    """Classes and the like: cut between their members when they are too large."""
    maker: str = "language"

    def load(self) -> Language:
        capsule: object = getattr(import_module(self.package), self.maker)()
        return Language(capsule)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_JAVASCRIPT = _set(
    "function_declaration generator_function_declaration function_expression generator_function arrow_function "
    "method_definition class_static_block"
)
_TYPESCRIPT = _set(
    "class_declaration class abstract_class_declaration interface_declaration type_alias_declaration enum_declaration "
    "internal_module module"
)
_C = _set("struct_specifier union_specifier enum_specifier type_definition")

GRAMMARS = {
    "bash": Grammar("tree_sitter_bash", _set("function_definition"), frozenset()),
    "c": Grammar("tree_sitter_c", _set("function_definition"), _C),
    "cpp": Grammar(
        "tree_sitter_cpp",
        _set("function_definition lambda_expression"),
        _C | _set("class_specifier namespace_definition concept_definition"),
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        _set(
            "method_declaration constructor_declaration destructor_declaration operator_declaration "
            "property_declaration indexer_declaration conversion_operator_declaration local_function_statement "
            "lambda_expression anonymous_method_expression accessor_declaration"
        ),
        _set(
            "class_declaration struct_declaration interface_declaration record_declaration enum_declaration "
            "namespace_declaration delegate_declaration"
        ),
    ),
    "go": Grammar(
        "tree_sitter_go",
        _set("function_declaration method_declaration func_literal"),
        _set("type_declaration"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        _set(
            "method_declaration constructor_declaration compact_constructor_declaration lambda_expression "
            "static_initializer"
        ),
        _set("class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"),
    ),
    "javascript": Grammar("tree_sitter_javascript", _JAVASCRIPT, _set("class_declaration class")),
    "php": Grammar(
        "tree_sitter_php",
        _set("function_definition method_declaration anonymous_function arrow_function"),
        _set("class_declaration interface_declaration trait_declaration enum_declaration namespace_definition"),
        "language_php",
    ),
    "ruby": Grammar(
        "tree_sitter_ruby", _set("method singleton_method lambda do_block block"), _set("class module singleton_class")
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        _set("function_item closure_expression macro_definition"),
        _set("impl_item trait_item mod_item struct_item enum_item union_item foreign_mod_item"),
    ),
    "typescript": Grammar("tree_sitter_typescript", _JAVASCRIPT, _TYPESCRIPT, "language_typescript"),
    "tsx": Grammar("tree_sitter_typescript", _JAVASCRIPT, _TYPESCRIPT, "language_tsx"),
}
