; What TypeScript adds to script.scm.
(program (abstract_class_declaration name: (_) @name body: (_) @body) @class)
(export_statement (abstract_class_declaration name: (_) @name body: (_) @body) @class)
(ambient_declaration (class_declaration name: (_) @name body: (_) @body) @class)
(ambient_declaration (abstract_class_declaration name: (_) @name body: (_) @body) @class)
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name value: (object_type) @body) @type
(type_alias_declaration name: (_) @name value: [
    (array_type) (conditional_type) (constructor_type) (existential_type) (function_type)
    (generic_type) (index_type_query) (infer_type) (intersection_type) (literal_type)
    (lookup_type) (nested_type_identifier) (parenthesized_type) (predefined_type)
    (readonly_type) (template_literal_type) (this_type) (tuple_type) (type_identifier)
    (type_query) (union_type)
  ] @value) @type
(enum_declaration name: (_) @name body: (_) @body) @enum

(program (function_signature name: (_) @name) @function)
(export_statement (function_signature name: (_) @name) @function)
(ambient_declaration (function_signature name: (_) @name) @function)
(ambient_declaration (lexical_declaration (variable_declarator
  name: (identifier) @name) @variable))
(ambient_declaration (variable_declaration (variable_declarator
  name: (identifier) @name) @variable))

(internal_module name: (identifier) @name body: (_) @body) @namespace
(statement_block (export_statement) @export)
; declare module "name" { … }, where everything is exported
(module body: (_)) @export
(statement_block (function_signature name: (_) @name) @function)

(class_body (method_signature name: (property_identifier) @name) @method)
(class_body (abstract_method_signature name: (property_identifier) @name) @method)
(class_body (public_field_definition name: (property_identifier) @name
  value: [(arrow_function) (function_expression)] @value) @field)
(interface_body (method_signature name: (property_identifier) @name) @method)

(export_statement "=" (identifier) @reveal)
