(function_item name: (identifier) @name body: (block) @body) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name body: (_)? @body) @struct
(union_item name: (type_identifier) @name body: (_) @body) @struct
(enum_item name: (type_identifier) @name body: (_) @body) @enum
(trait_item name: (type_identifier) @name body: (_) @body) @trait
(type_item name: (type_identifier) @name type: (_) @value) @type
(macro_definition name: (identifier) @name . _ @body) @macro
(const_item name: (identifier) @name value: (_)? @body) @constant
(static_item name: (identifier) @name value: (_)? @body) @variable
(mod_item name: (identifier) @name body: (_) @body) @namespace

; What an impl holds belongs to its type.
(impl_item type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
  ]) @extension
(impl_item type: [
    (array_type) (bounded_type) (dynamic_type) (function_type) (pointer_type) (primitive_type)
    (tuple_type) (unit_type)
    (reference_type type: [(array_type) (dynamic_type) (primitive_type) (reference_type)])
  ]) @local
